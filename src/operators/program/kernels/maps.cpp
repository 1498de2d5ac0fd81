#include "operators/program/kernels/maps.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/access.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_shortest_mapped_row = 256;

Tunable map_threads() {
  return {"MAP_THREADS", {128, 256, 512}, 256};
}
/// Elements for each work-item.
Tunable map_elements() {
  return {"MAP_ELEMENTS", {1, 2, 4, 8, 16}, 8};
}

/// Whether the load is of the map's own column, and of a row that is there for every element: four neighbours are then
/// four neighbours in memory, sixteen bytes at a place that sixteen divides where four divides the columns.
bool is_own_column(const StageNode& load, const Stage& stage) {
  const auto& shape = load.tensor.type.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto& index = load.operands[i];
    const auto named = [&](const StageAxis& axis) {
      return index->op == StageOp::axis && axis.name == index->axis && axis.extent.text() == shape[i].text();
    };
    const bool is_axis = std::any_of(stage.axes.begin(), stage.axes.end(), named);
    const bool is_first = index->op == StageOp::integer && index->integer.text() == "0";
    if (i + 1 == shape.size() ? !named(stage.axes.back()) : !is_axis && !is_first) return false;
  }
  return !shape.empty();
}

/// The loads that four neighbouring elements share; none where an element reads others of a row than its own column.
std::vector<const StageNode*> shared_loads(const Stage& stage, const GroupContext& context) {
  std::vector<const StageNode*> loads;
  bool fits = context.buffers[stage.buffer].dtype == DType::f32 && stage.body->type == StageType::real;
  for_each_load(stage.body, [&](const StageNode& load) {
    const auto uses_column = [&](const StageExpr& index) { return depends_on(index, stage.axes.back().name); };
    if (std::none_of(load.operands.begin(), load.operands.end(), uses_column)) return;
    fits = fits && context.buffers[load.tensor.buffer].dtype == DType::f32 && is_own_column(load, stage);
    loads.push_back(&load);
  });
  return fits ? loads : std::vector<const StageNode*>();
}

/// Four neighbouring elements at a time, where the row and the buffers begin at places that allow it.
void write_fours(BodyWriter& body, const Stage& stage, const GroupContext& context, KernelScope& scope,
                 const std::vector<const StageNode*>& loads) {
  const auto& output = context.buffers[stage.buffer].name;
  const auto column = scope.axis(stage.axes.back().name);
  const auto columns = scope.extent(stage.axes.back().extent);
  const std::string place = "start + (part * MAP_THREADS + threadIdx.x) * 4";
  std::string addresses = fmt::format("(unsigned long){}", output);
  std::vector<std::string> fours;
  std::vector<std::string> reads;
  for (const auto* load : loads) {
    const auto& buffer = scope.buffer(load->tensor.buffer).name;
    fours.push_back(scope.new_name(fmt::format("four_{}", fours.size())));
    reads.push_back(
        fmt::format("const float4 {} = *(const float4*)({} + {});", fours.back(), buffer, scope.place_text(*load)));
    addresses += fmt::format(" | (unsigned long){}", buffer);
  }
  body.open(fmt::format("if (MAP_ELEMENTS % 4 == 0 && {} % 4 == 0 && ({}) % 16 == 0)", columns, addresses));
  body.line("float4 fours[(MAP_ELEMENTS + 3) / 4];");
  body.line("#pragma unroll");
  body.open("for (int part = 0; part < MAP_ELEMENTS / 4; ++part)");
  body.line("float values[4];");
  body.line(fmt::format("const int first = min({}, {} - 4);", place, columns));
  // Places of the first of four, then the elements of all.
  body.line(fmt::format("int {} = first;", column));
  body.lines(reads);
  body.line("#pragma unroll");
  body.open("for (int item = 0; item < 4; ++item)");
  body.line(fmt::format("{} = first + item;", column));
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const auto value = scope.new_name(fmt::format("element_{}", i));
    body.line(fmt::format("const float {0} = item == 0 ? {1}.x : item == 1 ? {1}.y : item == 2 ? {1}.z : {1}.w;", value,
                          fours[i]));
    scope.call_value(loads[i], value);
  }
  body.lines(scope.shared_values({stage.body}, true));
  body.line(fmt::format("values[item] = {};", without_parentheses(scope.text(stage.body))));
  body.close();
  body.line("fours[part] = make_float4(values[0], values[1], values[2], values[3]);");
  body.close();
  body.line("#pragma unroll");
  body.open("for (int part = 0; part < MAP_ELEMENTS / 4; ++part)");
  body.line(fmt::format("const int {} = {};", column, place));
  body.line(
      fmt::format("if ({0} < {1}) *(float4*)({2} + (long)row * {1} + {0}) = fours[part];", column, columns, output));
  body.close();
  body.line("return;");
  body.close();
  scope.forget_values();
}

std::string map_body(const Stage& stage, const GroupContext& context, KernelScope& scope) {
  const auto& buffer = context.buffers[stage.buffer];
  const auto& last = stage.axes.back();
  const auto column = scope.axis(last.name);
  const auto columns = scope.extent(last.extent);
  const StageAxes outer(stage.axes.begin(), stage.axes.end() - 1);
  BodyWriter indices;
  BodyWriter reads;
  if (const auto loads = shared_loads(stage, context); !loads.empty()) write_fours(reads, stage, context, scope, loads);
  reads.line("const int first = start + threadIdx.x;");
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
             "  const int start = blockIdx.x % chunks * (MAP_THREADS * MAP_ELEMENTS);\n",
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
