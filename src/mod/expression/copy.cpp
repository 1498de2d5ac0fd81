#include "mod/expression/copy.hpp"

#include <cstddef>
#include <vector>

namespace kw {
namespace {

ExprId copied_comparison(const ModExpr& node, ExprId left, ExprId right, ExprBuilder& to) {
  // A float may be NaN, which is not equal to itself.
  if (left != right || to.type(left) != ScalarType::integer) return to.binary(node.op, left, right);
  return to.boolean(node.op == ExprOp::less_equal || node.op == ExprOp::greater_equal || node.op == ExprOp::equal);
}

ExprId copied_constant(const ModExpr& node, ExprBuilder& to) {
  if (node.type == ScalarType::real) return to.real(node.real);
  return node.type == ScalarType::integer ? to.integer(node.integer) : to.boolean(node.integer != 0);
}

/// `args` are the arguments' copies.
ExprId copied_node(const ModFunction& from, const ModExpr& node, const std::vector<ExprId>& args, ExprBuilder& to) {
  switch (node.op) {
    case ExprOp::constant:
      return copied_constant(node, to);
    case ExprOp::score:
    case ExprOp::batch:
    case ExprOp::head:
    case ExprOp::query:
    case ExprOp::key:
      return to.leaf(node.op);
    case ExprOp::axis:
      return to.axis(node.name);
    case ExprOp::gather:
      return to.gather(from.capture(node.name), args);
    case ExprOp::lower_bound:
    case ExprOp::upper_bound:
      return to.bound(node.op, from.capture(node.name), {args.begin(), args.end() - 1}, args.back());
    case ExprOp::select:
      return to.select(args[0], args[1], args[2]);
    default:
      break;
  }
  if (args.size() == 1) return to.unary(node.op, args[0]);
  const bool compares = node.op >= ExprOp::less && node.op <= ExprOp::not_equal;
  return compares ? copied_comparison(node, args[0], args[1], to) : to.binary(node.op, args[0], args[1]);
}

}  // namespace

ExprId copied(const ModFunction& from, ExprId root, ExprBuilder& to, const std::map<ExprId, ExprId>& instead) {
  std::vector<bool> used(node_index(root) + 1, false);
  used.back() = true;
  for (std::size_t i = used.size(); i-- > 0;) {
    if (!used[i] || instead.count(static_cast<ExprId>(i)) > 0) continue;
    for (const auto arg : from.nodes[i].args) used[node_index(arg)] = true;
  }
  std::vector<ExprId> copies(used.size(), -1);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    if (const auto found = instead.find(static_cast<ExprId>(i)); found != instead.end()) {
      copies[i] = found->second;
      continue;
    }
    const auto& node = from.nodes[i];
    std::vector<ExprId> args;
    for (const auto arg : node.args) args.push_back(copies[node_index(arg)]);
    to.set_place(node.where);
    copies[i] = copied_node(from, node, args, to);
  }
  return copies.back();
}

}  // namespace kw
