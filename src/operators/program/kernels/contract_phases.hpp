#pragma once
// Which taps the phases of a transposed convolution have: a phase of a stride has every few of them, and perhaps none.
// The stage counts as many taps for each phase as the largest one has, under guards; a kernel that multiplies by
// patches goes through those that there are.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operators/program/kernels/contract_patches.hpp"

namespace kw {

/// Along one axis of the filter: how many taps each phase has, the first ones of those that are counted. Without a
/// phase `counts` is that of all, once.
struct PhaseTaps {
  std::string phase;  ///< axis of the output; empty: none
  std::vector<std::int64_t> counts;
};

struct PatchPhases {
  PhaseTaps line, across;  ///< of a patch; see PatchContraction
  PhaseTaps other;         ///< of the axis that a patch has one index of
};

/// Absent where which taps they have is not known before the kernel runs; and where all phases have all taps, unless
/// `full` ones are wanted too.
[[nodiscard]] std::optional<PatchPhases> patch_phases(const Contraction& contraction, const PatchContraction& patch,
                                                      bool full);

/// How many of `taps` the phase of that name has, as an int in CUDA C++, but not fewer than `least`.
[[nodiscard]] std::string phase_taps_text(const PhaseTaps& taps, const std::string& phase, std::int64_t least = 0);

}  // namespace kw
