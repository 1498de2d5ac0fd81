#pragma once
// Arithmetic of extents that holds for every binding of the axes. Extent itself gives the value as it was read where an
// expression grows too long for readers, which is wrong for other bindings; here that is no result.

#include <optional>

#include "program/graph/extent.hpp"

namespace kw {

// Absent where the result cannot be expressed, or does not fit 64 bits.
[[nodiscard]] std::optional<Extent> exact_sum(const Extent& a, const Extent& b);
[[nodiscard]] std::optional<Extent> exact_difference(const Extent& a, const Extent& b);
[[nodiscard]] std::optional<Extent> exact_product(const Extent& a, const Extent& b);
[[nodiscard]] std::optional<Extent> exact_quotient(const Extent& a, const Extent& b);
[[nodiscard]] std::optional<Extent> exact_remainder(const Extent& a, const Extent& b);
/// a / by, rounded up; `by` is positive.
[[nodiscard]] std::optional<Extent> exact_quotient_up(const Extent& a, std::int64_t by);
/// 1 for no extents.
[[nodiscard]] std::optional<Extent> exact_product(const Shape& extents);

}  // namespace kw
