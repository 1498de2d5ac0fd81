#pragma once
// Masks that a score_mod holds. `torch.where(q >= k, score, -1e9)` and `score + torch.where(q >= k, 0, -1e9)` give some
// keys a score that can only lose: beside a key with an ordinary score its probability is zero in f32. Where a row has
// such a key, the others may be masked, and a masked key can be skipped. A row of nothing but losing scores is not
// empty: they compete with each other, as in Python.

#include <optional>

#include "mod/expression/expr.hpp"

namespace kw {

/// Mods that give the same attention as those they were made from. None: the bare score, and every key.
struct MaskedMods {
  std::optional<ModFunction> score_mod;
  std::optional<ModFunction> mask_mod;
  bool taken_out = false;  ///< a mask stood in the score_mod; otherwise both are as they were
};

/// Takes conditions on the key out of the score_mod and into the mask_mod where one of their two values makes a score
/// -infinity, or a score so low that every other one is above it by enough, as long as no score that comes into the
/// score_mod is larger than `score_bound`, either way. Keys that lose stay in rows that may have no others.
[[nodiscard]] MaskedMods with_masks_apart(const std::optional<ModFunction>& score_mod,
                                          const std::optional<ModFunction>& mask_mod, double score_bound);

}  // namespace kw
