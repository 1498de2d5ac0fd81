#include "program/stages/rewrite.hpp"

#include <fmt/format.h>

#include <array>

#include "program/stages/exact_extent.hpp"

namespace kw {
namespace {

/// With other operands. Integer arithmetic goes through the functions that simplify it.
StageExpr rebuilt(const StageNode& node, std::vector<StageExpr> operands) {
  if (node.type == StageType::integer && operands.size() == 2) {
    switch (node.op) {
      case StageOp::add:
        return operands[0] + operands[1];
      case StageOp::subtract:
        return operands[0] - operands[1];
      case StageOp::multiply:
        return operands[0] * operands[1];
      case StageOp::floor_divide:
        return floor_divide(operands[0], operands[1]);
      case StageOp::floor_modulo:
        return floor_modulo(operands[0], operands[1]);
      default:
        break;
    }
  }
  StageNode changed = node;
  changed.operands = std::move(operands);
  return StageExpr(std::move(changed));
}

class Rewriter {
 public:
  explicit Rewriter(const RewriteRule& rule) : rule_(rule) {}

  StageExpr operator()(const StageExpr& expression) {
    if (!expression) return expression;
    const auto known = done_.find(expression.get());
    if (known != done_.end()) return known->second;
    std::vector<StageExpr> operands;
    bool changed = false;
    for (const auto& operand : expression->operands) {
      operands.push_back((*this)(operand));
      changed = changed || operands.back().get() != operand.get();
    }
    auto result = changed ? rebuilt(*expression, std::move(operands)) : expression;
    if (auto replaced = rule_(result)) result = std::move(replaced);
    done_[expression.get()] = result;
    kept_.push_back(expression);
    return result;
  }

 private:
  const RewriteRule& rule_;
  std::map<const StageNode*, StageExpr> done_;
  std::vector<StageExpr> kept_;  ///< so that no address in done_ is used again
};

/// One node per different expression.
class EqualParts {
 public:
  StageExpr operator()(const StageExpr& node) {
    std::string key = fmt::format("{} {} {} {} {} {}", static_cast<int>(node->op), static_cast<int>(node->type),
                                  node->integer.text(), node->real, node->axis, node->tensor.buffer);
    if (node->op == StageOp::load) key += shape_text(node->tensor.type.shape);
    for (const auto& operand : node->operands) key += fmt::format(" {}", static_cast<const void*>(operand.get()));
    return known_.try_emplace(key, node).first->second;
  }

 private:
  std::map<std::string, StageExpr> known_;
};

std::array<StageExpr*, 4> expressions_of(Stage& stage) {
  return {&stage.body, &stage.position, &stage.epilogue, &stage.place};
}

void visit_loads(const StageExpr& node, std::set<const StageNode*>& seen,
                 const std::function<void(const StageNode&)>& visit) {
  if (!node || !seen.insert(node.get()).second) return;
  if (node->op == StageOp::load) visit(*node);
  for (const auto& operand : node->operands) visit_loads(operand, seen, visit);
}

/// The product of some extents, and whether it is that for every binding of the axes: what is too long to be written is
/// a constant.
struct Block {
  Extent count;
  bool known = true;

  void add(const Extent& extent) {
    const auto product = exact_product(count, extent);
    known = known && product;
    count = product.value_or(count);
  }
  friend bool same(const Block& a, const Block& b) { return a.known && b.known && a.count.text() == b.count.text(); }
};

/// The place in a block of the axes [first, last) of `shape`.
StageExpr place_in(const StageIndices& indices, const Shape& shape, std::size_t first, std::size_t last) {
  StageExpr place(0);
  for (std::size_t i = first; i < last; ++i) {
    if (shape[i].text() != "1") place = place * StageExpr(shape[i]) + indices[i];
  }
  return place;
}

/// (a * n + r) / n and % n, where `r` was taken modulo n.
bool splits(const StageExpr& place, const Extent& n, StageExpr& quotient, StageExpr& rest) {
  if (place->op != StageOp::add || place->operands[0]->op != StageOp::multiply) return false;
  const auto& factor = place->operands[0]->operands[1];
  if (factor->op != StageOp::integer || factor->integer.text() != n.text()) return false;
  quotient = place->operands[0]->operands[0];
  rest = place->operands[1];
  return true;
}

/// Indices along the axes [first, last) of `shape` of a place in their block.
void split_place(StageExpr place, const Shape& shape, std::size_t first, std::size_t last, StageIndices& indices) {
  for (std::size_t i = last; i-- > first + 1;) {
    StageExpr quotient;
    StageExpr rest;
    // What place_in() put together from an index of the same extent comes apart again.
    if (!splits(place, shape[i], quotient, rest)) {
      quotient = floor_divide(place, StageExpr(shape[i]));
      rest = floor_modulo(place, StageExpr(shape[i]));
    }
    indices[i] = rest;
    place = quotient;
  }
  indices[first] = place;
}

}  // namespace

StageExpr rewritten(const StageExpr& expression, const RewriteRule& rule) {
  return Rewriter(rule)(expression);
}

void rewrite_stage(Stage& stage, const RewriteRule& rule) {
  Rewriter rewriter(rule);
  for (auto& guard : stage.guards) guard = rewriter(guard);
  for (auto* expression : expressions_of(stage)) *expression = rewriter(*expression);
}

StageExpr with_axes(const StageExpr& expression, const AxisValues& values) {
  return rewritten(expression, [&](const StageExpr& node) {
    if (node->op != StageOp::axis) return StageExpr();
    const auto found = values.find(node->axis);
    return found == values.end() ? StageExpr() : found->second;
  });
}

bool same_expression(const StageExpr& a, const StageExpr& b) {
  EqualParts parts;
  const RewriteRule rule = [&](const StageExpr& node) { return parts(node); };
  Rewriter rewriter(rule);
  return rewriter(a).get() == rewriter(b).get();
}

void share_equal_parts(Stage& stage) {
  EqualParts parts;
  rewrite_stage(stage, [&](const StageExpr& node) { return parts(node); });
}

void for_each_load(const StageExpr& expression, const std::function<void(const StageNode&)>& visit) {
  std::set<const StageNode*> seen;
  visit_loads(expression, seen, visit);
}

void for_each_load(const Stage& stage, const std::function<void(const StageNode&)>& visit) {
  std::set<const StageNode*> seen;
  for (const auto& guard : stage.guards) visit_loads(guard, seen, visit);
  for (const auto* expression : {&stage.body, &stage.position, &stage.epilogue}) visit_loads(*expression, seen, visit);
}

std::set<std::size_t> buffers_read(const Stage& stage) {
  std::set<std::size_t> buffers;
  for_each_load(stage, [&](const StageNode& load) { buffers.insert(load.tensor.buffer); });
  return buffers;
}

Shape extents_of(const StageAxes& axes) {
  Shape shape;
  for (const auto& axis : axes) shape.push_back(axis.extent);
  return shape;
}

StageIndices reshaped_indices(const StageIndices& indices, const Shape& from, const Shape& to) {
  StageIndices result(to.size(), StageExpr(0));
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from.size() && j < to.size()) {
    const std::size_t first_i = i;
    const std::size_t first_j = j;
    Block a{from[i++]};
    Block b{to[j++]};
    // The values lead, and the texts decide: a block must be one for every binding of the axes.
    while (!same(a, b) && (i < from.size() || j < to.size())) {
      if (j == to.size() || (i < from.size() && a.count.value() <= b.count.value())) {
        a.add(from[i++]);
      } else {
        b.add(to[j++]);
      }
    }
    split_place(place_in(indices, from, first_i, i), to, first_j, j, result);
  }
  return result;  // what is left has extent 1
}

}  // namespace kw
