#pragma once
// The little language of bundle headers: integer expressions over axes, tunables and device facts, for grid, block,
// shared memory, scratch sizes, definitions and constraints.
//   expr:  + - * / % (floor semantics; division by zero is an error), comparisons < <= > >= == != and && || ! (1 or 0),
//          parentheses, decimal literals, names, ceil_div(a, b), round_up(a, b), min(a, b, ...), max(a, b, ...)
// Evaluation is on 64-bit integers; overflow is an error, never a wrap. Text is bounded (1 KiB, 64 levels).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode expr_syntax{"expr.syntax"};
inline constexpr ErrorCode expr_unknown_name{"expr.unknown_name"};
inline constexpr ErrorCode expr_value{"expr.value"};  ///< overflow or division by zero
}  // namespace errc

using IntBindings = std::map<std::string, std::int64_t, std::less<>>;

/// Checks the syntax alone.
[[nodiscard]] Result<void> check_int_expr(std::string_view text);
[[nodiscard]] Result<std::int64_t> evaluate_int_expr(std::string_view text, const IntBindings& names);
/// Whether `name` stands in the expression, as a word of its own.
[[nodiscard]] bool mentions_name(std::string_view text, std::string_view name);

}  // namespace kw
