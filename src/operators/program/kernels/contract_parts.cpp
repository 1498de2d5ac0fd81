#include "operators/program/kernels/contract_parts.hpp"

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_products.hpp"
#include "operators/program/kernels/contract_text.hpp"

namespace kw {

GroupKernels sum_of_parts(const GroupContext& context, const Contraction& contraction, const std::string& parts) {
  const auto& stage = contraction.split.stage;
  const auto& out = context.buffers[stage.buffer];
  KernelScope scope(context.buffers, stage, context.dialect, contract_gpu_locals());
  scope.divide_quickly(context.program);
  const auto stored = stored_sum(scope, contraction, out, "sum");
  const auto all = joined_axes(joined_axes(contraction.batch, contraction.rows), contraction.columns);
  const auto count = scope.element_count(all);
  const auto rows = scope.extent(extent_of(contraction.rows));
  const auto columns = scope.extent(extent_of(contraction.columns));
  const auto used = scope.used_axes();
  auto axes = index_statements(scope, contraction.batch, "batch", used);
  const bool batched = !axes.empty();
  for (auto& one : index_statements(scope, contraction.rows, "m", used)) axes.push_back(std::move(one));
  for (auto& one : index_statements(scope, contraction.columns, "n", used)) axes.push_back(std::move(one));
  ContractArguments arguments(context.dialect);
  arguments.add(DType::f32, false, "parts", parts);
  arguments.add_loaded(scope, context.buffers, stage.buffer);
  arguments.add(out.dtype, true, out.name, out.argument);
  arguments.add_integers(scope);
  constexpr int k_threads = 256;
  const auto kernel = kernel_of_buffer(context, stage.buffer);
  GroupKernels kernels;
  kernels.source = with_short_lines(
      fill(kernel_text("program/contract.cu", "sum_parts"),
           {{"name", out.name},
            {"qualifier", fill_lines(context.dialect->kernel_qualifier, {{"threads", std::to_string(k_threads)}})},
            {"signature", arguments.signature(kernel)},
            {"global_index", context.dialect->global_index},
            {"count", "(" + count + ")"},
            {"column_count", columns},
            {"row_count", rows},
            {"batch", batched ? fmt::format("const int batch = (int)(id / ((long){} * {}));", rows, columns) : ""},
            {"axes", join_lines(axes)},
            {"stored_guard", stored.guard.empty() ? "" : fmt::format("if (!({})) return;", stored.guard)},
            {"values", stored.values},
            {"store", stored.store}}));
  kernels.launches.push_back({kernel,
                              {fmt::format("ceil_div({}, {})", extent_of(all).text(), k_threads)},
                              {std::to_string(k_threads)},
                              "0",
                              arguments.arguments()});
  kernels.scratch.push_back({parts, DType::f32, fmt::format("SPLIT_K * {}", bundle_operand(extent_of(all)))});
  kernels.helpers = scope.helpers();
  kernels.own_helpers = scope.own_helpers();
  return kernels;
}

}  // namespace kw
