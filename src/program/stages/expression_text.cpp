#include "program/stages/expression_text.hpp"

#include <array>

namespace kw {
namespace {

struct InfixRow {
  StageOp op;
  const char* symbol;
  Binding binding;
  bool associative;  ///< a right operand that binds as tightly needs no parentheses
};

constexpr std::array k_infix_rows = {
    InfixRow{StageOp::add, "+", Binding::sum, false},
    InfixRow{StageOp::subtract, "-", Binding::sum, false},
    InfixRow{StageOp::multiply, "*", Binding::product, false},
    InfixRow{StageOp::divide, "/", Binding::product, false},
    InfixRow{StageOp::less, "<", Binding::comparison, false},
    InfixRow{StageOp::less_equal, "<=", Binding::comparison, false},
    InfixRow{StageOp::equal, "==", Binding::equality, false},
    InfixRow{StageOp::not_equal, "!=", Binding::equality, false},
    InfixRow{StageOp::both, "&&", Binding::both, true},
    InfixRow{StageOp::either, "||", Binding::either, true},
};

struct FunctionRow {
  StageOp op;
  std::string_view name;
};

constexpr std::array k_function_rows = {
    FunctionRow{StageOp::minimum, "min"},
    FunctionRow{StageOp::maximum, "max"},
    FunctionRow{StageOp::absolute, "abs"},
    FunctionRow{StageOp::floor_divide, "floor_div"},
    FunctionRow{StageOp::floor_modulo, "floor_mod"},
    FunctionRow{StageOp::shift_left, "shift_left"},
    FunctionRow{StageOp::shift_right, "shift_right"},
    FunctionRow{StageOp::bit_and, "bit_and"},
    FunctionRow{StageOp::bit_or, "bit_or"},
    FunctionRow{StageOp::bit_xor, "bit_xor"},
    FunctionRow{StageOp::bit_not, "bit_not"},
    FunctionRow{StageOp::power, "pow"},
    FunctionRow{StageOp::fmod, "fmod"},
    FunctionRow{StageOp::atan2, "atan2"},
    FunctionRow{StageOp::hypot, "hypot"},
    FunctionRow{StageOp::copysign, "copysign"},
    FunctionRow{StageOp::fmax, "fmax"},
    FunctionRow{StageOp::fmin, "fmin"},
    FunctionRow{StageOp::exp, "exp"},
    FunctionRow{StageOp::exp2, "exp2"},
    FunctionRow{StageOp::expm1, "expm1"},
    FunctionRow{StageOp::log, "log"},
    FunctionRow{StageOp::log2, "log2"},
    FunctionRow{StageOp::log10, "log10"},
    FunctionRow{StageOp::log1p, "log1p"},
    FunctionRow{StageOp::sqrt, "sqrt"},
    FunctionRow{StageOp::rsqrt, "rsqrt"},
    FunctionRow{StageOp::sin, "sin"},
    FunctionRow{StageOp::cos, "cos"},
    FunctionRow{StageOp::tan, "tan"},
    FunctionRow{StageOp::asin, "asin"},
    FunctionRow{StageOp::acos, "acos"},
    FunctionRow{StageOp::atan, "atan"},
    FunctionRow{StageOp::sinh, "sinh"},
    FunctionRow{StageOp::cosh, "cosh"},
    FunctionRow{StageOp::tanh, "tanh"},
    FunctionRow{StageOp::asinh, "asinh"},
    FunctionRow{StageOp::acosh, "acosh"},
    FunctionRow{StageOp::atanh, "atanh"},
    FunctionRow{StageOp::erf, "erf"},
    FunctionRow{StageOp::erfc, "erfc"},
    FunctionRow{StageOp::lgamma, "lgamma"},
    FunctionRow{StageOp::floor, "floor"},
    FunctionRow{StageOp::ceil, "ceil"},
    FunctionRow{StageOp::trunc, "trunc"},
    FunctionRow{StageOp::round, "rint"},
    FunctionRow{StageOp::round_to_tf32, "rounded_to_tf32"},
    FunctionRow{StageOp::to_integer, "int"},
    FunctionRow{StageOp::to_real, "float"},
    FunctionRow{StageOp::to_truth, "bool"},
};

const InfixRow* infix_row(StageOp op) {
  for (const auto& row : k_infix_rows) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

std::string wrapped(const std::string& text, Binding own, Binding least) {
  return own < least ? "(" + text + ")" : text;
}

Binding tighter(Binding binding) {
  return static_cast<Binding>(static_cast<std::uint8_t>(binding) + 1);
}

}  // namespace

std::string_view function_name(StageOp op) {
  for (const auto& row : k_function_rows) {
    if (row.op == op) return row.name;
  }
  KW_CHECK(false, "operation {} has no name", static_cast<int>(op));
  return "";
}

std::string expression_text(const StageExpr& expression, const ExpressionSpelling& spelling, Binding least) {
  if (auto own = spelling.node(expression); !own.empty()) return own;
  const auto& operands = expression->operands;
  if (const auto* row = infix_row(expression->op)) {
    const auto left = expression_text(operands[0], spelling, row->binding);
    const auto right = expression_text(operands[1], spelling, row->associative ? row->binding : tighter(row->binding));
    return wrapped(fmt::format("{} {} {}", left, row->symbol, right), row->binding, least);
  }
  if (expression->op == StageOp::negate || expression->op == StageOp::negation) {
    const auto text =
        (expression->op == StageOp::negate ? "-" : "!") + expression_text(operands[0], spelling, Binding::whole);
    return wrapped(text, Binding::prefix, least);
  }
  if (expression->op == StageOp::select) {
    const auto text = fmt::format("{} ? {} : {}", expression_text(operands[0], spelling, Binding::either),
                                  expression_text(operands[1], spelling, Binding::either),
                                  expression_text(operands[2], spelling, Binding::choice));
    return wrapped(text, Binding::choice, least);
  }
  std::vector<std::string> texts;
  for (const auto& operand : operands) texts.push_back(expression_text(operand, spelling));
  return spelling.function(*expression, texts);
}

}  // namespace kw
