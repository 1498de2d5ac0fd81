#include "operators/program/kernels/shared_values.hpp"

#include <map>
#include <set>

namespace kw {
namespace {

class UseCounter {
 public:
  void count(const StageExpr& node) {
    if (++uses_[node.get()] > 1) return;
    for (const auto& operand : node->operands) count(operand);
    order_.push_back(node);
    bool loads = node->op == StageOp::load;
    for (const auto& operand : node->operands) loads = loads || loads_.at(operand.get());
    loads_[node.get()] = loads;
  }

  /// Everything that is computed whatever the conditions are.
  void follow(const StageExpr& node) {
    if (!certain_.insert(node.get()).second) return;
    const bool decides = node->op == StageOp::select || node->op == StageOp::both || node->op == StageOp::either;
    for (const auto& operand : node->operands) {
      follow(operand);
      if (decides) break;
    }
  }

  [[nodiscard]] std::vector<StageExpr> often(bool loads) const {
    std::vector<StageExpr> found;
    for (const auto& node : order_) {
      const bool leaf = node->operands.empty() && node->op != StageOp::load;
      const bool allowed = !loads_.at(node.get()) || (loads && certain_.count(node.get()) > 0);
      if (!leaf && uses_.at(node.get()) > 1 && allowed) found.push_back(node);
    }
    return found;
  }

 private:
  std::map<const StageNode*, int> uses_;
  std::map<const StageNode*, bool> loads_;
  std::set<const StageNode*> certain_;
  std::vector<StageExpr> order_;
};

}  // namespace

std::vector<StageExpr> values_used_often(const std::vector<StageExpr>& roots, bool loads) {
  UseCounter counter;
  for (const auto& root : roots) {
    if (!root) continue;
    counter.count(root);
    counter.follow(root);
  }
  return counter.often(loads);
}

}  // namespace kw
