#include "program/stages/expression.hpp"

#include <algorithm>
#include <optional>

#include "program/stages/exact_extent.hpp"

namespace kw {
namespace {

StageExpr make(StageOp op, StageType type, std::vector<StageExpr> operands) {
  StageNode node;
  node.op = op;
  node.type = type;
  node.operands = std::move(operands);
  return StageExpr(std::move(node));
}

/// Its value for every binding, where it is a constant integer.
std::optional<std::int64_t> constant_integer(const StageExpr& a) {
  if (a->op != StageOp::integer || !a->integer.is_constant()) return std::nullopt;
  return a->integer.value();
}

bool is_integer(const StageExpr& a, std::int64_t value) {
  return constant_integer(a) == value;
}

StageType common_type(const StageExpr& a, const StageExpr& b) {
  return std::max({a->type, b->type, StageType::integer});
}

StageExpr arithmetic(StageOp op, const StageExpr& a, const StageExpr& b) {
  const auto type = common_type(a, b);
  return make(op, type, {converted(a, type), converted(b, type)});
}

using ExtentRule = std::optional<Extent> (*)(const Extent&, const Extent&);

/// Constants of the module are calculated with before anything runs, where the result holds for every binding.
std::optional<StageExpr> folded(ExtentRule rule, const StageExpr& a, const StageExpr& b) {
  if (a->op != StageOp::integer || b->op != StageOp::integer) return std::nullopt;
  const auto value = rule(a->integer, b->integer);
  if (!value) return std::nullopt;
  return StageExpr(*value);
}

StageExpr comparison(StageOp op, const StageExpr& a, const StageExpr& b) {
  const auto type = common_type(a, b);
  return make(op, StageType::truth, {converted(a, type), converted(b, type)});
}

}  // namespace

StageType stage_type_of(ElementType type) {
  if (type == ElementType::boolean) return StageType::truth;
  return is_floating(type) ? StageType::real : StageType::integer;
}

StageExpr::StageExpr(StageNode node) : node_(std::make_shared<const StageNode>(std::move(node))) {}

StageExpr::StageExpr(const Extent& constant) {
  StageNode node;
  node.integer = constant;
  *this = StageExpr(std::move(node));
}

StageExpr::StageExpr(double constant) {
  StageNode node;
  node.op = StageOp::real;
  node.type = StageType::real;
  node.real = constant;
  *this = StageExpr(std::move(node));
}

StageExpr axis_index(const std::string& name) {
  StageNode node;
  node.op = StageOp::axis;
  node.axis = name;
  return StageExpr(std::move(node));
}

StageExpr load(const TensorView& tensor, StageIndices indices) {
  KW_CHECK(indices.size() == tensor.type.shape.size(), "{} indices of {} axes", indices.size(),
           tensor.type.shape.size());
  StageNode node;
  node.op = StageOp::load;
  node.type = stage_type_of(tensor.type.dtype);
  node.tensor = tensor;
  node.operands = std::move(indices);
  return StageExpr(std::move(node));
}

StageExpr reduction_result(StageType type) {
  return make(StageOp::result, type, {});
}

StageExpr truth(bool value) {
  StageNode node;
  node.type = StageType::truth;
  node.integer = value ? 1 : 0;
  return StageExpr(std::move(node));
}

StageExpr operator+(const StageExpr& a, const StageExpr& b) {
  if (is_integer(a, 0) && b->type != StageType::truth) return b;
  if (is_integer(b, 0) && a->type != StageType::truth) return a;
  if (const auto value = folded(exact_sum, a, b)) return *value;
  return arithmetic(StageOp::add, a, b);
}

StageExpr operator-(const StageExpr& a, const StageExpr& b) {
  if (is_integer(b, 0) && a->type != StageType::truth) return a;
  if (const auto value = folded(exact_difference, a, b)) return *value;
  return arithmetic(StageOp::subtract, a, b);
}

StageExpr operator*(const StageExpr& a, const StageExpr& b) {
  if (is_integer(a, 1) && b->type != StageType::truth) return b;
  if (is_integer(b, 1) && a->type != StageType::truth) return a;
  if (const auto value = folded(exact_product, a, b)) return *value;
  return arithmetic(StageOp::multiply, a, b);
}

StageExpr operator/(const StageExpr& a, const StageExpr& b) {
  return apply(StageOp::divide, a, b);
}

StageExpr operator-(const StageExpr& a) {
  if (const auto value = constant_integer(a)) return {Extent(-*value)};
  if (a->op == StageOp::real) return {-a->real};
  return make(StageOp::negate, std::max(a->type, StageType::integer),
              {converted(a, std::max(a->type, StageType::integer))});
}

StageExpr operator<(const StageExpr& a, const StageExpr& b) {
  return comparison(StageOp::less, a, b);
}

StageExpr operator<=(const StageExpr& a, const StageExpr& b) {
  return comparison(StageOp::less_equal, a, b);
}

StageExpr operator>(const StageExpr& a, const StageExpr& b) {
  return b < a;
}

StageExpr operator>=(const StageExpr& a, const StageExpr& b) {
  return b <= a;
}

StageExpr operator==(const StageExpr& a, const StageExpr& b) {
  return comparison(StageOp::equal, a, b);
}

StageExpr operator!=(const StageExpr& a, const StageExpr& b) {
  return comparison(StageOp::not_equal, a, b);
}

StageExpr both(const StageExpr& a, const StageExpr& b) {
  if (!a) return b;
  if (!b) return a;
  return make(StageOp::both, StageType::truth, {converted(a, StageType::truth), converted(b, StageType::truth)});
}

StageExpr either(const StageExpr& a, const StageExpr& b) {
  return make(StageOp::either, StageType::truth, {converted(a, StageType::truth), converted(b, StageType::truth)});
}

StageExpr negation(const StageExpr& a) {
  return make(StageOp::negation, StageType::truth, {converted(a, StageType::truth)});
}

StageExpr minimum(const StageExpr& a, const StageExpr& b) {
  return arithmetic(StageOp::minimum, a, b);
}

StageExpr maximum(const StageExpr& a, const StageExpr& b) {
  return arithmetic(StageOp::maximum, a, b);
}

StageExpr absolute(const StageExpr& a) {
  const auto type = std::max(a->type, StageType::integer);
  return make(StageOp::absolute, type, {converted(a, type)});
}

StageExpr floor_divide(const StageExpr& a, const StageExpr& b) {
  if (is_integer(b, 1)) return a;
  if (const auto value = folded(exact_quotient, a, b)) return *value;
  return make(StageOp::floor_divide, StageType::integer,
              {converted(a, StageType::integer), converted(b, StageType::integer)});
}

StageExpr floor_modulo(const StageExpr& a, const StageExpr& b) {
  if (is_integer(b, 1)) return {0};
  if (const auto value = folded(exact_remainder, a, b)) return *value;
  return make(StageOp::floor_modulo, StageType::integer,
              {converted(a, StageType::integer), converted(b, StageType::integer)});
}

StageExpr select(const StageExpr& condition, const StageExpr& yes, const StageExpr& no) {
  if (!condition) return yes;
  const auto type = std::max(yes->type, no->type);
  return make(StageOp::select, type,
              {converted(condition, StageType::truth), converted(yes, type), converted(no, type)});
}

StageExpr apply(StageOp op, const StageExpr& a) {
  const auto type = op == StageOp::bit_not ? StageType::integer : StageType::real;
  return make(op, type, {converted(a, type)});
}

StageExpr apply(StageOp op, const StageExpr& a, const StageExpr& b) {
  const bool integers = op >= StageOp::shift_left && op <= StageOp::bit_xor;
  const auto type = integers ? StageType::integer : StageType::real;
  return make(op, type, {converted(a, type), converted(b, type)});
}

StageExpr converted(const StageExpr& a, StageType type) {
  if (a->type == type) return a;
  if (a->op == StageOp::integer && type == StageType::real && a->integer.is_constant())
    return {static_cast<double>(a->integer.value())};
  if (a->op == StageOp::integer && type == StageType::integer) return {a->integer};
  if (type == StageType::real) return make(StageOp::to_real, type, {a});
  return make(type == StageType::truth ? StageOp::to_truth : StageOp::to_integer, type, {a});
}

}  // namespace kw
