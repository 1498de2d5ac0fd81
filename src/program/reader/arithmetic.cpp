// Operators of Python on numbers, texts, lists and tensors.

#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked.hpp"
#include "program/reader/formatting.hpp"
#include "program/reader/interpreter.hpp"

namespace kw {
namespace {

struct TensorOperator {
  std::string_view symbol;
  std::string_view op;
};
constexpr std::array<TensorOperator, 19> k_tensor_operators = {{
    {"+", "add"},
    {"-", "sub"},
    {"*", "mul"},
    {"/", "div"},
    {"//", "floor_divide"},
    {"%", "remainder"},
    {"**", "pow"},
    {"@", "matmul"},
    {"&", "bitwise_and"},
    {"|", "bitwise_or"},
    {"^", "bitwise_xor"},
    {"<<", "bitwise_left_shift"},
    {">>", "bitwise_right_shift"},
    {"==", "eq"},
    {"!=", "ne"},
    {"<", "lt"},
    {"<=", "le"},
    {">", "gt"},
    {">=", "ge"},
}};

std::optional<double> real_result(const std::string& op, double left, double right) {
  if (op == "+") return left + right;
  if (op == "-") return left - right;
  if (op == "*") return left * right;
  if (op == "/") return left / right;
  if (op == "//") return std::floor(left / right);
  if (op == "%") return left - std::floor(left / right) * right;
  if (op == "**") return std::pow(left, right);
  return std::nullopt;
}

/// Of the result of an operation on real numbers and integers.
std::optional<PyFloor> floor_of_result(const std::string& op, const PyValue& left, const PyValue& right) {
  const auto a = floor_of(left), b = floor_of(right);
  if (!a || !b || !a->whole || !b->whole) return std::nullopt;
  const auto whole = [](Result<Extent> integer) {
    return integer ? std::optional(PyFloor{*std::move(integer), true}) : std::nullopt;
  };
  if (op == "+") return whole(Extent::sum(a->integer, b->integer));
  if (op == "-") return whole(Extent::difference(a->integer, b->integer));
  if (op == "*") return whole(Extent::product(a->integer, b->integer));
  if (op != "/" && op != "//") return std::nullopt;
  auto floor = whole(Extent::quotient(a->integer, b->integer));
  if (!floor || op == "//") return floor;
  const auto again = Extent::product(floor->integer, b->integer);
  floor->whole = again && *again == a->integer && again->text() == a->integer.text();
  return floor;
}

}  // namespace

Result<PyValue> PyInterpreter::unary(const std::string& op, const PyValue& value, const SourcePlace& where) {
  if (op == "not") {
    KW_TRY(const bool holds, truth(value, where));
    return PyValue{!holds};
  }
  if (value.object<TensorBox>() != nullptr) {
    if (op == "+") return value;
    KW_TRY(const auto operand, argument(value, where));
    return one_operator(op == "-" ? "neg" : "bitwise_not", {{"", operand, where}}, where);
  }
  if (const auto integer = integer_of(value); integer && op != "~") {
    if (op == "+") return PyValue{*integer};
    return integers("-", 0, *integer, where);
  }
  if (const auto* real = value.get<double>(); real != nullptr && op != "~") return PyValue{op == "-" ? -*real : *real};
  return fail_at(errc::program_type, where, fmt::format("'{}' of {}", op, kind_text(value)));
}

Result<PyValue> PyInterpreter::binary(const std::string& op, const PyValue& left, const PyValue& right,
                                      const SourcePlace& where) {
  if (left.object<TensorBox>() != nullptr || right.object<TensorBox>() != nullptr)
    return tensor_binary(op, left, right, where);
  const auto first = integer_of(left);
  const auto second = integer_of(right);
  if (first && second && op != "/") return integers(op, *first, *second, where);
  const auto a = number_of(left);
  const auto b = number_of(right);
  if (a && b) {
    if (*b == 0.0 && (op == "/" || op == "//" || op == "%"))
      return fail_at(errc::program_value, where, "a number is divided by zero");
    if (const auto result = real_result(op, *a, *b)) return real_of(*result, floor_of_result(op, left, right));
  }
  return sequences(op, left, right, where);
}

Result<PyValue> PyInterpreter::integers(const std::string& op, const Extent& left, const Extent& right,
                                        const SourcePlace& where) {
  const auto placed = [&](Result<Extent> result) -> Result<PyValue> {
    if (result) return PyValue{*std::move(result)};
    auto error = std::move(result).error();
    error.where = where;
    return tl::unexpected(std::move(error));
  };
  if (op == "+") return placed(Extent::sum(left, right));
  if (op == "-") return placed(Extent::difference(left, right));
  if (op == "*") return placed(Extent::product(left, right));
  if (op == "//") return placed(Extent::quotient(left, right));
  if (op == "%") return placed(Extent::remainder(left, right));
  const auto a = left.value();
  const auto b = right.value();
  if (op == "&") return PyValue{Extent(a & b)};
  if (op == "|") return PyValue{Extent(a | b)};
  if (op == "^") return PyValue{Extent(a ^ b)};
  constexpr std::int64_t k_most_bits = 62;
  if (op == ">>" && b >= 0 && b <= k_most_bits) return placed(Extent::quotient(left, std::int64_t{1} << b));
  if (op == "<<" && b >= 0 && b <= k_most_bits) return placed(Extent::product(left, std::int64_t{1} << b));
  if (op != "**") return fail_at(errc::program_value, where, fmt::format("{} {} {}", a, op, b));
  if (b < 0) return PyValue{std::pow(static_cast<double>(a), static_cast<double>(b))};
  Extent power = 1;
  const auto most = std::min<std::int64_t>(b, 64);  // beyond, only 0, 1 and -1 stay within 64 bits
  for (std::int64_t i = 0; i < most; ++i) {
    auto next = Extent::product(power, left);
    if (!next) return placed(std::move(next));
    power = *next;
  }
  if (b > most && b % 2 != most % 2) return placed(Extent::product(power, left));
  return PyValue{power};
}

/// Of a text on the left.
Result<std::optional<PyValue>> PyInterpreter::text_operator(const std::string& op, const PyValue& left,
                                                            const PyValue& right, const SourcePlace& where) {
  const auto* text = left.get<std::string>();
  const auto* more = right.get<std::string>();
  if (op == "+" && text != nullptr && more != nullptr) {
    KW_TRY_VOID(charge(static_cast<std::int64_t>(text->size() + more->size()), where));
    return PyValue{*text + *more};
  }
  if (op == "%" && text != nullptr) {
    auto written = percent_text(*text, right);
    if (!written) return fail_at(errc::program_value, where, "the values behind '%' do not fit the text");
    KW_TRY_VOID(charge(static_cast<std::int64_t>(written->size()), where));
    return PyValue{*std::move(written)};
  }
  return std::optional<PyValue>();
}

Result<PyValue> PyInterpreter::sequences(const std::string& op, const PyValue& left, const PyValue& right,
                                         const SourcePlace& where) {
  const auto* first = left.object<PySequence>();
  const auto* second = right.object<PySequence>();
  if (op == "+" && first != nullptr && second != nullptr && first->tuple == second->tuple && !first->set &&
      !second->set) {
    auto items = first->items;
    items.insert(items.end(), second->items.begin(), second->items.end());
    KW_TRY_VOID(charge(static_cast<std::int64_t>(items.size()), where));
    return list(std::move(items), first->tuple);
  }
  const bool sets = first != nullptr && second != nullptr && first->set && second->set;
  if (sets && (op == "|" || op == "&" || op == "-")) {
    const auto* name = op == "|" ? "union" : op == "&" ? "intersection" : "difference";
    KW_TRY(auto made, change_set(*left.object<PySequence>(), name, {right}, where));
    return *std::move(made);
  }
  KW_TRY(auto text, text_operator(op, left, right, where));
  if (text) return *std::move(text);
  const auto* repeated = first != nullptr ? first : second;
  const auto times = integer_of(first != nullptr ? right : left);
  if (op == "*" && repeated != nullptr && times) {
    const auto count = std::max<std::int64_t>(times->value(), 0);
    const auto total = checked_mul(count, static_cast<std::int64_t>(repeated->items.size()));
    if (!total || *total > k_longest_list)
      return fail_at(errc::program_limit, where, fmt::format("a list of more than {} items", k_longest_list),
                     "use a tensor");
    KW_TRY_VOID(charge(*total, where));
    std::vector<PyValue> items;
    for (std::int64_t i = 0; i<count&& * total> 0; ++i)
      items.insert(items.end(), repeated->items.begin(), repeated->items.end());
    return list(std::move(items), repeated->tuple);
  }
  return fail_at(errc::program_type, where, fmt::format("'{}' of {} and {}", op, kind_text(left), kind_text(right)));
}

Result<PyValue> PyInterpreter::compare(const std::string& op, const PyValue& left, const PyValue& right,
                                       const SourcePlace& where) {
  if (op == "is" || op == "is not") {
    const bool same = left.of == right.of;
    return PyValue{same == (op == "is")};
  }
  if (op == "in" || op == "not in") {
    const auto* text = right.get<std::string>();
    const auto* part = left.get<std::string>();
    if (text != nullptr && part != nullptr) return PyValue{(text->find(*part) != std::string::npos) == (op == "in")};
    KW_TRY(const auto items, items_of(right, where));
    const bool held = std::any_of(items.begin(), items.end(), [&](const auto& one) { return equal_values(one, left); });
    return PyValue{held == (op == "in")};
  }
  const bool none = left.is_none() || right.is_none();
  if (!none && (left.object<TensorBox>() != nullptr || right.object<TensorBox>() != nullptr))
    return tensor_binary(op, left, right, where);
  if (op == "==" || op == "!=") return PyValue{equal_values(left, right) == (op == "==")};
  const auto a = number_of(left);
  const auto b = number_of(right);
  if (!a || !b)
    return fail_at(errc::program_type, where, fmt::format("'{}' of {} and {}", op, kind_text(left), kind_text(right)));
  if (op == "<") return PyValue{*a < *b};
  if (op == "<=") return PyValue{*a <= *b};
  return PyValue{op == ">" ? *a > *b : *a >= *b};
}

Result<PyValue> PyInterpreter::tensor_binary(const std::string& op, const PyValue& left, const PyValue& right,
                                             const SourcePlace& where) {
  const auto found = std::find_if(k_tensor_operators.begin(), k_tensor_operators.end(),
                                  [&](const auto& one) { return one.symbol == op; });
  if (found == k_tensor_operators.end()) return fail_at(errc::program_type, where, fmt::format("'{}' of tensors", op));
  KW_TRY(auto first, argument(left, where));
  KW_TRY(auto second, argument(right, where));
  for (const auto* one : {&first, &second}) {
    const bool fits = std::holds_alternative<ValueRef>(*one) || std::holds_alternative<Extent>(*one) ||
                      std::holds_alternative<double>(*one) || std::holds_alternative<bool>(*one);
    if (!fits)
      return fail_at(errc::program_type, where,
                     fmt::format("'{}' of {} and {}", op, kind_text(left), kind_text(right)));
  }
  std::string_view name = found->op;
  // A number on the left: PyTorch has rsub, and turns what commutes.
  if (!std::holds_alternative<ValueRef>(first)) {
    const bool turned = op == "-" || op == "+" || op == "*";
    if (op == "-") name = "rsub";
    if (turned) std::swap(first, second);
  }
  return one_operator(name, {{"", std::move(first), where}, {"", std::move(second), where}}, where);
}

}  // namespace kw
