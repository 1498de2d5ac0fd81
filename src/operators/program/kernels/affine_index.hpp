#pragma once
// Integer expressions of stages as sums of axes times coefficients: the form in which addresses can be taken apart into
// what a row knows and what a step adds.

#include <cstdint>
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

// Absent where a coefficient cannot be expressed for every binding of the axes.

/// Absent also where the expression has no such form. Parts of `phases` alone are taken as they are.
[[nodiscard]] std::optional<AffineIndex> affine_index(const StageExpr& expression, const std::set<std::string>& phases);

[[nodiscard]] std::optional<AffineIndex> affine_sum(const AffineIndex& a, const AffineIndex& b);
[[nodiscard]] std::optional<AffineIndex> affine_times(const AffineIndex& a, const Extent& factor);
[[nodiscard]] bool same_affine(const AffineIndex& a, const AffineIndex& b);

/// How far apart neighbours along the axes, the last one fastest, are in memory; absent where that is not the same
/// everywhere, or there are no axes.
[[nodiscard]] std::optional<Extent> stride_along(const AffineIndex& address, const StageAxes& axes);
/// Whether that is 1.
[[nodiscard]] bool is_one_run(const AffineIndex& address, const StageAxes& axes);

/// The least and the largest value for all indices of `axes`. Absent where one of them cannot be expressed, the sign of
/// a coefficient is not known for every binding, or a term has an axis whose extent is no small constant.
struct ExtentRange {
  Extent least, largest;
};
[[nodiscard]] std::optional<ExtentRange> range_of(const AffineIndex& index, const StageAxes& axes);

/// The value for given indices of axes; absent for what is no arithmetic of constants and of these.
[[nodiscard]] std::optional<std::int64_t> value_at(const StageExpr& node,
                                                   const std::map<std::string, std::int64_t>& indices);

/// Axes that the expression names.
[[nodiscard]] std::set<std::string> axes_named(const StageExpr& expression);

/// Whether the product of the extents of the last axes, however many, can be expressed for every binding.
[[nodiscard]] bool has_extents(const StageAxes& axes);
/// The product of the axes' extents; a defect where it cannot be expressed.
[[nodiscard]] Extent extent_of(const StageAxes& axes);

}  // namespace kw
