#include "codegen/opencl_expr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/result.hpp"
#include "codegen/text.hpp"

namespace kw {
namespace {

/// Beyond this depth an expression gets a name: for the reader, and because compilers bound the nesting of brackets.
constexpr int k_max_inline_depth = 6;

/// And beyond this length, for the reader alone.
constexpr std::size_t k_max_inline_length = 56;

/// Operations after which keeping a value of the key for all rows is cheaper than computing it in each.
constexpr int k_worth_a_column = 3;

bool is_leaf(ExprOp op) {
  switch (op) {
    case ExprOp::constant:
    case ExprOp::score:
    case ExprOp::batch:
    case ExprOp::head:
    case ExprOp::query:
    case ExprOp::key:
    case ExprOp::axis:
      return true;
    default:
      return false;
  }
}

const char* type_name(ScalarType type, bool vector) {
  if (type == ScalarType::real) return vector ? "float16" : "float";
  return vector ? "int16" : "int";
}

/// In cheap operations, up to k_worth_a_column.
int own_work(ExprOp op) {
  switch (op) {
    case ExprOp::floor_divide:
    case ExprOp::modulo:
    case ExprOp::divide:
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
    case ExprOp::gather:
      return k_worth_a_column;
    default:
      return is_leaf(op) ? 0 : 1;
  }
}

bool is_square(const ModFunction& mod, const ModExpr& node) {
  if (node.op != ExprOp::power) return false;
  const ModExpr& exponent = mod.nodes[static_cast<std::size_t>(node.args[1])];
  return exponent.op == ExprOp::constant && exponent.real == 2.0;
}

}  // namespace

ExprStage stage_of(const Dependencies& inputs) {
  if (inputs.score || inputs.key) return ExprStage::element;
  return inputs.query ? ExprStage::row : ExprStage::group;
}

OpenClExpr::OpenClExpr(const ModFunction& mod, const std::vector<ExprRoot>& roots, OpenClExprOptions options)
    : mod_(mod), options_(std::move(options)) {
  const std::vector<Dependencies> inputs = dependencies(mod);
  for (const Dependencies& of_node : inputs)
    stages_.push_back(options_.vector ? stage_of(of_node) : ExprStage::element);
  if (options_.vector && options_.columns) choose_columns(inputs);
  mark(roots);
  for (std::size_t i = 0; i < mod_.nodes.size(); ++i)
    if (uses_[i].count > 0) print(static_cast<ExprId>(i));
}

const std::vector<std::string>& OpenClExpr::statements(ExprStage stage) const {
  static const std::vector<std::string> k_none;
  const auto found = statements_.find(stage);
  return found == statements_.end() ? k_none : found->second;
}

/// Values of the key alone that cost more than loading them again from a private array.
void OpenClExpr::choose_columns(const std::vector<Dependencies>& inputs) {
  std::vector<int> work(mod_.nodes.size(), 0);
  for (std::size_t i = 0; i < mod_.nodes.size(); ++i) {
    if (!inputs[i].key || inputs[i].query || inputs[i].score) continue;
    const ModExpr& node = mod_.nodes[i];
    work[i] = own_work(node.op);
    for (const ExprId arg : node.args)
      work[i] = std::min(work[i] + work[static_cast<std::size_t>(arg)], k_worth_a_column);
    if (work[i] >= k_worth_a_column) stages_[i] = ExprStage::column;
  }
}

void OpenClExpr::use(ExprId id, ExprStage at) {
  NodeUse& used = uses_[static_cast<std::size_t>(id)];
  ++used.count;
  if (stage(id) < at) used.crosses = true;
  if (at == ExprStage::column) used.by_column = true;
  if (at == ExprStage::row || at == ExprStage::element) used.inner = true;
}

/// Arguments have smaller ids than their users, so one sweep from the end finds everything the roots need.
void OpenClExpr::mark(const std::vector<ExprRoot>& roots) {
  uses_.assign(mod_.nodes.size(), {});
  for (const ExprRoot& root : roots) {
    use(root.id, options_.vector ? root.used_at : ExprStage::element);
    // A function returns it; in vectors it becomes part of longer statements.
    uses_[static_cast<std::size_t>(root.id)].root = !options_.vector;
  }
  for (std::size_t i = mod_.nodes.size(); i-- > 0;) {
    const NodeUse& used = uses_[i];
    if (used.count == 0) continue;
    // Too cheap for a column of its own, and used by columns alone: a part of them.
    if (stages_[i] == ExprStage::element && used.by_column && !used.inner) stages_[i] = ExprStage::column;
    const bool in_both = stages_[i] == ExprStage::element && used.by_column;
    for (const ExprId arg : mod_.nodes[i].args) {
      use(arg, stages_[i]);
      if (in_both) uses_[static_cast<std::size_t>(arg)].by_column = true;
    }
    if (is_square(mod_, mod_.nodes[i])) use(mod_.nodes[i].args[0], stages_[i]);
  }
}

void OpenClExpr::print(ExprId id) {
  const auto index = static_cast<std::size_t>(id);
  const ModExpr& node = mod_.nodes[index];
  if (is_leaf(node.op)) {
    texts_[id] = leaf(id);
    return;
  }
  NodeUse& used = uses_[index];
  used.depth = 1;
  for (const ExprId arg : node.args) used.depth = std::max(used.depth, uses_[static_cast<std::size_t>(arg)].depth + 1);
  const std::string text = expression(id);
  // What both columns and elements use is a sum or two, and stands written out in both.
  const bool in_both = stages_[index] == ExprStage::element && used.by_column;
  if (!in_both &&
      (used.count > 1 || used.crosses || used.depth > k_max_inline_depth || text.size() > k_max_inline_length))
    name(id, text);
  else
    texts_[id] = text;
}

void OpenClExpr::name(ExprId id, const std::string& expression) {
  const auto index = static_cast<std::size_t>(id);
  const NamedValue value{type_name(mod_.nodes[index].type, is_vector(id)),
                         fmt::format("{}{}", options_.prefix, ++names_)};
  statements_[stages_[index]].push_back(
      broken_statement(fmt::format("{} = {};", value.declaration(), without_parentheses(expression))));
  if (stages_[index] == ExprStage::group && uses_[index].inner) group_values_.push_back(value);
  if (stages_[index] == ExprStage::column && uses_[index].inner) column_values_.push_back(value);
  texts_[id] = value.name;
  uses_[index].depth = 0;
}

bool OpenClExpr::is_vector(ExprId id) const {
  return options_.vector && stages_[static_cast<std::size_t>(id)] >= ExprStage::column;
}

/// An axis as the text calls it; `inner` says that rows or elements refer to it.
std::string OpenClExpr::axis_text(const std::string& axis, bool inner) {
  axes_.insert(axis);
  if (axis == "D") return "HEAD_DIM";
  if (axis == "Dv") return "VALUE_DIM";
  const std::string name = opencl_name(axis);
  if (inner) inner_names_.insert(name);
  return name;
}

std::string OpenClExpr::leaf(ExprId id) {
  const ModExpr& node = mod_.nodes[static_cast<std::size_t>(id)];
  const bool inner = options_.vector && uses_[static_cast<std::size_t>(id)].inner;
  switch (node.op) {
    case ExprOp::score:
      return "score";
    case ExprOp::batch:
      if (inner) inner_names_.insert("b");
      return "b";
    case ExprOp::head:
      if (inner) inner_names_.insert("h");
      return "h";
    case ExprOp::query:
      return "q_idx";
    case ExprOp::key:
      return "kv_idx";
    case ExprOp::axis:
      return axis_text(node.name, inner);
    default:
      break;
  }
  return node.type == ScalarType::real ? float_literal(node.real) : int_literal(node.integer);
}

std::string OpenClExpr::expression(ExprId id) {
  const ModExpr& node = mod_.nodes[static_cast<std::size_t>(id)];
  const bool vector = is_vector(id);
  switch (node.op) {
    case ExprOp::add:
    case ExprOp::subtract:
    case ExprOp::multiply:
    case ExprOp::divide:
    case ExprOp::floor_divide:
    case ExprOp::modulo:
    case ExprOp::power:
    case ExprOp::negate:
    case ExprOp::minimum:
    case ExprOp::maximum:
    case ExprOp::absolute:
      return arithmetic(node, vector);
    case ExprOp::bit_and:
    case ExprOp::bit_or:
    case ExprOp::bit_xor:
    case ExprOp::bit_not:
    case ExprOp::shift_left:
    case ExprOp::shift_right:
      return bits(node, vector);
    case ExprOp::less:
    case ExprOp::less_equal:
    case ExprOp::greater:
    case ExprOp::greater_equal:
    case ExprOp::equal:
    case ExprOp::not_equal:
      return comparison(node, vector);
    case ExprOp::select:
      return choice(node, vector);
    case ExprOp::to_real:
    case ExprOp::to_integer:
    case ExprOp::to_boolean:
      return conversion(node, vector);
    case ExprOp::gather:
      return gather(id);
    case ExprOp::lower_bound:
    case ExprOp::upper_bound:
      return row_position(id);
    default:
      return function(node, vector);
  }
}

/// A scalar used where a vector is needed; a scalar boolean becomes a mask.
std::string OpenClExpr::widened(ExprId id, bool to_vector) const {
  const std::string& plain = texts_.at(id);
  if (!to_vector || is_vector(id)) return plain;
  const ScalarType type = mod_.nodes[static_cast<std::size_t>(id)].type;
  if (type == ScalarType::boolean) return fmt::format("({})(-{})", type_name(type, true), plain);
  return fmt::format("({})({})", type_name(type, true), without_parentheses(plain));
}

std::string OpenClExpr::infix(const ModExpr& node, bool vector, const char* symbol) const {
  // OpenCL widens a scalar operand by itself, except on the left of a shift, and it knows nothing of our masks.
  const bool shift = node.op == ExprOp::shift_left || node.op == ExprOp::shift_right;
  if (!shift && mod_.nodes[static_cast<std::size_t>(node.args[0])].type != ScalarType::boolean)
    return fmt::format("({} {} {})", texts_.at(node.args[0]), symbol, texts_.at(node.args[1]));
  return fmt::format("({} {} {})", widened(node.args[0], vector), symbol, widened(node.args[1], vector));
}

std::string OpenClExpr::call(const ModExpr& node, bool vector, const char* function) const {
  std::vector<std::string> arguments;
  for (const ExprId arg : node.args) arguments.push_back(without_parentheses(widened(arg, vector)));
  return fmt::format("{}({})", function, join_list(arguments));
}

std::string OpenClExpr::helper_call(const ModExpr& node, bool vector, OpenClHelper scalar, OpenClHelper wide) {
  const OpenClHelper helper = vector ? wide : scalar;
  helpers_.insert(helper);
  return call(node, vector, helper_name(helper).c_str());
}

std::string OpenClExpr::arithmetic(const ModExpr& node, bool vector) {
  const bool real = node.type == ScalarType::real;
  switch (node.op) {
    case ExprOp::add:
      return infix(node, vector, "+");
    case ExprOp::subtract:
      return infix(node, vector, "-");
    case ExprOp::multiply:
      return infix(node, vector, "*");
    case ExprOp::divide:
      return infix(node, vector, "/");
    case ExprOp::floor_divide:
      if (real) return helper_call(node, vector, OpenClHelper::real_floor_div, OpenClHelper::real_floor_div16);
      return helper_call(node, vector, OpenClHelper::floor_div, OpenClHelper::floor_div16);
    case ExprOp::modulo:
      if (real) return helper_call(node, vector, OpenClHelper::real_mod, OpenClHelper::real_mod16);
      return helper_call(node, vector, OpenClHelper::floor_mod, OpenClHelper::floor_mod16);
    case ExprOp::power:
      return power(node, vector);
    case ExprOp::negate:
      return fmt::format("(-{})", texts_.at(node.args[0]));
    case ExprOp::minimum:
      return call(node, vector, "min");
    case ExprOp::maximum:
      return call(node, vector, "max");
    default:
      break;
  }
  // OpenCL's abs of an int is unsigned.
  if (real) return call(node, vector, "fabs");
  return fmt::format("{}({})", vector ? "convert_int16" : "(int)", call(node, vector, "abs"));
}

/// Squares are common (distances) and pow costs tens of instructions.
std::string OpenClExpr::power(const ModExpr& node, bool vector) const {
  const std::string& base = texts_.at(node.args[0]);
  if (is_square(mod_, node)) return fmt::format("({0} * {0})", base);
  return call(node, vector, "pow");
}

/// An amount outside 0 to 31 is not what C or OpenCL would make of it.
std::string OpenClExpr::shift(const ModExpr& node, bool vector) {
  const bool left = node.op == ExprOp::shift_left;
  const ModExpr& amount = mod_.nodes[static_cast<std::size_t>(node.args[1])];
  if (amount.op == ExprOp::constant && amount.integer >= 0 && amount.integer <= 31)
    return infix(node, vector, left ? "<<" : ">>");
  return left ? helper_call(node, vector, OpenClHelper::shift_left, OpenClHelper::shift_left16)
              : helper_call(node, vector, OpenClHelper::shift_right, OpenClHelper::shift_right16);
}

std::string OpenClExpr::bits(const ModExpr& node, bool vector) {
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

std::string OpenClExpr::comparison(const ModExpr& node, bool vector) const {
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

std::string OpenClExpr::choice(const ModExpr& node, bool vector) const {
  const std::string if_true = widened(node.args[1], vector);
  const std::string if_false = widened(node.args[2], vector);
  const std::string& condition = texts_.at(node.args[0]);
  if (is_vector(node.args[0]))
    return fmt::format("select({}, {}, {})", without_parentheses(if_false), without_parentheses(if_true),
                       without_parentheses(condition));
  return fmt::format("({} ? {} : {})", condition, if_true, if_false);
}

std::string OpenClExpr::function(const ModExpr& node, bool vector) {
  switch (node.op) {
    case ExprOp::exp:
      return call(node, vector, "exp");
    case ExprOp::exp2:
      return call(node, vector, "exp2");
    case ExprOp::log:
      return call(node, vector, "log");
    case ExprOp::log2:
      return call(node, vector, "log2");
    case ExprOp::sqrt:
      return call(node, vector, "sqrt");
    case ExprOp::rsqrt:
      return call(node, vector, "rsqrt");
    case ExprOp::floor:
      return call(node, vector, "floor");
    case ExprOp::sigmoid:
      return fmt::format("(1.0f / (1.0f + exp(-{})))", texts_.at(node.args[0]));
    case ExprOp::tanh:
      if (!vector || !options_.fast_tanh) return call(node, vector, "tanh");
      helpers_.insert(OpenClHelper::tanh16);
      return call(node, vector, "tanh16");
    case ExprOp::erf:
      return call(node, vector, "erf");
    default:
      break;
  }
  KW_CHECK(false, "expression node {} has no OpenCL form", static_cast<int>(node.op));
  return {};
}

std::string OpenClExpr::conversion(const ModExpr& node, bool vector) const {
  const std::string& from = texts_.at(node.args[0]);
  const ScalarType type = mod_.nodes[static_cast<std::size_t>(node.args[0])].type;
  if (node.op == ExprOp::to_boolean) {
    if (type == ScalarType::boolean) return from;
    return fmt::format("({} != {})", from, type == ScalarType::real ? "0.0f" : "0");
  }
  if (node.type == type) return from;
  std::string number = (type == ScalarType::boolean && vector) ? fmt::format("(-{})", from) : from;
  if (node.op == ExprOp::to_integer && type == ScalarType::boolean) return number;
  // Towards zero, saturating, and NaN to 0.
  const char* to_int = vector ? "convert_int16_sat" : "convert_int_sat";
  const char* target = node.op == ExprOp::to_integer ? to_int : (vector ? "convert_float16" : "(float)");
  return fmt::format("{}({})", target, without_parentheses(number));
}

}  // namespace kw
