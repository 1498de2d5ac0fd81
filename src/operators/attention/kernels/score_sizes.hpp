#pragma once
// How large the terms of a score_mod may be: what decides whether scores can be kept in units of log2, and whether a
// term that is the same for a whole row can be left out of it.

#include "mod/expression/expr.hpp"

namespace kw {

/// Whether finite numbers from 2^20 up occur in what `node` is computed from, as masking values are, and beyond what
/// models add to scores as a bias. Of captured tensors only narrow types and declared bounds say that there are none.
[[nodiscard]] bool may_be_large(const ModFunction& mod, ExprId node);

/// Whether `node` can be left out of a whole row: softmax does not see what is added to every score of a row, unless
/// nothing is left of the scores beside it, or it is infinite and masks the row.
[[nodiscard]] bool can_be_left_out(const ModFunction& mod, ExprId node);

}  // namespace kw
