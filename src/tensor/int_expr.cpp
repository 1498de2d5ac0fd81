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

struct BinaryOperator {
  std::string_view symbol;
  int binding;  ///< higher binds tighter
};
/// Longer symbols before their prefixes.
constexpr std::array k_operators = {
    BinaryOperator{"||", 1}, BinaryOperator{"&&", 2}, BinaryOperator{"<=", 3}, BinaryOperator{">=", 3},
    BinaryOperator{"==", 3}, BinaryOperator{"!=", 3}, BinaryOperator{"<", 3},  BinaryOperator{">", 3},
    BinaryOperator{"+", 4},  BinaryOperator{"-", 4},  BinaryOperator{"*", 5},  BinaryOperator{"/", 5},
    BinaryOperator{"%", 5},
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

std::optional<std::int64_t> apply_operator(std::string_view symbol, std::int64_t a, std::int64_t b) {
  if (symbol == "||") return a != 0 || b != 0;
  if (symbol == "&&") return a != 0 && b != 0;
  if (symbol == "<=") return a <= b;
  if (symbol == ">=") return a >= b;
  if (symbol == "==") return a == b;
  if (symbol == "!=") return a != b;
  if (symbol == "<") return a < b;
  if (symbol == ">") return a > b;
  if (symbol == "+") return checked_add(a, b);
  if (symbol == "-") return checked_sub(a, b);
  if (symbol == "*") return checked_mul(a, b);
  return symbol == "/" ? divide(a, b) : modulo(a, b);
}

/// ceil_div and round_up are meant for tiles: a divisor below 1 is refused.
std::optional<std::int64_t> apply_function(std::string_view name, const std::vector<std::int64_t>& args) {
  if (name == "min") return *std::min_element(args.begin(), args.end());
  if (name == "max") return *std::max_element(args.begin(), args.end());
  if (args[1] < 1) return std::nullopt;
  const std::int64_t tiles = floor_div(args[0], args[1]) + (floor_mod(args[0], args[1]) != 0 ? 1 : 0);
  return name == "ceil_div" ? tiles : checked_mul(tiles, args[1]);
}

/// Recursive descent that evaluates as it parses. Without names it checks the syntax alone. The side of && and || that
/// does not decide is parsed, and its names are checked, but its value is not computed: `N == 0 || 64 % N == 0` works.
class Evaluator {
 public:
  Evaluator(std::string_view text, const IntBindings* names) : text_(text), names_(names) {}

  Result<std::int64_t> run() {
    if (text_.size() > k_longest_text) {
      return fail(errc::expr_syntax, "an expression of {} characters is too long; the limit is {}", text_.size(),
                  k_longest_text);
    }
    KW_TRY(const std::int64_t value, binary(0, names_ != nullptr));
    if (at_ < text_.size()) return syntax("an operator or the end");
    return value;
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view symbol) {
    skip_spaces();
    if (text_.substr(at_, symbol.size()) != symbol) return false;
    at_ += symbol.size();
    return true;
  }

  tl::unexpected<Error> syntax(std::string_view expected) const {
    const auto found = at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : std::string("the end");
    return fail(errc::expr_syntax, "in \"{}\": expected {} at character {}, found {}", text_, expected, at_ + 1, found);
  }
  tl::unexpected<Error> bad_value(std::string_view what) const {
    return fail(errc::expr_value, "in \"{}\": {}", text_, what);
  }

  std::optional<BinaryOperator> peek_operator() {
    skip_spaces();
    for (const auto& candidate : k_operators) {
      if (text_.substr(at_, candidate.symbol.size()) == candidate.symbol) return candidate;
    }
    return std::nullopt;
  }

  /// Precedence climbing; `live` says whether the value matters.
  Result<std::int64_t> binary(int min_binding, bool live) {
    KW_TRY(std::int64_t left, unary(live));
    int previous = 0;
    while (true) {
      const auto op = peek_operator();
      if (!op || op->binding < min_binding) return left;
      if (op->binding == k_comparison && previous == k_comparison) {
        return fail(errc::expr_syntax, "in \"{}\": comparisons do not chain (character {}); join two of them with &&",
                    text_, at_ + 1);
      }
      at_ += op->symbol.size();
      const bool decided = (op->symbol == "&&" && left == 0) || (op->symbol == "||" && left != 0);
      KW_TRY(const std::int64_t right, binary(op->binding + 1, live && !decided));
      previous = op->binding;
      if (!live) continue;
      const auto value = apply_operator(op->symbol, left, right);
      if (!value) {
        if (right == 0) return bad_value(fmt::format("{} {} 0 divides by zero", left, op->symbol));
        return bad_value(fmt::format("{} {} {} overflows 64 bits", left, op->symbol, right));
      }
      left = *value;
    }
  }

  Result<std::int64_t> unary(bool live) {
    // The only place where the recursion passes each time, so the only one that counts.
    if (depth_ >= k_deepest_level) {
      return fail(errc::expr_syntax, "in \"{}\": nested deeper than {} levels", text_, k_deepest_level);
    }
    ++depth_;
    auto value = unary_inside(live);
    --depth_;
    return value;
  }

  Result<std::int64_t> unary_inside(bool live) {
    skip_spaces();
    if (text_.substr(at_, 2) != "!=" && take("!")) {
      KW_TRY(const std::int64_t value, unary(live));
      return value == 0 ? 1 : 0;
    }
    if (take("-")) {
      KW_TRY(const std::int64_t value, unary(live));
      const auto negated = checked_sub(0, value);
      if (!negated) return bad_value(fmt::format("-({}) overflows 64 bits", value));
      return *negated;
    }
    if (take("(")) {
      KW_TRY(const std::int64_t value, binary(0, live));
      if (!take(")")) return syntax("')'");
      return value;
    }
    return primary(live);
  }

  Result<std::int64_t> primary(bool live) {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    if (word.empty()) return syntax("a number, a name or '('");
    if (word.front() >= '0' && word.front() <= '9') return literal(word);
    at_ = end;
    if (take("(")) return call(word, live);
    return name(word);
  }

  Result<std::int64_t> literal(std::string_view word) {
    std::int64_t value = 0;
    const auto [stopped, status] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (status == std::errc::result_out_of_range) return bad_value(fmt::format("{} does not fit 64 bits", word));
    if (stopped != word.data() + word.size()) {
      return fail(errc::expr_syntax, "in \"{}\": '{}' is neither a name nor a whole decimal number", text_, word);
    }
    at_ += word.size();
    return value;
  }

  Result<std::int64_t> name(std::string_view word) {
    if (names_ == nullptr) return 0;
    if (const auto found = names_->find(word); found != names_->end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [key, unused] : *names_) known.push_back(key);
    const auto nearest = closest_name(word, known);
    Error error{errc::expr_unknown_name, fmt::format("in \"{}\": '{}' is not a known name", text_, word)};
    error.hint = !nearest ? "known names: " + join(known) : "did you mean '" + *nearest + "'?";
    return fail(std::move(error));
  }

  Result<std::int64_t> call(std::string_view word, bool live) {
    const auto* function =
        std::find_if(k_functions.begin(), k_functions.end(), [&](const Function& f) { return f.name == word; });
    if (function == k_functions.end()) {
      Error error{errc::expr_unknown_name, fmt::format("in \"{}\": '{}' is not a known function", text_, word)};
      error.hint = "known functions: ceil_div(a, b), round_up(a, b), min(a, ...), max(a, ...)";
      return fail(std::move(error));
    }
    std::vector<std::int64_t> args;
    do {
      KW_TRY(const std::int64_t value, binary(0, live));
      args.push_back(value);
    } while (take(","));
    if (!take(")")) return syntax("',' or ')'");
    if (args.size() < function->min_args || args.size() > function->max_args) {
      return fail(errc::expr_syntax, "in \"{}\": {} takes {} to {} arguments, not {}", text_, word, function->min_args,
                  function->max_args, args.size());
    }
    if (!live) return 0;
    const auto value = apply_function(word, args);
    if (!value && args[1] < 1) return bad_value(fmt::format("{} needs a divisor above 0, not {}", word, args[1]));
    if (!value) return bad_value(fmt::format("{}({}, {}) overflows 64 bits", word, args[0], args[1]));
    return *value;
  }

  std::string_view text_;
  const IntBindings* names_;  ///< null: check the syntax alone
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<void> check_int_expr(std::string_view text) {
  KW_TRY([[maybe_unused]] const std::int64_t value, Evaluator(text, nullptr).run());
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
  return Evaluator(text, &names).run();
}

}  // namespace kw
