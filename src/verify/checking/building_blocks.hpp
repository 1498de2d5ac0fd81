#pragma once
// Instructions that the simulator cannot run stand in the shipped kernels as building blocks (docs/cuda.md):
// conditional groups that ask for KW_SIM and have the simulator's function in one branch, the instruction in the other.
// What stands in them is known to mean the same; a group of a candidate's own could be another kernel for the simulator
// than for the GPU.

#include <string>
#include <vector>

namespace kw {

/// The lines outside of groups that are, but for blanks, word for word those of a shipped kernel, with numbers and
/// names in the places where the generators write them. `lines` as source_lines() gives them.
[[nodiscard]] std::vector<std::string> without_building_blocks(const std::vector<std::string>& lines);

}  // namespace kw
