#pragma once
// Windows of a direct convolution's outputs that its threads reduce: pooling of windows side by side, with the phases
// of transposed convolutions among them, and whole axes of the image. A pixel is then a window; its thread computes one
// output of it after the other.

#include <optional>

#include "operators/program/kernels/contract_tails.hpp"

namespace kw {

/// A reduction of all rows, such as the channels, by axes of the contraction.
struct RowReduction {
  std::size_t buffer = 0;  ///< that its result is called by in those behind it
  ReduceOp op = ReduceOp::sum;
  StageExpr body;      ///< of a row's value, which is the result of the contraction's stage
  StageExpr epilogue;  ///< of the result; absent: the result itself
};

struct DirectTail {
  ReduceOp op = ReduceOp::sum;
  StageAxes windows;               ///< of a window's outputs
  StageExpr epilogue;              ///< of the result, by axes of the contraction; absent: the result itself
  std::vector<RowReduction> rows;  ///< instead of windows: one after the other, of which the last one is stored
};

/// Its columns count windows; what its stage ends with is reduced. Its buffer, output and places are the reduction's.
struct DirectTailed {
  Contraction contraction;
  DirectTail tail;
};

/// Of two stages of which the second one reads the first one's buffer; absent where it is no such reduction.
[[nodiscard]] std::optional<DirectTailed> direct_tailed(const Stage& product, const Stage& reduction);

/// The same of reductions of all rows one after the other, as log-sum-exp has them: each reads the first one's buffer
/// and results of those before it.
[[nodiscard]] std::optional<DirectTailed> direct_rows(const Stage& product, const std::vector<Stage>& reductions);

/// Whether the program's contractions are direct ones that may do such reductions.
[[nodiscard]] bool has_direct_tails(const GroupContext& context);
/// Whether there are so many windows that the device is not left idle, or they are asked for.
[[nodiscard]] bool has_windows_enough(const GroupContext& context, const DirectTailed& tailed);

}  // namespace kw
