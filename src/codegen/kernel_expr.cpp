#include "codegen/kernel_expr.hpp"

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

/// In cheap operations, up to k_worth_a_column.
int own_work(ExprOp op) {
  switch (op_class(op)) {
    case OpClass::leaf:
      return 0;
    case OpClass::arithmetic:
      return 1;
    default:
      return k_worth_a_column;
  }
}

}  // namespace

KernelExpr::KernelExpr(const ModFunction& mod, const std::vector<ExprRoot>& roots, KernelExprOptions options)
    : mod_(mod), options_(std::move(options)) {
  inputs_ = dependencies(mod);
  for (const Dependencies& of_node : inputs_)
    stages_.push_back(options_.has_stages() ? stage_of(of_node, options_.head_by_row) : ExprStage::element);
  if (options_.vector && options_.columns) choose_columns(inputs_);
  mark(roots);
  for (std::size_t i = 0; i < mod_.nodes.size(); ++i)
    if (uses_[i].count > 0) print(static_cast<ExprId>(i));
}

const std::vector<std::string>& KernelExpr::statements(ExprStage stage) const {
  static const std::vector<std::string> k_none;
  const auto found = statements_.find(stage);
  return found == statements_.end() ? k_none : found->second;
}

/// Values of the key alone that cost more than loading them again from a private array.
void KernelExpr::choose_columns(const std::vector<Dependencies>& inputs) {
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

void KernelExpr::use(ExprId id, ExprStage at) {
  NodeUse& used = uses_[static_cast<std::size_t>(id)];
  ++used.count;
  if (stage(id) < at) used.crosses = true;
  if (at == ExprStage::column) used.by_column = true;
  if (at == ExprStage::row || at == ExprStage::element) used.inner = true;
}

/// Arguments have smaller ids than their users, so one sweep from the end finds everything the roots need.
void KernelExpr::mark(const std::vector<ExprRoot>& roots) {
  uses_.assign(mod_.nodes.size(), {});
  for (const ExprRoot& root : roots) {
    use(root.id, options_.has_stages() ? root.used_at : ExprStage::element);
    // A function returns it; in vectors it becomes part of longer statements.
    uses_[static_cast<std::size_t>(root.id)].root = !options_.has_stages();
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

void KernelExpr::print(ExprId id) {
  const auto index = static_cast<std::size_t>(id);
  const ModExpr& node = mod_.nodes[index];
  if (op_class(node.op) == OpClass::leaf) {
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

void KernelExpr::name(ExprId id, const std::string& expression) {
  const auto index = static_cast<std::size_t>(id);
  const NamedValue value{kernel_type(mod_.nodes[index].type, is_vector(id)),
                         fmt::format("{}{}", options_.prefix, ++names_)};
  statements_[stages_[index]].push_back(
      broken_statement(fmt::format("{} = {};", value.declaration(), without_parentheses(expression))));
  if (stages_[index] == ExprStage::group && uses_[index].inner) group_values_.push_back(value);
  if (stages_[index] == ExprStage::column && uses_[index].inner) column_values_.push_back(value);
  texts_[id] = value.name;
  uses_[index].depth = 0;
}

bool KernelExpr::is_vector(ExprId id) const {
  return options_.vector && stages_[static_cast<std::size_t>(id)] >= ExprStage::column;
}

/// An axis as the text calls it; `inner` says that rows or elements refer to it.
std::string KernelExpr::axis_text(const std::string& axis, bool inner) {
  axes_.insert(axis);
  if (axis == "D") return "HEAD_DIM";
  if (axis == "Dv") return "VALUE_DIM";
  std::string name = kernel_name(axis);
  if (inner) inner_names_.insert(name);
  return name;
}

std::string KernelExpr::leaf(ExprId id) {
  const ModExpr& node = mod_.nodes[static_cast<std::size_t>(id)];
  const bool inner = options_.has_stages() && uses_[static_cast<std::size_t>(id)].inner;
  switch (node.op) {
    case ExprOp::score:
      return "score";
    case ExprOp::batch:
      if (inner) inner_names_.insert("b");
      return "b";
    case ExprOp::head:
      if (inner && !options_.head_by_row) inner_names_.insert("h");
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

std::string KernelExpr::expression(ExprId id) {
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

}  // namespace kw
