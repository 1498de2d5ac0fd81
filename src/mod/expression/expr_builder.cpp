#include "mod/expression/expr_builder.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "mod/expression/semantics.hpp"

namespace kw {
namespace {

bool is_comparison(ExprOp op) {
  return op >= ExprOp::less && op <= ExprOp::not_equal;
}

/// Everything but the place: nodes with the same key are the same value.
std::string key_of(const ModExpr& node) {
  std::string key = fmt::format("{}/{}/{}/{}/{}", static_cast<int>(node.op), static_cast<int>(node.type), node.integer,
                                std::bit_cast<std::uint64_t>(node.real), node.name);
  for (const auto arg : node.args) key += fmt::format(",{}", arg);
  return key;
}

}  // namespace

ExprBuilder::ExprBuilder(ModFunction& mod) : mod_(mod) {
  for (std::size_t i = 0; i < mod.nodes.size(); ++i) known_.emplace(key_of(mod.nodes[i]), static_cast<ExprId>(i));
}

ExprId ExprBuilder::intern(ModExpr node) {
  auto key = key_of(node);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  node.where = where_;
  const auto id = static_cast<ExprId>(mod_.nodes.size());
  mod_.nodes.push_back(std::move(node));
  known_.emplace(std::move(key), id);
  return id;
}

ExprId ExprBuilder::constant(ScalarType type, std::int64_t integer, double real) {
  ModExpr node;
  node.op = ExprOp::constant;
  node.type = type;
  node.integer = integer;
  node.real = real;
  return intern(std::move(node));
}
ExprId ExprBuilder::integer(std::int64_t value) {
  return constant(ScalarType::integer, value, 0.0);
}
ExprId ExprBuilder::real(double value) {
  return constant(ScalarType::real, 0, value);
}
ExprId ExprBuilder::boolean(bool value) {
  return constant(ScalarType::boolean, value ? 1 : 0, 0.0);
}
ExprId ExprBuilder::folded(ScalarType type, double value) {
  if (type == ScalarType::real) return real(value);
  return constant(type, static_cast<std::int64_t>(value), 0.0);
}
double ExprBuilder::constant_value(ExprId id) const {
  const auto& constant = node(id);
  return constant.type == ScalarType::real ? constant.real : static_cast<double>(constant.integer);
}

ExprId ExprBuilder::leaf(ExprOp op) {
  ModExpr node;
  node.op = op;
  node.type = op == ExprOp::score ? ScalarType::real : ScalarType::integer;
  return intern(std::move(node));
}
ExprId ExprBuilder::axis(const std::string& name) {
  ModExpr node;
  node.op = ExprOp::axis;
  node.type = ScalarType::integer;
  node.name = name;
  return intern(std::move(node));
}

void ExprBuilder::know(const ModCapture& capture) {
  const bool known = std::any_of(mod_.captures.begin(), mod_.captures.end(),
                                 [&](const ModCapture& other) { return other.name == capture.name; });
  if (!known) mod_.captures.push_back(capture);
}

ExprId ExprBuilder::gather(const ModCapture& capture, std::vector<ExprId> indices) {
  KW_CHECK(indices.size() == capture.axes.size(), "{} indices for {}", indices.size(), capture.name);
  for (const auto index : indices) KW_CHECK(type(index) == ScalarType::integer, "an index of {}", capture.name);
  know(capture);
  ModExpr node;
  node.op = ExprOp::gather;
  node.type = scalar_type(capture.dtype);
  node.args = std::move(indices);
  node.name = capture.name;
  return intern(std::move(node));
}

ExprId ExprBuilder::bound(ExprOp op, const ModCapture& capture, std::vector<ExprId> indices, ExprId value) {
  KW_CHECK(capture.sorted && indices.size() + 1 == capture.axes.size(), "bounds in {}", capture.name);
  KW_CHECK(type(value) == scalar_type(capture.dtype), "a bound in {}", capture.name);
  know(capture);
  ModExpr node;
  node.op = op;
  node.type = ScalarType::integer;
  node.args = std::move(indices);
  node.args.push_back(value);
  node.name = capture.name;
  return intern(std::move(node));
}

ExprId ExprBuilder::unary(ExprOp op, ExprId operand) {
  ModExpr result;
  result.op = op;
  result.type = type(operand);
  if (op == ExprOp::to_real) result.type = ScalarType::real;
  if (op == ExprOp::to_integer) result.type = ScalarType::integer;
  if (op == ExprOp::to_boolean) result.type = ScalarType::boolean;
  if (is_constant(operand)) return folded(result.type, semantics::apply(op, result.type, constant_value(operand)));
  const auto& inner = node(operand);
  const bool cancels = op == inner.op && (op == ExprOp::negate || op == ExprOp::bit_not);
  if (cancels) return inner.args[0];
  result.args = {operand};
  return intern(std::move(result));
}

ExprId ExprBuilder::binary(ExprOp op, ExprId left, ExprId right) {
  KW_CHECK(type(left) == type(right), "op {}", static_cast<int>(op));
  const bool boolean_operands = type(left) == ScalarType::boolean;
  // Comparing booleans is logic; with that no comparison ever has boolean operands.
  if (boolean_operands && op == ExprOp::not_equal) op = ExprOp::bit_xor;
  if (boolean_operands && op == ExprOp::equal) return unary(ExprOp::bit_not, binary(ExprOp::bit_xor, left, right));
  ModExpr result;
  result.op = op;
  result.type = is_comparison(op) ? ScalarType::boolean : type(left);
  if (is_constant(left) && is_constant(right)) {
    return folded(result.type, semantics::apply(op, type(left), constant_value(left), constant_value(right)));
  }
  const auto same = boolean_operands ? boolean_identity(op, left, right) : number_identity(op, left, right);
  if (same >= 0) return same;
  result.args = {left, right};
  return intern(std::move(result));
}

ExprId ExprBuilder::boolean_identity(ExprOp op, ExprId left, ExprId right) {
  if (left == right && (op == ExprOp::bit_and || op == ExprOp::bit_or)) return left;
  if (is_constant(left)) std::swap(left, right);
  if (!is_constant(right)) return -1;
  const bool value = constant_value(right) != 0.0;
  if (op == ExprOp::bit_and) return value ? left : right;
  if (op == ExprOp::bit_or) return value ? right : left;
  if (op == ExprOp::bit_xor) return value ? unary(ExprOp::bit_not, left) : left;
  return -1;
}

/// x + 0, x - 0, 0 - x, x * 1, x / 1, x // 1: exact for every x but for the sign of a zero sum.
ExprId ExprBuilder::number_identity(ExprOp op, ExprId left, ExprId right) {
  const auto is = [&](ExprId id, double value) { return is_constant(id) && constant_value(id) == value; };
  const auto other_than = [&](double neutral) {
    if (is(right, neutral)) return left;
    return is(left, neutral) ? right : ExprId{-1};
  };
  const bool integer_type = type(left) == ScalarType::integer;
  switch (op) {
    case ExprOp::add:
      return other_than(0.0);
    case ExprOp::subtract:
      if (is(left, 0.0)) return unary(ExprOp::negate, right);
      return is(right, 0.0) ? left : -1;
    case ExprOp::multiply:
      if (integer_type && (is(left, 0.0) || is(right, 0.0))) return integer(0);
      return other_than(1.0);
    case ExprOp::divide:
      return is(right, 1.0) ? left : -1;
    case ExprOp::floor_divide:
      return integer_type && is(right, 1.0) ? left : -1;
    case ExprOp::minimum:
    case ExprOp::maximum:
      return left == right ? left : -1;
    default:
      return -1;
  }
}

ExprId ExprBuilder::select(ExprId condition, ExprId if_true, ExprId if_false) {
  KW_CHECK(type(if_true) == type(if_false) && type(condition) == ScalarType::boolean);
  if (is_constant(condition)) return constant_value(condition) != 0.0 ? if_true : if_false;
  if (if_true == if_false) return if_true;
  ModExpr node;
  node.op = ExprOp::select;
  node.type = type(if_true);
  node.args = {condition, if_true, if_false};
  return intern(std::move(node));
}

ExprId ExprBuilder::convert(ExprId node, ScalarType wanted) {
  if (type(node) == wanted) return node;
  switch (wanted) {
    case ScalarType::real:
      return unary(ExprOp::to_real, node);
    case ScalarType::integer:
      return unary(ExprOp::to_integer, node);
    case ScalarType::boolean:
      return unary(ExprOp::to_boolean, node);
  }
  return node;
}

OpClass op_class(ExprOp op) {
  switch (op) {
    case ExprOp::constant:
    case ExprOp::score:
    case ExprOp::batch:
    case ExprOp::head:
    case ExprOp::query:
    case ExprOp::key:
    case ExprOp::axis:
      return OpClass::leaf;
    case ExprOp::divide:
    case ExprOp::floor_divide:
    case ExprOp::modulo:
    case ExprOp::fmod:
      return OpClass::division;
    case ExprOp::power:
    case ExprOp::exp:
    case ExprOp::exp2:
    case ExprOp::log:
    case ExprOp::log2:
    case ExprOp::tanh:
    case ExprOp::sigmoid:
    case ExprOp::sqrt:
    case ExprOp::rsqrt:
    case ExprOp::erf:
    case ExprOp::sin:
    case ExprOp::cos:
      return OpClass::transcendental;
    case ExprOp::gather:
      return OpClass::gather;
    default:
      return OpClass::arithmetic;
  }
}

ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::i32:
      return ScalarType::integer;
    case DType::boolean:
      return ScalarType::boolean;
    case DType::f32:
    case DType::f16:
    case DType::bf16:
      break;
  }
  return ScalarType::real;
}

const ModCapture& ModFunction::capture(const std::string& capture_name) const {
  const auto found =
      std::find_if(captures.begin(), captures.end(), [&](const ModCapture& c) { return c.name == capture_name; });
  KW_CHECK(found != captures.end(), "the mod has no capture {}", capture_name);
  return *found;
}

ModFunction in_normal_order(const ModFunction& mod) {
  ModFunction result;
  result.name = mod.name;
  result.source = mod.source;
  result.captures = mod.captures;
  result.assertions = mod.assertions;
  std::vector<ExprId> renamed(mod.nodes.size(), -1);
  std::vector<std::pair<ExprId, std::size_t>> open = {{mod.root, 0}};
  while (!open.empty()) {
    auto& [id, next] = open.back();
    const auto& node = mod.nodes[node_index(id)];
    if (renamed[node_index(id)] >= 0 || next == node.args.size()) {
      if (renamed[node_index(id)] < 0) {
        auto copy = node;
        for (auto& arg : copy.args) arg = renamed[node_index(arg)];
        renamed[node_index(id)] = static_cast<ExprId>(result.nodes.size());
        result.nodes.push_back(std::move(copy));
      }
      open.pop_back();
      continue;
    }
    const auto arg = node.args[next++];
    open.emplace_back(arg, 0);
  }
  result.root = renamed[node_index(mod.root)];
  return result;
}

}  // namespace kw
