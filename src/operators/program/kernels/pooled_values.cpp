#include "operators/program/kernels/pooled_values.hpp"

#include <algorithm>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/sum_algebra.hpp"
#include "program/stages/decomposition.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

bool names_pooled(const StageExpr& node) {
  return node->op == StageOp::result || std::ranges::any_of(node->operands, names_pooled);
}

/// Never falls or never rises with the result, whichever it is.
bool is_monotone(const StageExpr& node) {
  if (!names_pooled(node) || node->op == StageOp::result) return true;
  if (node->type != StageType::real) return false;
  const auto& operands = node->operands;
  switch (node->op) {
    case StageOp::negate:
    case StageOp::tanh:
    case StageOp::exp:
    case StageOp::atan:
    case StageOp::erf:
      return is_monotone(operands[0]);
    case StageOp::divide:
      return !names_pooled(operands[1]) && is_monotone(operands[0]);
    case StageOp::add:
    case StageOp::subtract:
    case StageOp::multiply:
    case StageOp::maximum:
    case StageOp::minimum:
      return names_pooled(operands[0]) != names_pooled(operands[1]) && is_monotone(operands[0]) &&
             is_monotone(operands[1]);
    default:
      return false;
  }
}

/// a / n * n + a % n is a, as where groups of channels are counted.
StageExpr without_division(const StageExpr& index) {
  if (index->op != StageOp::add) return index;
  for (const int first : {0, 1}) {
    const auto& product = index->operands[static_cast<std::size_t>(first)];
    const auto& rest = index->operands[static_cast<std::size_t>(1 - first)];
    if (product->op != StageOp::multiply || rest->op != StageOp::floor_modulo) continue;
    for (const int quotient : {0, 1}) {
      const auto& divided = product->operands[static_cast<std::size_t>(quotient)];
      const auto& by = product->operands[static_cast<std::size_t>(1 - quotient)];
      const bool whole = divided->op == StageOp::floor_divide && same_expression(divided->operands[1], by) &&
                         same_expression(rest->operands[1], by) &&
                         same_expression(divided->operands[0], rest->operands[0]);
      if (whole) return rest->operands[0];
    }
  }
  return index;
}

class PooledValuesFinder {
 public:
  PooledValuesFinder(const StageProgram& program, const Stage& values, const Stage& reduction, std::size_t first_buffer)
      : program_(program), values_(values), reduction_(reduction), first_buffer_(first_buffer) {}

  std::optional<PooledValues> found() {
    const bool simple = reduction_.kind == StageKind::reduce && !reduction_.position && !reduction_.place &&
                        reduction_.guards.empty() && reduction_.body->type == StageType::real;
    element_ = simple ? only_element(reduction_.body, values_.buffer) : StageExpr();
    if (!element_ || epilogue_reads(reduction_, values_.buffer)) return std::nullopt;
    const auto of_element = with_element(reduction_result(StageType::real));
    // What is not the element has to be the same within a window.
    if (have_common(axes_named(of_element), names_of_window())) return std::nullopt;
    StageExpr pooled;
    switch (reduction_.op) {
      case ReduceOp::sum:
        if (!sum_of_linear_in_result(of_element, StageExpr(1.0))) return std::nullopt;
        pooled = with_element(pool(ReduceOp::sum) / real_count(reduction_.inner)) * real_count(reduction_.inner);
        break;
      case ReduceOp::maximum:
      case ReduceOp::minimum: {
        if (!is_monotone(of_element)) return std::nullopt;
        const auto least = with_element(pool(ReduceOp::minimum)), largest = with_element(pool(ReduceOp::maximum));
        pooled = reduction_.op == ReduceOp::maximum ? maximum(least, largest) : minimum(least, largest);
        break;
      }
      default:
        return std::nullopt;
    }
    found_.rest = reduction_;
    found_.rest.kind = StageKind::map;
    found_.rest.inner.clear();
    found_.rest.in_parts = false;
    found_.rest.body = with_result(reduction_.epilogue, pooled);
    found_.rest.epilogue = StageExpr();
    return std::move(found_);
  }

 private:
  std::set<std::string> names_of_window() const {
    std::set<std::string> names;
    for (const auto& axis : reduction_.inner) names.insert(axis.name);
    return names;
  }

  StageExpr with_element(const StageExpr& by) const { return with_elements(reduction_.body, values_.buffer, by); }

  /// The number of the element's window.
  StageExpr pool(ReduceOp op) {
    auto window = reduction_;
    window.op = op;
    const auto shape = extents_of(values_.axes);
    auto indices = reshaped_indices(element_->operands, element_->tensor.type.shape, shape);
    for (auto& index : indices) index = without_division(index);
    window.body = load({values_.buffer, {ElementType::float32, shape}}, std::move(indices));
    window.epilogue = StageExpr();
    window.buffer = first_buffer_ + found_.buffers.size();
    const char* const suffix = op == ReduceOp::sum ? "_sums" : op == ReduceOp::maximum ? "_largest" : "_least";
    StageBuffer buffer;
    buffer.name = program_.buffers[values_.buffer].name + suffix;
    while (std::ranges::count(program_.buffers, buffer.name, &StageBuffer::name) > 0) buffer.name += "_";
    buffer.type = {ElementType::float32, extents_of(window.axes)};
    auto pooled = load({window.buffer, buffer.type}, indices_of(window.axes));
    found_.buffers.push_back(std::move(buffer));
    found_.windows.push_back(std::move(window));
    return pooled;
  }

  const StageProgram& program_;
  const Stage& values_;
  const Stage& reduction_;
  std::size_t first_buffer_;
  StageExpr element_;
  PooledValues found_;
};

}  // namespace

std::optional<PooledValues> pooled_values_of(const StageProgram& program, const Stage& values, const Stage& reduction,
                                             std::size_t first_buffer) {
  return PooledValuesFinder(program, values, reduction, first_buffer).found();
}

}  // namespace kw
