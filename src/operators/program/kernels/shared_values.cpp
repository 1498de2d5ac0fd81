#include "operators/program/kernels/shared_values.hpp"

#include <algorithm>
#include <map>

#include "operators/program/kernels/affine_index.hpp"

namespace kw {
namespace {

bool names(const StageExpr& node, StageOp op) {
  if (node->op == op) return true;
  return std::ranges::any_of(node->operands, [&](const StageExpr& operand) { return names(operand, op); });
}

/// Whether all operands are computed, else the first one.
bool computes_all(const StageExpr& node) {
  return node->op != StageOp::select && node->op != StageOp::both && node->op != StageOp::either;
}

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
    for (const auto& operand : node->operands) {
      follow(operand);
      if (!computes_all(node)) break;
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

class ValuesOverAxes {
 public:
  explicit ValuesOverAxes(const std::set<std::string>& axes) : axes_(axes) {}

  void find_in(const StageExpr& node) {
    if (!seen_.insert(node.get()).second) return;
    if (node->type == StageType::real && names(node, StageOp::load) && !names(node, StageOp::result) &&
        std::ranges::includes(axes_, axes_named(node))) {
      found_.push_back(node);
      return;
    }
    for (const auto& operand : node->operands) {
      find_in(operand);
      if (!computes_all(node)) break;
    }
  }

  [[nodiscard]] const std::vector<StageExpr>& found() const { return found_; }

 private:
  const std::set<std::string>& axes_;
  std::set<const StageNode*> seen_;
  std::vector<StageExpr> found_;
};

}  // namespace

std::vector<StageExpr> values_over(const StageExpr& root, const std::set<std::string>& axes) {
  ValuesOverAxes values(axes);
  values.find_in(root);
  return values.found();
}

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
