#include "tensor/int_expr.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/closest_name.hpp"
#include "base/text.hpp"

namespace kw {
namespace {

constexpr std::size_t k_longest_text = 1024;
constexpr int k_deepest_level = 64;

enum class Op : std::uint8_t { either, both, le, ge, eq, ne, lt, gt, add, sub, mul, div, mod };

struct BinaryOperator {
  Op op;
  std::string_view symbol;
  int binding;  ///< higher binds tighter
};
/// Longer symbols before their prefixes.
constexpr std::array k_operators = {
    BinaryOperator{Op::either, "||", 1}, BinaryOperator{Op::both, "&&", 2}, BinaryOperator{Op::le, "<=", 3},
    BinaryOperator{Op::ge, ">=", 3},     BinaryOperator{Op::eq, "==", 3},   BinaryOperator{Op::ne, "!=", 3},
    BinaryOperator{Op::lt, "<", 3},      BinaryOperator{Op::gt, ">", 3},    BinaryOperator{Op::add, "+", 4},
    BinaryOperator{Op::sub, "-", 4},     BinaryOperator{Op::mul, "*", 5},   BinaryOperator{Op::div, "/", 5},
    BinaryOperator{Op::mod, "%", 5},
};
constexpr int k_comparison = 3;

struct Function {
  std::string_view name;
  std::size_t min_args;
  std::size_t max_args;
};
constexpr std::array k_functions = {
    Function{"ceil_div", 2, 2},
    Function{"round_up", 2, 2},
    Function{"min", 1, 16},
    Function{"max", 1, 16},
};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Nothing when the result does not fit 64 bits, or for a division by zero.
std::optional<std::int64_t> divide(std::int64_t a, std::int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  return floor_div(a, b);
}
std::optional<std::int64_t> modulo(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  return b == -1 ? 0 : floor_mod(a, b);  // INT64_MIN % -1 traps on x86
}

std::optional<std::int64_t> apply_operator(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::either:
      return a != 0 || b != 0;
    case Op::both:
      return a != 0 && b != 0;
    case Op::le:
      return a <= b;
    case Op::ge:
      return a >= b;
    case Op::eq:
      return a == b;
    case Op::ne:
      return a != b;
    case Op::lt:
      return a < b;
    case Op::gt:
      return a > b;
    case Op::add:
      return checked_add(a, b);
    case Op::sub:
      return checked_sub(a, b);
    case Op::mul:
      return checked_mul(a, b);
    case Op::div:
      return divide(a, b);
    case Op::mod:
      return modulo(a, b);
  }
  return std::nullopt;
}

/// ceil_div and round_up are meant for tiles: a divisor below 1 is refused.
std::optional<std::int64_t> apply_function(std::string_view name, const std::vector<std::int64_t>& args) {
  if (name == "min") return *std::min_element(args.begin(), args.end());
  if (name == "max") return *std::max_element(args.begin(), args.end());
  if (args[1] < 1) return std::nullopt;
  const std::int64_t tiles = floor_div(args[0], args[1]) + (floor_mod(args[0], args[1]) != 0 ? 1 : 0);
  return name == "ceil_div" ? tiles : checked_mul(tiles, args[1]);
}

}  // namespace

/// Recursive descent.
class IntExpr::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), made_(text) {
    // Few characters make no node, and an expression is short.
    made_.nodes_.reserve(std::min(text.size(), k_longest_text) / 2 + 1);
  }

  Result<IntExpr> run() {
    if (text_.size() > k_longest_text) {
      return fail(errc::expr_syntax, "an expression of {} characters is too long; the limit is {}", text_.size(),
                  k_longest_text);
    }
    KW_TRY([[maybe_unused]] const std::size_t whole, binary(0));
    if (at_ < text_.size()) return syntax("an operator or the end");
    return std::move(made_);
  }

 private:
  std::size_t add(IntExpr::Node node) {
    made_.nodes_.push_back(std::move(node));
    return made_.nodes_.size() - 1;
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char symbol) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != symbol) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] bool stands_here(std::string_view symbol) const {
    if (at_ >= text_.size() || text_[at_] != symbol[0]) return false;
    return symbol.size() == 1 || (at_ + 1 < text_.size() && text_[at_ + 1] == symbol[1]);
  }

  tl::unexpected<Error> syntax(std::string_view expected) const {
    const auto found = at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : std::string("the end");
    return fail(errc::expr_syntax, "in \"{}\": expected {} at character {}, found {}", text_, expected, at_ + 1, found);
  }

  std::optional<std::size_t> peek_operator() {
    skip_spaces();
    for (std::size_t i = 0; i < k_operators.size(); ++i) {
      if (stands_here(k_operators[i].symbol)) return i;
    }
    return std::nullopt;
  }

  /// Precedence climbing.
  Result<std::size_t> binary(int min_binding) {
    KW_TRY(std::size_t left, unary());
    int previous = 0;
    while (true) {
      const auto op = peek_operator();
      if (!op || k_operators[*op].binding < min_binding) return left;
      if (k_operators[*op].binding == k_comparison && previous == k_comparison) {
        return fail(errc::expr_syntax, "in \"{}\": comparisons do not chain (character {}); join two of them with &&",
                    text_, at_ + 1);
      }
      at_ += k_operators[*op].symbol.size();
      KW_TRY(const std::size_t right, binary(k_operators[*op].binding + 1));
      previous = k_operators[*op].binding;
      left = add({.kind = Kind::binary, .which = *op, .operands = {left, right}});
    }
  }

  Result<std::size_t> unary() {
    // The only place where the recursion passes each time, so the only one that counts.
    if (depth_ >= k_deepest_level) {
      return fail(errc::expr_syntax, "in \"{}\": nested deeper than {} levels", text_, k_deepest_level);
    }
    ++depth_;
    auto node = unary_inside();
    --depth_;
    return node;
  }

  Result<std::size_t> unary_inside() {
    skip_spaces();
    if (!stands_here("!=") && take('!')) {
      KW_TRY(const std::size_t operand, unary());
      return add({.kind = Kind::complement, .operands = {operand}});
    }
    if (take('-')) {
      KW_TRY(const std::size_t operand, unary());
      return add({.kind = Kind::negation, .operands = {operand}});
    }
    if (take('(')) {
      KW_TRY(const std::size_t inner, binary(0));
      if (!take(')')) return syntax("')'");
      return inner;
    }
    return primary();
  }

  Result<std::size_t> primary() {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    if (word.empty()) return syntax("a number, a name or '('");
    if (word.front() >= '0' && word.front() <= '9') return literal(word);
    at_ = end;
    if (take('(')) return call(word);
    return add({.kind = Kind::name, .name = std::string(word)});
  }

  Result<std::size_t> literal(std::string_view word) {
    std::int64_t value = 0;
    const auto [stopped, status] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (status == std::errc::result_out_of_range) {
      return fail(errc::expr_value, "in \"{}\": {} does not fit 64 bits", text_, word);
    }
    if (stopped != word.data() + word.size()) {
      return fail(errc::expr_syntax, "in \"{}\": '{}' is neither a name nor a whole decimal number", text_, word);
    }
    at_ += word.size();
    return add({.value = value});
  }

  Result<std::size_t> call(std::string_view word) {
    const auto* function =
        std::find_if(k_functions.begin(), k_functions.end(), [&](const Function& f) { return f.name == word; });
    if (function == k_functions.end()) {
      Error error{errc::expr_unknown_name, fmt::format("in \"{}\": '{}' is not a known function", text_, word)};
      error.hint = "known functions: ceil_div(a, b), round_up(a, b), min(a, ...), max(a, ...)";
      return fail(std::move(error));
    }
    std::vector<std::size_t> arguments;
    do {
      KW_TRY(const std::size_t argument, binary(0));
      arguments.push_back(argument);
    } while (take(','));
    if (!take(')')) return syntax("',' or ')'");
    if (arguments.size() < function->min_args || arguments.size() > function->max_args) {
      return fail(errc::expr_syntax, "in \"{}\": {} takes {} to {} arguments, not {}", text_, word, function->min_args,
                  function->max_args, arguments.size());
    }
    const auto which = static_cast<std::size_t>(function - k_functions.begin());
    return add({.kind = Kind::call, .which = which, .operands = std::move(arguments)});
  }

  std::string_view text_;
  IntExpr made_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// The side of && and || that does not decide has its names checked, but its value is not computed:
/// `N == 0 || 64 % N == 0` works.
class IntExpr::Evaluation {
 public:
  Evaluation(const IntExpr& expression, const IntBindings& names) : expression_(expression), names_(names) {}

  /// `live` says whether the value matters.
  Result<std::int64_t> of(std::size_t index, bool live) const {
    const Node& node = expression_.nodes_[index];
    switch (node.kind) {
      case Kind::literal:
        return node.value;
      case Kind::name:
        return name(node.name);
      case Kind::complement: {
        KW_TRY(const std::int64_t value, of(node.operands[0], live));
        return value == 0 ? 1 : 0;
      }
      case Kind::negation: {
        KW_TRY(const std::int64_t value, of(node.operands[0], live));
        const auto negated = checked_sub(0, value);
        if (!negated) return bad_value(fmt::format("-({}) overflows 64 bits", value));
        return *negated;
      }
      case Kind::binary:
        return binary(node, live);
      case Kind::call:
        return call(node, live);
    }
    return 0;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> bad_value(std::string_view what) const {
    return fail(errc::expr_value, "in \"{}\": {}", expression_.text_, what);
  }

  [[nodiscard]] Result<std::int64_t> name(const std::string& word) const {
    if (const auto found = names_.find(word); found != names_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [key, unused] : names_) known.push_back(key);
    const auto nearest = closest_name(word, known);
    Error error{errc::expr_unknown_name, fmt::format("in \"{}\": '{}' is not a known name", expression_.text_, word)};
    error.hint = !nearest ? "known names: " + join(known) : "did you mean '" + *nearest + "'?";
    return fail(std::move(error));
  }

  [[nodiscard]] Result<std::int64_t> binary(const Node& node, bool live) const {
    const auto& [op, symbol, binding] = k_operators[node.which];
    KW_TRY(const std::int64_t left, of(node.operands[0], live));
    const bool decided = (op == Op::both && left == 0) || (op == Op::either && left != 0);
    KW_TRY(const std::int64_t right, of(node.operands[1], live && !decided));
    if (!live) return left;
    const auto value = apply_operator(op, left, right);
    if (value) return *value;
    if (right == 0) return bad_value(fmt::format("{} {} 0 divides by zero", left, symbol));
    return bad_value(fmt::format("{} {} {} overflows 64 bits", left, symbol, right));
  }

  [[nodiscard]] Result<std::int64_t> call(const Node& node, bool live) const {
    std::vector<std::int64_t> arguments;
    for (const std::size_t operand : node.operands) {
      KW_TRY(const std::int64_t value, of(operand, live));
      arguments.push_back(value);
    }
    if (!live) return 0;
    const std::string_view word = k_functions[node.which].name;
    const auto value = apply_function(word, arguments);
    if (value) return *value;
    if (arguments[1] < 1) return bad_value(fmt::format("{} needs a divisor above 0, not {}", word, arguments[1]));
    return bad_value(fmt::format("{}({}, {}) overflows 64 bits", word, arguments[0], arguments[1]));
  }

  const IntExpr& expression_;
  const IntBindings& names_;
};

Result<IntExpr> IntExpr::parse(std::string_view text) {
  return Parser(text).run();
}

Result<std::int64_t> IntExpr::evaluate(const IntBindings& names) const {
  return Evaluation(*this, names).of(nodes_.size() - 1, true);
}

Result<std::vector<IntExpr>> parse_int_exprs(const std::vector<std::string>& texts) {
  std::vector<IntExpr> parsed;
  for (const std::string& text : texts) {
    KW_TRY(auto one, IntExpr::parse(text));
    parsed.push_back(std::move(one));
  }
  return parsed;
}

Result<void> check_int_expr(std::string_view text) {
  KW_TRY([[maybe_unused]] const auto parsed, IntExpr::parse(text));
  return {};
}

bool mentions_name(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (text.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

Result<std::int64_t> evaluate_int_expr(std::string_view text, const IntBindings& names) {
  KW_TRY(const auto parsed, IntExpr::parse(text));
  return parsed.evaluate(names);
}

}  // namespace kw
