#include "operators/attention/kernels/score_sizes.hpp"

#include <cmath>
#include <cstddef>
#include <set>
#include <vector>

namespace kw {
namespace {

/// Whether `holds` is true of `node` or of anything it is computed from.
template <typename Holds>
bool any_operand(const ModFunction& mod, ExprId node, const Holds& holds) {
  std::vector<ExprId> open = {node};
  std::set<ExprId> seen;
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    const ModExpr& expr = mod.nodes[static_cast<std::size_t>(id)];
    if (holds(expr)) return true;
    open.insert(open.end(), expr.args.begin(), expr.args.end());
  }
  return false;
}

/// A row of -inf is a masked row.
bool may_be_infinite(const ModFunction& mod, ExprId node) {
  return any_operand(mod, node, [&](const ModExpr& expr) {
    if (expr.op == ExprOp::constant && expr.type == ScalarType::real && !std::isfinite(expr.real)) return true;
    if (expr.op == ExprOp::log || expr.op == ExprOp::log2) return true;
    if (expr.op != ExprOp::gather || expr.type != ScalarType::real) return false;
    const ModCapture& capture = mod.capture(expr.name);
    return !std::isfinite(capture.low) || !std::isfinite(capture.high);
  });
}

}  // namespace

bool may_be_large(const ModFunction& mod, ExprId node) {
  constexpr double k_large = 1 << 20;
  const auto is_large = [](double x) { return std::isfinite(x) && std::abs(x) >= k_large; };
  const auto holds = [&](const ModExpr& expr) {
    if (expr.type != ScalarType::real) return false;
    if (expr.op == ExprOp::constant) return is_large(expr.real);
    if (expr.op != ExprOp::gather) return false;
    const ModCapture& capture = mod.capture(expr.name);
    return capture.dtype != DType::f16 && (capture.low <= -k_large || capture.high >= k_large);
  };
  return any_operand(mod, node, holds);
}

bool can_be_left_out(const ModFunction& mod, ExprId node) {
  return !may_be_infinite(mod, node) && !may_be_large(mod, node);
}

}  // namespace kw
