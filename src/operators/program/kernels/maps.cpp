#include "operators/program/kernels/maps.hpp"

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/stage_kernel.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_shortest_mapped_row = 256;

Tunable map_threads() {
  return {"MAP_THREADS", {128, 256, 512}, 256};
}
/// Elements for each work-item.
Tunable map_elements() {
  return {"MAP_ELEMENTS", {1, 2, 4, 8}, 4};
}

std::string map_body(const Stage& stage, const GroupContext& context, KernelScope& scope) {
  const auto& buffer = context.buffers[stage.buffer];
  const auto& last = stage.axes.back();
  const auto column = scope.axis(last.name);
  const auto columns = scope.extent(last.extent);
  const StageAxes outer(stage.axes.begin(), stage.axes.end() - 1);
  BodyWriter indices;
  BodyWriter reads;
  reads.line(fmt::format("{} values[MAP_ELEMENTS];", kernel_type(stage.body->type)));
  reads.line("#pragma unroll");
  reads.open("for (int part = 0; part < MAP_ELEMENTS; ++part)");
  reads.line(fmt::format("const int {} = min(first + part * MAP_THREADS, {} - 1);", column, columns));
  reads.lines(scope.shared_values({stage.body}, true));
  reads.line(fmt::format("values[part] = {};", without_parentheses(scope.text(stage.body))));
  reads.close();
  reads.line("#pragma unroll");
  reads.open("for (int part = 0; part < MAP_ELEMENTS; ++part)");
  reads.line(fmt::format("const int {} = first + part * MAP_THREADS;", column));
  reads.line(fmt::format("if ({} < {}) {}", column, columns,
                         store_text(buffer.dtype, buffer.name, fmt::format("(long)row * {} + {}", columns, column),
                                    "values[part]", scope.dialect())));
  reads.close();
  indices.lines(row_coordinates(outer, scope));
  return fmt::format(
             "  const int chunks = ({} + MAP_THREADS * MAP_ELEMENTS - 1) / (MAP_THREADS * MAP_ELEMENTS);\n"
             "  const int row = blockIdx.x / chunks;\n"
             "  const int first = blockIdx.x % chunks * (MAP_THREADS * MAP_ELEMENTS) + threadIdx.x;\n",
             columns) +
         indices.text() + reads.text();
}

}  // namespace

bool maps_take(const GroupContext& context, const StageGroup& group) {
  if (context.dialect->warp.empty() || group.stages.size() != 1) return false;
  const auto& stage = context.program.stages[group.stages[0]];
  return stage.kind == StageKind::map && !stage.place && !stage.axes.empty() &&
         stage.axes.back().extent.value() >= k_shortest_mapped_row;
}

GroupKernels maps_kernels(const GroupContext& context, const StageGroup& group) {
  const auto& stage = context.program.stages[group.stages[0]];
  KernelScope scope(context.buffers, stage, context.dialect);
  const auto body = map_body(stage, context, scope);
  KernelSignature signature(context, scope, {stage.buffer});
  auto kernels = signature.kernels(kernel_of_buffer(context, stage.buffer), "MAP_THREADS", body);
  Shape outer;
  for (const auto& axis : stage.axes) outer.push_back(axis.extent);
  const auto columns = outer.back().text();
  outer.pop_back();
  const auto chunks = fmt::format("ceil_div({}, MAP_THREADS * MAP_ELEMENTS)", columns);
  kernels.launches[0].grid = {outer.empty() ? chunks : fmt::format("({}) * {}", count_expression(outer), chunks)};
  kernels.tunables = {map_threads(), map_elements()};
  return kernels;
}

}  // namespace kw
