#pragma once
// Functions that decompositions of several themes write out.

#include "program/stages/expression.hpp"

namespace kw {

/// 1 / (1 + exp(-x))
[[nodiscard]] inline StageExpr logistic(const StageExpr& x) {
  return StageExpr(1.0) / (StageExpr(1.0) + apply(StageOp::exp, -x));
}

}  // namespace kw
