#pragma once
// Expressions of stages as text, in a language of the caller's: operators and parentheses are C's, leaves and functions
// are spelled by him.

#include <functional>
#include <string>
#include <vector>

#include "program/stages/expression.hpp"

namespace kw {

struct ExpressionSpelling {
  /// A whole node in the caller's words; an empty text leaves it to the rules below. Asked first for every node.
  std::function<std::string(const StageExpr& node)> node;
  /// A call of a function, or what else the language has for it. What it gives is never put in parentheses.
  std::function<std::string(const StageNode& node, const std::vector<std::string>& operands)> function;
};

/// How tightly C binds; an operand that binds less is put in parentheses.
enum class Binding : std::uint8_t { choice, either, both, equality, comparison, sum, product, prefix, whole };

[[nodiscard]] std::string expression_text(const StageExpr& expression, const ExpressionSpelling& spelling,
                                          Binding least = Binding::choice);

/// Of an operation that is a function: "exp", "floor_div".
[[nodiscard]] std::string_view function_name(StageOp op);

}  // namespace kw
