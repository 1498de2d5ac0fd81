#include "operators/program/kernels/contract_packing.hpp"

#include <algorithm>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/factor_memory.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// Whether the steps of a row, or the rows of a step, are neighbours in memory.
bool is_read_well(const Contraction& contraction, const std::vector<KernelBuffer>& buffers) {
  const auto& element = contraction.first.element;
  if (!contraction.first.guards.empty() || element->op != StageOp::load ||
      buffers[element->tensor.buffer].dtype != DType::f32)
    return false;
  const auto address = load_address(*element, contraction.split.phases);
  return address && (is_one_run(*address, contraction.split.stage.inner) || is_one_run(*address, contraction.rows));
}

bool is_small(const Contraction& contraction, const StageAxes& copied) {
  constexpr double k_times = 16.0;
  return k_times * count_of(copied) <=
         count_of(contraction.batch) * count_of(contraction.rows) * count_of(contraction.columns);
}

/// Batches that the factor differs in, rows, and steps in the order in which tiles meet them.
StageAxes axes_of_copy(const Contraction& contraction) {
  StageAxes axes;
  for (const auto& axis : contraction.batch) {
    const bool guarded = std::any_of(contraction.first.guards.begin(), contraction.first.guards.end(),
                                     [&](const StageExpr& guard) { return axes_named(guard).count(axis.name) > 0; });
    if (contraction.first.axes.count(axis.name) > 0 || guarded) axes.push_back(axis);
  }
  return joined_axes(joined_axes(std::move(axes), contraction.rows), contraction.split.stage.inner);
}

ContractionFactor copied_factor(const StageAxes& axes, std::size_t buffer) {
  TensorView view{buffer, {}};
  StageIndices indices;
  ContractionFactor factor;
  for (const auto& axis : axes) {
    view.type.shape.push_back(axis.extent);
    indices.push_back(axis_index(axis.name));
    factor.axes.insert(axis.name);
  }
  factor.element = load(view, std::move(indices));
  return factor;
}

GroupKernels copying_of(const GroupContext& context, const Contraction& contraction, const StageAxes& axes,
                        const KernelBuffer& copy) {
  const auto& out = contraction.split.stage.buffer;
  KernelScope scope(context.buffers, stage_over(axes, {}), context.dialect, {"id", "copied"});
  const auto element = guarded_text(scope, contraction.first.element, contraction.first.guards);
  const auto indices = index_statements(scope, axes, "id", scope.used_axes());
  const auto count = scope.element_count(axes);
  ContractArguments arguments(context.dialect);
  arguments.add_loaded(scope, context.buffers, out);
  arguments.add(DType::f32, true, "copied", copy.argument);
  arguments.add_integers(scope);
  constexpr int k_threads = 256;
  const auto kernel = "pack_" + context.buffers[out].name;
  GroupKernels kernels;
  kernels.source = with_short_lines(
      fill(kernel_text("program/contract.cu", "pack_rows"),
           {{"name", context.buffers[out].name},
            {"qualifier", fill_lines(context.dialect->kernel_qualifier, {{"threads", std::to_string(k_threads)}})},
            {"signature", arguments.signature(kernel)},
            {"global_index", context.dialect->global_index},
            {"count", "(" + count + ")"},
            {"axes", join_lines(indices)},
            {"element", element}}));
  kernels.launches.push_back({kernel,
                              {fmt::format("ceil_div({}, {})", extent_of(axes).text(), k_threads)},
                              {std::to_string(k_threads)},
                              "0",
                              arguments.arguments()});
  kernels.scratch.push_back({copy.argument, DType::f32, bundle_operand(extent_of(axes))});
  kernels.helpers = scope.helpers();
  kernels.own_helpers = scope.own_helpers();
  return kernels;
}

}  // namespace

std::optional<PackedContraction> packed_contraction(const GroupContext& context, const Contraction& contraction) {
  const auto axes = axes_of_copy(contraction);
  if (is_read_well(contraction, context.buffers) || !is_small(contraction, axes) || !has_extents(axes))
    return std::nullopt;
  const auto name = "rows_of_" + context.buffers[contraction.split.stage.buffer].name;
  const KernelBuffer copy{name, name, DType::f32};
  PackedContraction packed{contraction, context.buffers, copying_of(context, contraction, axes, copy)};
  packed.buffers.push_back(copy);
  packed.contraction.first = copied_factor(axes, context.buffers.size());
  return packed;
}

}  // namespace kw
