#pragma once
// Integer expressions of stages as sums of axes times coefficients: the form in which addresses can be taken apart into
// what a row knows and what a step adds.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "program/stages/rewrite.hpp"
#include "program/stages/stage.hpp"

namespace kw {

struct AffineIndex {
  std::map<std::string, Extent> coefficients;  ///< by axis; those that occur
  Extent constant;
  std::vector<StageExpr> terms;  ///< of phase axes alone, in no such form; their sum is added
};

/// Absent where the expression has no such form. Parts of `phases` alone are taken as they are.
[[nodiscard]] std::optional<AffineIndex> affine_index(const StageExpr& expression, const std::set<std::string>& phases);

[[nodiscard]] bool same_affine(const AffineIndex& a, const AffineIndex& b);
[[nodiscard]] AffineIndex affine_sum(const AffineIndex& a, const AffineIndex& b);
[[nodiscard]] AffineIndex affine_times(const AffineIndex& a, const Extent& factor);

/// The least and the largest value for all indices of `axes`. Absent where the sign of a coefficient is not known for
/// every binding, or a term has an axis whose extent is no small constant.
struct IndexRange {
  Extent least, largest;
};
[[nodiscard]] std::optional<IndexRange> range_of(const AffineIndex& index, const StageAxes& axes);

/// Axes that the expression names.
[[nodiscard]] std::set<std::string> axes_named(const StageExpr& expression);

// Arithmetic of extents of one program, whose sizes were checked when it was read.
[[nodiscard]] Extent extent_sum(const Extent& a, const Extent& b);
[[nodiscard]] Extent extent_product(const Extent& a, const Extent& b);
[[nodiscard]] Extent extent_difference(const Extent& a, const Extent& b);
/// The quotient, rounded up.
[[nodiscard]] Extent extent_quotient_up(const Extent& a, std::int64_t by);
/// The product of the axes' extents.
[[nodiscard]] Extent extent_of(const StageAxes& axes);

}  // namespace kw
