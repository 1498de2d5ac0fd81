#pragma once
// Blocks of transposed convolutions by patches that compute all phases of a stride along lines, one after another: what
// they write are whole lines, by 16 bytes where two phases and the lines allow it, and not every few floats.

#include <optional>
#include <vector>

#include "codegen/text.hpp"
#include "operators/program/kernels/contract_patches.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

struct JoinedPhases {
  StageAxis phase;                      ///< the batch axis that counts them, the last one
  std::vector<std::int64_t> with_taps;  ///< those that have any, at least one; sums of the others are zero

  [[nodiscard]] std::int64_t count() const { return phase.extent.value(); }
};

/// Absent where there are no phases along lines or more than eight, or the outputs of a line's phases do not alternate
/// in memory.
[[nodiscard]] std::optional<JoinedPhases> joined_phases(const Contraction& contraction, const PatchContraction& patch);

/// The holes of section products_of_phases of patches.cu that are not those of other products. `fillings` has how many
/// outputs are stored at a time.
void fill_joined_phases(KernelScope& scope, const Contraction& contraction, const PatchContraction& patch,
                        const JoinedPhases& joined, const KernelBuffer& out, Fillings& fillings);

}  // namespace kw
