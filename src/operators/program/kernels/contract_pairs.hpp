#pragma once
// Blocks of transposed convolutions by patches that compute both phases of a stride of two along lines, one after the
// other: what they write are whole lines, by 16 bytes where the lines allow it, and not every second float.

#include <optional>

#include "codegen/text.hpp"
#include "operators/program/kernels/contract_patches.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// The batch axis that counts the two phases, the last one. Absent where there is none, or the outputs of a line's two
/// phases do not alternate in memory.
[[nodiscard]] std::optional<StageAxis> paired_phase(const Contraction& contraction, const PatchContraction& patch);

/// The holes of section store_pairs of patch_stores.cu.
void fill_pair_stores(KernelScope& scope, const Contraction& contraction, const PatchContraction& patch,
                      const StageAxis& phase, const KernelBuffer& out, Fillings& fillings);

}  // namespace kw
