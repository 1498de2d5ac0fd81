#pragma once
// Which intermediate results share memory: those of which one is no longer read when the other is written.

#include <optional>
#include <string>
#include <vector>

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

struct ScratchMemory {
  std::vector<ScratchBuffer> buffers;
  std::vector<std::optional<std::size_t>> of_buffer;  ///< by the program's buffers: which scratch, for those in it
};

/// Between the launches of groups; what is local to one has no memory. Floats are kept as f32, integers as i32, truths
/// as bytes. Names are not in `taken`.
[[nodiscard]] ScratchMemory scratch_memory(const GroupedProgram& grouped, const std::vector<std::string>& taken);

[[nodiscard]] DType scratch_type(ElementType type);

}  // namespace kw
