// Captured tensors in printed expressions: addresses, indices that are proved to lie inside, and how sixteen keys read
// sixteen elements.
#include <fmt/format.h>

#include "codegen/kernel_expr.hpp"
#include "codegen/text.hpp"

namespace kw {
namespace {

bool is_inner(ExprStage stage) {
  return stage == ExprStage::row || stage == ExprStage::element;
}

}  // namespace

std::string CaptureParameter::declaration(const std::string& name) const {
  return buffer_parameter(dtype, false, kernel_name(name), dialect);
}

const ModCapture& KernelExpr::take_capture(ExprId id) {
  const ModCapture& capture = mod_.capture(node_at(id).name);
  captures_[capture.name] = {capture.dtype, options_.dialect};
  if (is_inner(stage(id))) inner_captures_[capture.name] = {capture.dtype, options_.dialect};
  return capture;
}

std::string KernelExpr::helper_for(KernelHelper first, DType dtype) {
  const KernelHelper helper = capture_helper(first, dtype);
  helpers_.insert(helper);
  return helper_name(helper);
}

bool KernelExpr::not_negative(ExprId index) {
  extend_ranges(mod_, all_indices(), ranges_);
  return ranges_[static_cast<std::size_t>(index)].low >= 0.0;
}

/// Whether the index is less than the axis's extent wherever the text is evaluated.
bool KernelExpr::below(ExprId index, const std::string& axis) const {
  const ModExpr& node = node_at(index);
  const auto is_axis = [&](ExprId id) { return node_at(id).op == ExprOp::axis && node_at(id).name == axis; };
  switch (node.op) {
    case ExprOp::batch:
      return axis == "B";
    case ExprOp::head:
      return axis == "Hq";
    case ExprOp::query:
      return axis == "Sq";
    case ExprOp::key:
      return axis == "Skv" && !is_vector(index);  // lanes run past the last key
    case ExprOp::constant:
      return node.integer <= 0;  // an extent is at least 1
    case ExprOp::modulo:
      return is_axis(node.args[1]);
    case ExprOp::subtract: {
      const ModExpr& by = node_at(node.args[1]);
      return is_axis(node.args[0]) && by.op == ExprOp::constant && by.integer > 0;
    }
    case ExprOp::minimum:
      return below(node.args[0], axis) || below(node.args[1], axis);
    case ExprOp::maximum:
      return below(node.args[0], axis) && below(node.args[1], axis);
    case ExprOp::select:
      return below(node.args[1], axis) && below(node.args[2], axis);
    default:
      return false;
  }
}

/// The index as an operand, made to lie inside the axis where that is not proved.
std::string KernelExpr::resolved(ExprId index, const std::string& axis, bool inner) {
  const bool low_enough = not_negative(index);
  if (low_enough && below(index, axis)) return texts_.at(index);
  const std::string extent = axis_text(axis, inner);
  const std::string text = without_parentheses(texts_.at(index));
  if (low_enough) return fmt::format("min({}, {} - 1)", text, extent);
  const KernelHelper helper = is_vector(index) ? KernelHelper::nearest_index16 : KernelHelper::nearest_index;
  helpers_.insert(helper);
  return fmt::format("{}({}, {})", helper_name(helper), text, extent);
}

/// The indices from dimension `first` up to `end` as one number, in units of what they select. Sums of scalars are
/// long: a tensor may have more elements than an int counts, and only what sixteen keys index apart is bounded by int.
std::string KernelExpr::flat_index(ExprId id, std::size_t first, std::size_t end) {
  const ModExpr& node = node_at(id);
  const ModCapture& capture = mod_.capture(node.name);
  const bool inner = is_inner(stage(id));
  std::string flat;
  for (std::size_t i = first; i < end; ++i) {
    const std::string index = resolved(node.args[i], capture.axes[i], inner);
    if (i == first) {
      flat = index;
      continue;
    }
    const bool widen = i == first + 1 && !is_vector(node.args[first]);
    flat = fmt::format("({}{} * {} + {})", widen ? "(long)" : "", flat, axis_text(capture.axes[i], inner), index);
  }
  return flat;
}

/// A pointer to the part of the tensor that the first `dimensions` indices select; none of them is a vector.
std::string KernelExpr::part_start(ExprId id, std::size_t dimensions) {
  const ModCapture& capture = take_capture(id);
  const std::string name = kernel_name(capture.name);
  if (dimensions == 0) return name;
  std::string start = fmt::format("{} + {}{}", name, dimensions == 1 ? "(long)" : "", flat_index(id, 0, dimensions));
  for (std::size_t i = dimensions; i < capture.axes.size(); ++i)
    start += " * " + axis_text(capture.axes[i], is_inner(stage(id)));
  return start;
}

/// Does the index go up or down by one from key to key? Only sums say so.
std::optional<KernelExpr::Neighbours> KernelExpr::neighbours(ExprId index) const {
  const ModExpr& node = node_at(index);
  if (node.op == ExprOp::key) return Neighbours{"key", 1};
  if (node.op != ExprOp::add && node.op != ExprOp::subtract) return std::nullopt;
  const bool left = is_vector(node.args[0]);
  if (left == is_vector(node.args[1])) return std::nullopt;
  auto line = neighbours(node.args[left ? 0 : 1]);
  if (!line) return std::nullopt;
  const bool subtract = node.op == ExprOp::subtract;
  const std::string& other = texts_.at(node.args[left ? 1 : 0]);
  if (left)
    line->first = fmt::format("({} {} {})", line->first, subtract ? "-" : "+", other);
  else
    line->first = fmt::format("({} {} {})", other, subtract ? "-" : "+", line->first);
  if (!left && subtract) line->direction = -line->direction;
  return line;
}

std::string KernelExpr::gather(ExprId id) {
  const ModExpr& node = node_at(id);
  const ModCapture& capture = take_capture(id);
  const std::string name = kernel_name(capture.name);
  const std::size_t count = node.args.size();
  if (!is_vector(id)) {
    const std::string offset = count == 0 ? "0" : flat_index(id, 0, count);
    const std::string element = element_text(capture.dtype, name, offset, options_.dialect);
    // A boolean is stored as uchar, and min(uchar, int) is ambiguous in OpenCL C.
    return capture.dtype == DType::boolean ? "(int)" + element : element;
  }

  // What every key has in common selects a part of the tensor; from there on sixteen indices are a vector of int.
  std::size_t common = 0;
  while (common + 1 < count && !is_vector(node.args[common])) ++common;
  const std::string part = part_start(id, common);
  if (common + 1 < count) {
    const std::string gather16 = helper_for(KernelHelper::gather16_f32, capture.dtype);
    return fmt::format("{}({}, {})", gather16, part, without_parentheses(flat_index(id, common, count)));
  }
  const bool inner = is_inner(stage(id));
  if (const auto line = neighbours(node.args.back())) {
    const auto first = line->direction > 0 ? KernelHelper::load16_f32 : KernelHelper::load16_down_f32;
    return fmt::format("{}({}, {}, {})", helper_for(first, capture.dtype), part, without_parentheses(line->first),
                       axis_text(capture.axes.back(), inner));
  }
  return fmt::format("{}({}, {})", helper_for(KernelHelper::gather16_f32, capture.dtype), part,
                     without_parentheses(resolved(node.args.back(), capture.axes.back(), inner)));
}

std::string KernelExpr::row_position(ExprId id) {
  const ModExpr& node = node_at(id);
  KW_CHECK(!is_vector(id), "a search in {} for each key", node.name);
  const ModCapture& capture = mod_.capture(node.name);
  const auto first = node.op == ExprOp::lower_bound ? KernelHelper::lower_bound_f32 : KernelHelper::upper_bound_f32;
  return fmt::format("{}({}, {}, {})", helper_for(first, capture.dtype), part_start(id, node.args.size() - 1),
                     axis_text(capture.axes.back(), is_inner(stage(id))),
                     without_parentheses(texts_.at(node.args.back())));
}

}  // namespace kw
