// How each operation of a mod is written: for single values, and in OpenCL C for sixteen neighbouring keys.
#include <fmt/format.h>

#include <cmath>

#include "base/result.hpp"
#include "base/text.hpp"
#include "codegen/kernel_expr.hpp"
#include "codegen/text.hpp"

namespace kw {

const char* kernel_type(ScalarType type, bool vector) {
  if (type == ScalarType::real) return vector ? "float16" : "float";
  return vector ? "int16" : "int";
}

bool is_square(const ModFunction& mod, const ModExpr& node) {
  if (node.op != ExprOp::power) return false;
  const ModExpr& exponent = mod.nodes[static_cast<std::size_t>(node.args[1])];
  return exponent.op == ExprOp::constant && exponent.real == 2.0;
}

/// A scalar used where a vector is needed; a scalar boolean becomes a mask.
std::string KernelExpr::widened(ExprId id, bool to_vector) const {
  const std::string& plain = texts_.at(id);
  if (!to_vector || is_vector(id)) return plain;
  const ScalarType type = mod_.nodes[static_cast<std::size_t>(id)].type;
  if (type == ScalarType::boolean) return fmt::format("({})(-{})", kernel_type(type, true), plain);
  return fmt::format("({})({})", kernel_type(type, true), without_parentheses(plain));
}

std::string KernelExpr::infix(const ModExpr& node, bool vector, const char* symbol) const {
  // OpenCL widens a scalar operand by itself, except on the left of a shift, and it knows nothing of our masks.
  const bool shift = node.op == ExprOp::shift_left || node.op == ExprOp::shift_right;
  if (!shift && mod_.nodes[static_cast<std::size_t>(node.args[0])].type != ScalarType::boolean)
    return fmt::format("({} {} {})", texts_.at(node.args[0]), symbol, texts_.at(node.args[1]));
  return fmt::format("({} {} {})", widened(node.args[0], vector), symbol, widened(node.args[1], vector));
}

std::string KernelExpr::call(const ModExpr& node, bool vector, const char* function) const {
  std::vector<std::string> arguments;
  for (const ExprId arg : node.args) arguments.push_back(without_parentheses(widened(arg, vector)));
  return fmt::format("{}({})", function, join(arguments));
}

std::string KernelExpr::real_call(const ModExpr& node, bool vector) const {
  return call(node, vector, real_function(node.op, options_.dialect).c_str());
}

std::string KernelExpr::helper_call(const ModExpr& node, bool vector, KernelHelper scalar, KernelHelper wide) {
  const KernelHelper helper = vector ? wide : scalar;
  helpers_.insert(helper);
  return call(node, vector, helper_name(helper).c_str());
}

/// On a GPU a division is a dozen instructions, and its slow path a branch. A score is no exact number, so that nothing
/// is lost when it is multiplied by the divisor's reciprocal; an index divided by a number may have to come out whole.
std::string KernelExpr::division(const ModExpr& node, bool vector) const {
  const ModExpr& divisor = node_at(node.args[1]);
  constexpr double k_most = 1e6;  // far from where floats end
  const double size = divisor.op == ExprOp::constant ? std::abs(divisor.real) : 0.0;
  const bool by_constant = divisor.type == ScalarType::real && size > 1.0 / k_most && size < k_most;
  if (!options_.staged || !options_.dialect->divisions_branch || !by_constant ||
      !inputs_[static_cast<std::size_t>(node.args[0])].score)
    return infix(node, vector, "/");
  return fmt::format("({} * {})", widened(node.args[0], vector), float_literal(1.0 / divisor.real));
}

std::string KernelExpr::arithmetic(const ModExpr& node, bool vector) {
  const bool real = node.type == ScalarType::real;
  switch (node.op) {
    case ExprOp::add:
      return infix(node, vector, "+");
    case ExprOp::subtract:
      return infix(node, vector, "-");
    case ExprOp::multiply:
      return infix(node, vector, "*");
    case ExprOp::divide:
      return division(node, vector);
    case ExprOp::floor_divide:
      if (real) return helper_call(node, vector, KernelHelper::real_floor_div, KernelHelper::real_floor_div16);
      return helper_call(node, vector, KernelHelper::floor_div, KernelHelper::floor_div16);
    case ExprOp::modulo:
      if (real) return helper_call(node, vector, KernelHelper::real_mod, KernelHelper::real_mod16);
      return helper_call(node, vector, KernelHelper::floor_mod, KernelHelper::floor_mod16);
    case ExprOp::power:
      return power(node, vector);
    case ExprOp::negate:
      return fmt::format("(-{})", texts_.at(node.args[0]));
    case ExprOp::minimum:
    case ExprOp::maximum:
      if (real) return real_call(node, vector);
      return call(node, vector, node.op == ExprOp::minimum ? "min" : "max");
    default:
      break;
  }
  if (!options_.dialect->unsigned_abs) return call(node, vector, "abs");
  if (real) return real_call(node, vector);
  return fmt::format("{}({})", vector ? "convert_int16" : "(int)", call(node, vector, "abs"));
}

/// Squares are common (distances) and pow costs tens of instructions.
std::string KernelExpr::power(const ModExpr& node, bool vector) const {
  const std::string& base = texts_.at(node.args[0]);
  if (is_square(mod_, node)) return fmt::format("({0} * {0})", base);
  return real_call(node, vector);
}

/// An amount outside 0 to 31 is not what C or OpenCL would make of it.
std::string KernelExpr::shift(const ModExpr& node, bool vector) {
  const bool left = node.op == ExprOp::shift_left;
  const ModExpr& amount = mod_.nodes[static_cast<std::size_t>(node.args[1])];
  if (amount.op == ExprOp::constant && amount.integer >= 0 && amount.integer <= 31)
    return infix(node, vector, left ? "<<" : ">>");
  return left ? helper_call(node, vector, KernelHelper::shift_left, KernelHelper::shift_left16)
              : helper_call(node, vector, KernelHelper::shift_right, KernelHelper::shift_right16);
}

std::string KernelExpr::bits(const ModExpr& node, bool vector) {
  switch (node.op) {
    case ExprOp::bit_and:
      return infix(node, vector, "&");
    case ExprOp::bit_or:
      return infix(node, vector, "|");
    case ExprOp::bit_xor:
      return infix(node, vector, "^");
    case ExprOp::shift_left:
    case ExprOp::shift_right:
      return shift(node, vector);
    default:
      break;
  }
  const bool scalar_boolean = node.type == ScalarType::boolean && !vector;
  return fmt::format("({}{})", scalar_boolean ? "!" : "~", texts_.at(node.args[0]));
}

std::string KernelExpr::comparison(const ModExpr& node, bool vector) const {
  // A vector's true is -1, so the order of two masks is the reverse of the order of two truth values.
  const bool masks = vector && mod_.nodes[static_cast<std::size_t>(node.args[0])].type == ScalarType::boolean;
  switch (node.op) {
    case ExprOp::less:
      return infix(node, vector, masks ? ">" : "<");
    case ExprOp::less_equal:
      return infix(node, vector, masks ? ">=" : "<=");
    case ExprOp::greater:
      return infix(node, vector, masks ? "<" : ">");
    case ExprOp::greater_equal:
      return infix(node, vector, masks ? "<=" : ">=");
    case ExprOp::equal:
      return infix(node, vector, "==");
    default:
      return infix(node, vector, "!=");
  }
}

std::string KernelExpr::choice(const ModExpr& node, bool vector) const {
  const std::string if_true = widened(node.args[1], vector);
  const std::string if_false = widened(node.args[2], vector);
  const std::string& condition = texts_.at(node.args[0]);
  if (is_vector(node.args[0]))
    return fmt::format("select({}, {}, {})", without_parentheses(if_false), without_parentheses(if_true),
                       without_parentheses(condition));
  return fmt::format("({} ? {} : {})", condition, if_true, if_false);
}

std::string KernelExpr::function(const ModExpr& node, bool vector) {
  switch (node.op) {
    case ExprOp::exp:
    case ExprOp::exp2:
    case ExprOp::log:
    case ExprOp::log2:
    case ExprOp::sqrt:
    case ExprOp::rsqrt:
    case ExprOp::floor:
    case ExprOp::erf:
    case ExprOp::sin:
    case ExprOp::cos:
    case ExprOp::round:
    case ExprOp::fmod:
      return real_call(node, vector);
    case ExprOp::sigmoid:
      return fmt::format("(1.0f / (1.0f + {}(-{})))", real_function(ExprOp::exp, options_.dialect),
                         texts_.at(node.args[0]));
    case ExprOp::tanh:
      if (!options_.fast_tanh || (!vector && options_.dialect->has_vectors)) return real_call(node, vector);
      return helper_call(node, vector, KernelHelper::tanh_rational, KernelHelper::tanh16);
    default:
      break;
  }
  KW_CHECK(false, "expression node {} has no form in a kernel", static_cast<int>(node.op));
  return {};
}

std::string KernelExpr::conversion(const ModExpr& node, bool vector) const {
  const std::string& from = texts_.at(node.args[0]);
  const ScalarType type = mod_.nodes[static_cast<std::size_t>(node.args[0])].type;
  if (node.op == ExprOp::to_boolean) {
    if (type == ScalarType::boolean) return from;
    return fmt::format("({} != {})", from, type == ScalarType::real ? "0.0f" : "0");
  }
  if (node.type == type) return from;
  std::string number = (type == ScalarType::boolean && vector) ? fmt::format("(-{})", from) : from;
  if (node.op == ExprOp::to_integer && type == ScalarType::boolean) return number;
  const char* to_int = vector ? "convert_int16_sat" : options_.dialect->float_to_int;
  const char* target = node.op == ExprOp::to_integer ? to_int : (vector ? "convert_float16" : "(float)");
  return fmt::format("{}({})", target, without_parentheses(number));
}

}  // namespace kw
