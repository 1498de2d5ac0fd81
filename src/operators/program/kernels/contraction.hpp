#pragma once
// A stage as a product of matrices: out[b, m, n] = sum over k of first[b, m, k] * second[b, k, n], where each of b, m,
// n and k stands for any number of axes, and the factors are expressions under guards: matrix products of any layout,
// convolutions, einsum.

#include <functional>
#include <optional>

#include "operators/program/kernels/contraction_axes.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// Elements that its guards leave out are zeros.
struct ContractionFactor {
  StageExpr element;
  std::vector<StageExpr> guards;
  std::set<std::string> axes;  ///< that the element names
};

struct Contraction {
  SplitStage split;   ///< the stage whose axes these are
  StageAxes batch;    ///< of both factors and the output
  StageAxes rows;     ///< of the first factor and the output
  StageAxes columns;  ///< of the second factor and the output
  StageAxes inner;    ///< that are summed over; the longest first
  ContractionFactor first;
  ContractionFactor second;
};

/// How columns are chosen among the two factors.
enum class ColumnChoice : std::uint8_t {
  packed,      ///< the factor that is cheaper to copy into panels of sixteen columns
  contiguous,  ///< the factor that has the innermost axis of the output
};

/// Absent where the stage is no such sum, is too small for tiles at the extents that it was read with, or counts rows,
/// columns or steps by products of extents that cannot be expressed for every binding of the axes.
/// Only such as are `usable`, where that is given.
using ContractionTest = std::function<bool(const Contraction& contraction)>;
[[nodiscard]] std::optional<Contraction> contraction_of(const Stage& stage, ColumnChoice choice,
                                                        const ContractionTest& usable = {});

}  // namespace kw
