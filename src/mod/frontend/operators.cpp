// Python's operators on values of which at least one is a node.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "mod/frontend/python_numbers.hpp"
#include "mod/frontend/tracer.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_largest_unrolled_power = 31;

struct OperatorRow {
  std::string_view symbol;
  ExprOp op;
};
constexpr OperatorRow k_arithmetic[] = {{"+", ExprOp::add},
                                        {"-", ExprOp::subtract},
                                        {"*", ExprOp::multiply},
                                        {"//", ExprOp::floor_divide},
                                        {"%", ExprOp::modulo}};
constexpr OperatorRow k_bits[] = {{"&", ExprOp::bit_and}, {"|", ExprOp::bit_or}, {"^", ExprOp::bit_xor}};
constexpr OperatorRow k_shifts[] = {{"<<", ExprOp::shift_left}, {">>", ExprOp::shift_right}};
constexpr OperatorRow k_comparisons[] = {{"<", ExprOp::less},    {"<=", ExprOp::less_equal},
                                         {">", ExprOp::greater}, {">=", ExprOp::greater_equal},
                                         {"==", ExprOp::equal},  {"!=", ExprOp::not_equal}};

template <std::size_t N>
std::optional<ExprOp> look_up(const OperatorRow (&rows)[N], std::string_view symbol) {
  for (const auto& row : rows) {
    if (row.symbol == symbol) return row.op;
  }
  return std::nullopt;
}

tl::unexpected<Error> type_error(const SourcePlace& where, std::string message, std::string hint = {}) {
  return fail(Error{errc::mod_type, std::move(message), std::move(hint), where});
}

}  // namespace

Result<ExprId> ModTracer::node_of(const ModValue& value, const SourcePlace& where) {
  builder_.set_place(where);
  if (const auto* node = value.as<NodeRef>()) return node->id;
  if (const auto* flag = value.as<bool>()) return builder_.boolean(*flag);
  if (const auto* real = value.as<double>()) return builder_.real(*real);
  if (const auto* integer = value.as<std::int64_t>()) {
    if (*integer == static_cast<std::int32_t>(*integer)) return builder_.integer(*integer);
    return fail(Error{errc::mod_limit,
                      fmt::format("the integer {} does not fit the 32 bits that indices are computed in", *integer),
                      "write it as a float", where});
  }
  if (const auto* tensor = value.as<TensorRef>()) {
    const auto open = std::count(tensor->indices.begin(), tensor->indices.end(), std::nullopt);
    return fail(Error{errc::mod_unsupported,
                      fmt::format("'{}' is used as a whole: {} of its {} dimensions {} no index yet",
                                  tensor->capture->name, open, tensor->indices.size(), open == 1 ? "has" : "have"),
                      "a mod reads single elements; index every dimension, as in table[b, q_idx]", where});
  }
  const auto* library = value.as<LibraryRef>();
  if (library == nullptr) {
    return type_error(where, fmt::format("expected a number, but found {}", describe(value)),
                      is_callable(value) ? "call the function" : "");
  }
  return type_error(where, fmt::format("expected a number, but found {}", describe(value)),
                    hint_for_import(library->path));
}

Result<ModValue> ModTracer::binary(std::string_view op, const ModValue& left, const ModValue& right,
                                   const SourcePlace& where) {
  if (left.is_number() && right.is_number()) return python_binary(op, left, right, where);
  const auto is_scalar = [](const ModValue& value) { return value.is_number() || value.is_node(); };
  if (!is_scalar(left) || !is_scalar(right)) return static_binary(op, left, right, where);
  KW_TRY(const auto left_node, node_of(left, where));
  KW_TRY(const auto right_node, node_of(right, where));
  return node_binary(op, left_node, right_node, where);
}

/// Operators on what is no number: comparison of equals, and + and * of tuples.
Result<ModValue> ModTracer::static_binary(std::string_view op, const ModValue& left, const ModValue& right,
                                          const SourcePlace& where) {
  const bool tensors = left.as<TensorRef>() != nullptr || right.as<TensorRef>() != nullptr;
  if ((op == "==" || op == "!=") && !tensors) {
    KW_TRY(const bool same, equals(left, right, where));
    return ModValue{same == (op == "==")};
  }
  const auto* tuple = left.as<TupleRef>();
  const auto* other = right.as<TupleRef>();
  if (op == "+" && tuple != nullptr && other != nullptr && tuple->list == other->list) {
    auto items = *tuple->items;
    items.insert(items.end(), other->items->begin(), other->items->end());
    return make_tuple(std::move(items), tuple->list, where);
  }
  const auto* count = right.as<std::int64_t>();
  if (op == "*" && tuple != nullptr && count != nullptr) {
    constexpr std::int64_t k_max_copies = 10'000;
    std::vector<ModValue> items;
    for (std::int64_t i = 0; i < std::min(*count, k_max_copies + 1); ++i) {
      items.insert(items.end(), tuple->items->begin(), tuple->items->end());
      KW_TRY_VOID(check_size(where, tuple->items->size() + 1));
    }
    return make_tuple(std::move(items), tuple->list, where);
  }
  const auto& culprit = left.is_number() || left.is_node() ? right : left;
  KW_TRY(const auto node, node_of(culprit, where));
  return ModValue{NodeRef{node}};
}

Result<ModValue> ModTracer::numeric_binary(ExprOp op, std::string_view symbol, ExprId left, ExprId right,
                                           const SourcePlace& where) {
  const auto type = std::max(builder_.type(left), builder_.type(right));
  if (type == ScalarType::boolean) {
    return type_error(where, fmt::format("'{}' on two booleans is not a number in PyTorch", symbol),
                      "join booleans with '&' and '|', or convert them with .to(torch.int32)");
  }
  const bool divides = op == ExprOp::floor_divide || op == ExprOp::modulo;
  if (divides && type == ScalarType::integer && builder_.is_constant(right) && builder_.constant_value(right) == 0.0) {
    return type_error(where, "division by zero");
  }
  return ModValue{NodeRef{builder_.binary(op, builder_.convert(left, type), builder_.convert(right, type))}};
}

Result<ModValue> ModTracer::node_binary(std::string_view op, ExprId left, ExprId right, const SourcePlace& where) {
  if (const auto arithmetic = look_up(k_arithmetic, op)) return numeric_binary(*arithmetic, op, left, right, where);
  if (op == "**") return node_power(left, right, where);
  if (op == "/") {
    return ModValue{NodeRef{builder_.binary(ExprOp::divide, builder_.convert(left, ScalarType::real),
                                            builder_.convert(right, ScalarType::real))}};
  }
  const auto type = std::max(builder_.type(left), builder_.type(right));
  if (const auto compare = look_up(k_comparisons, op)) {
    const bool ordered = op != "==" && op != "!=";
    const auto common = type == ScalarType::boolean && ordered ? ScalarType::integer : type;
    return ModValue{
        NodeRef{builder_.binary(*compare, builder_.convert(left, common), builder_.convert(right, common))}};
  }
  if (type == ScalarType::real) {
    return type_error(where, fmt::format("'{}' does not apply to floats", op),
                      "compare first, with each comparison in parentheses: (a < b) & (c < d)");
  }
  if (const auto bits = look_up(k_bits, op)) {
    return ModValue{NodeRef{builder_.binary(*bits, builder_.convert(left, type), builder_.convert(right, type))}};
  }
  const auto shift = look_up(k_shifts, op);
  KW_CHECK(shift.has_value(), "operator {}", op);
  return ModValue{NodeRef{builder_.binary(*shift, builder_.convert(left, ScalarType::integer),
                                          builder_.convert(right, ScalarType::integer))}};
}

Result<ModValue> ModTracer::node_power(ExprId base, ExprId exponent, const SourcePlace& where) {
  const auto type = std::max(builder_.type(base), builder_.type(exponent));
  const bool fixed = builder_.is_constant(exponent);
  if (type != ScalarType::real) {
    const auto count = fixed ? static_cast<std::int64_t>(builder_.constant_value(exponent)) : -1;
    if (count < 0 || count > k_largest_unrolled_power) {
      return type_error(where, "an integer power needs a constant exponent between 0 and 31",
                        "make the base a float, as in 2.0 ** x, or shift: 1 << x");
    }
    auto result = builder_.integer(1);
    const auto factor = builder_.convert(base, ScalarType::integer);
    for (std::int64_t i = 0; i < count; ++i) result = builder_.binary(ExprOp::multiply, result, factor);
    return ModValue{NodeRef{result}};
  }
  const auto real_base = builder_.convert(base, ScalarType::real);
  const auto real_exponent = builder_.convert(exponent, ScalarType::real);
  // Exactly the same value, and far cheaper in a kernel.
  if (builder_.is_constant(real_base) && builder_.constant_value(real_base) == 2.0) {
    return ModValue{NodeRef{builder_.unary(ExprOp::exp2, real_exponent)}};
  }
  if (fixed && builder_.constant_value(exponent) == 1.0) return ModValue{NodeRef{real_base}};
  if (fixed && builder_.constant_value(exponent) == 2.0) {
    return ModValue{NodeRef{builder_.binary(ExprOp::multiply, real_base, real_base)}};
  }
  return ModValue{NodeRef{builder_.binary(ExprOp::power, real_base, real_exponent)}};
}

Result<ModValue> ModTracer::unary(std::string_view op, const ModValue& operand, const SourcePlace& where) {
  if (op == "not") {
    KW_TRY(const bool truth, decide(operand, where, "'not'", "write '~x', or torch.logical_not(x)"));
    return ModValue{!truth};
  }
  if (operand.is_number()) return python_unary(op, operand, where);
  KW_TRY(const auto node, node_of(operand, where));
  const auto type = builder_.type(node);
  if (op == "+") return operand;
  if (op == "-") {
    if (type != ScalarType::boolean) return ModValue{NodeRef{builder_.unary(ExprOp::negate, node)}};
    return type_error(where, "'-' does not apply to booleans", "write '~x' for the opposite");
  }
  if (type != ScalarType::real) return ModValue{NodeRef{builder_.unary(ExprOp::bit_not, node)}};
  return type_error(where, "'~' does not apply to floats", "compare first: ~(x > 0)");
}

}  // namespace kw
