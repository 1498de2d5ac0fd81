#pragma once
// Which axes a problem has, and which extents they may take.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "problem/operator.hpp"
#include "problem/problem.hpp"

namespace kw {

/// Within 1 to 2^24. The error carries no place.
[[nodiscard]] Result<void> check_extent(std::string_view axis, std::int64_t extent);
/// Every axis within 1 to 2^24, every tensor countable, captured tensors within their bound and fixed ones as long as
/// the axes, and the operator's own rules. The error carries no place.
[[nodiscard]] Result<void> check_axes(const OperatorFormat& format, const Problem& problem, const Axes& axes);

/// Sets the axes that follow from others (Problem::derived_axes). errc::problem_value, without a place, when an extent
/// cannot be computed or is not within 1 to 2^24.
[[nodiscard]] Result<void> derive_axes(const Problem& problem, Axes& axes);

/// The operator's axes and the problem's own, in the order that canonical text lists them; no derived ones.
[[nodiscard]] std::vector<std::string> all_axes(const OperatorFormat& format, const Problem& problem);

}  // namespace kw
