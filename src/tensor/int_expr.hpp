#pragma once
// The little language of bundle headers: integer expressions over axes, tunables and device facts, for grid, block,
// shared memory, scratch sizes, definitions and constraints.
//   expr:  + - * / % (floor semantics; division by zero is an error), comparisons < <= > >= == != and && || ! (1 or 0),
//          parentheses, decimal literals, names, ceil_div(a, b), round_up(a, b), min(a, b, ...), max(a, b, ...)
// Evaluation is on 64-bit integers; overflow is an error, never a wrap. Text is bounded (1 KiB, 64 levels).
// What is evaluated once has evaluate_int_expr; what is evaluated for many assignments is parsed once, as an IntExpr.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode expr_syntax{"expr.syntax"};
inline constexpr ErrorCode expr_unknown_name{"expr.unknown_name"};
inline constexpr ErrorCode expr_value{"expr.value"};  ///< overflow or division by zero
}  // namespace errc

using IntBindings = std::map<std::string, std::int64_t, std::less<>>;

/// A parsed expression. Its value, errors included, is that of evaluate_int_expr of its text.
class IntExpr {
 public:
  /// errc::expr_syntax; errc::expr_unknown_name for a function that there is not, errc::expr_value for a literal beyond
  /// 64 bits.
  [[nodiscard]] static Result<IntExpr> parse(std::string_view text);
  /// errc::expr_unknown_name, errc::expr_value.
  [[nodiscard]] Result<std::int64_t> evaluate(const IntBindings& names) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  enum class Kind : std::uint8_t { literal, name, negation, complement, binary, call };
  struct Node {
    Kind kind = Kind::literal;
    std::size_t which = 0;                   ///< operator or function, by its place in their table
    std::int64_t value = 0;                  ///< of a literal
    std::string name = {};                   ///< of a name
    std::vector<std::size_t> operands = {};  ///< nodes before this one
  };
  class Parser;
  class Evaluation;
  explicit IntExpr(std::string_view text) : text_(text) {}

  std::string text_;
  std::vector<Node> nodes_;  ///< the last one is the whole
};

/// All of them, in their order; the first error of IntExpr::parse.
[[nodiscard]] Result<std::vector<IntExpr>> parse_int_exprs(const std::vector<std::string>& texts);

/// Checks the syntax alone.
[[nodiscard]] Result<void> check_int_expr(std::string_view text);
[[nodiscard]] Result<std::int64_t> evaluate_int_expr(std::string_view text, const IntBindings& names);
/// Whether `name` stands in the expression, as a word of its own.
[[nodiscard]] bool mentions_name(std::string_view text, std::string_view name);

}  // namespace kw
