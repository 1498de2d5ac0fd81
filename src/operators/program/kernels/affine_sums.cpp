#include "operators/program/kernels/affine_sums.hpp"

#include <algorithm>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/sum_algebra.hpp"
#include "program/stages/decomposition.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

/// By axes of `values`: the axis of the sum that goes through all of it and is named nowhere else; empty: none does.
std::vector<std::string> whole_axes(const Stage& values, const Stage& sum, const StageIndices& indices,
                                    const StageExpr& of_element) {
  const auto elsewhere = axes_named(of_element);
  std::vector<std::string> whole(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i]->op != StageOp::axis) continue;
    const auto& name = indices[i]->axis;
    const auto* axis = axis_named(sum.inner, name);
    const bool all = axis != nullptr && axis->extent.text() == values.axes[i].extent.text();
    bool once = elsewhere.count(name) == 0;
    for (std::size_t j = 0; j < indices.size(); ++j) once = once && (j == i || axes_named(indices[j]).count(name) == 0);
    if (all && once) whole[i] = name;
  }
  return whole;
}

/// A sum over no axes is a map.
Stage sum_of_means(Stage sum, const std::vector<std::string>& whole, const StageExpr& of_means,
                   const StageExpr& count) {
  std::erase_if(sum.inner, [&](const StageAxis& axis) { return std::ranges::count(whole, axis.name) > 0; });
  sum.body = of_means * count;
  if (!sum.inner.empty()) return sum;
  sum.body = with_result(sum.epilogue, sum.body);
  sum.epilogue = StageExpr();
  sum.kind = StageKind::map;
  sum.in_parts = false;
  return sum;
}

}  // namespace

std::optional<AffineSum> affine_sum_of(const StageProgram& program, const Stage& values, const Stage& sum,
                                       std::size_t buffer) {
  const bool simple = is_real_sum(sum) && sum.guards.empty() && !sum.place && sum.body->op != StageOp::load;
  const auto element = simple ? only_element(sum.body, values.buffer) : StageExpr();
  if (!element || epilogue_reads(sum, values.buffer)) return std::nullopt;
  const auto of_element = with_elements(sum.body, values.buffer, reduction_result(StageType::real));
  if (!sum_of_linear_in_result(of_element, StageExpr(1.0))) return std::nullopt;
  const auto shape = extents_of(values.axes);
  const auto indices = reshaped_indices(element->operands, element->tensor.type.shape, shape);
  const auto whole = whole_axes(values, sum, indices, of_element);
  AffineSum found;
  StageIndices kept;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    (whole[i].empty() ? found.means.axes : found.means.inner).push_back(values.axes[i]);
    if (whole[i].empty()) kept.push_back(indices[i]);
  }
  if (found.means.inner.empty()) return std::nullopt;
  found.buffer.name = program.buffers[values.buffer].name + "_means";
  while (std::ranges::count(program.buffers, found.buffer.name, &StageBuffer::name) > 0) found.buffer.name += "_";
  found.buffer.type = {ElementType::float32, extents_of(found.means.axes)};
  const auto count = real_count(found.means.inner);
  found.means.kind = StageKind::reduce;
  found.means.node = sum.node;
  found.means.buffer = buffer;
  found.means.in_parts = sum.in_parts;
  found.means.body = load({values.buffer, {ElementType::float32, shape}}, indices_of(values.axes));
  found.means.epilogue = reduction_result(StageType::real) / count;
  found.rest =
      sum_of_means(sum, whole, with_elements(sum.body, values.buffer, load({buffer, found.buffer.type}, kept)), count);
  return found;
}

}  // namespace kw
