#include "operators/program/kernels/maps.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/access.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

constexpr double k_shortest_mapped_row = 256;
/// Work-items of a row, where a work-group would be too many for it.
constexpr std::int64_t k_least_lanes = 32;
constexpr std::int64_t k_most_lanes = 128;

/// Work-items, and elements for each. Of more than 2^28 elements an H200 took 1.5 % less so than by 256 work-items with
/// as many, in the geometric mean of 14 problems, and none more than 1 % more; with four it took least of most and 11 %
/// more of softplus (docs/results/2026-11-30-h200-quick-quotients.md).
std::vector<Tunable> map_tunables() {
  return {{"MAP_THREADS", {128, 256, 512}, 128}, {"MAP_ELEMENTS", {1, 2, 4, 8, 16}, 8}};
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

/// The last axes of a map, as few as make a row of columns that is long enough for work-groups of its own.
struct MapAxes {
  StageAxes outer, columns;
};

MapAxes map_axes(const Stage& stage) {
  MapAxes axes{stage.axes, {}};
  while (!axes.outer.empty() && count_of(axes.columns) < k_shortest_mapped_row) {
    axes.columns.insert(axes.columns.begin(), axes.outer.back());
    axes.outer.pop_back();
  }
  return axes;
}

/// Whether all rows read the same long row too, such as weights of a layer norm. Its columns come from memory once
/// where the rows' blocks for them run side by side.
bool reads_long_row_of_all(const Stage& stage, const MapAxes& axes) {
  constexpr double k_long = 1 << 18;  // shorter ones stay in the second cache
  if (axes.outer.empty() || count_of(axes.columns) < k_long) return false;
  const auto uses_any = [](const StageNode& load, const StageAxes& of) {
    return std::ranges::any_of(of, [&](const StageAxis& axis) {
      return std::ranges::any_of(load.operands, [&](const StageExpr& index) { return depends_on(index, axis.name); });
    });
  };
  bool found = false;
  for_each_load(stage.body, [&](const StageNode& load) {
    found = found || (uses_any(load, axes.columns) && !uses_any(load, axes.outer));
  });
  return found;
}

class MapWriter {
 public:
  MapWriter(const GroupContext& context, const Stage& stage)
      : context_(context), stage_(stage), axes_(map_axes(stage)), scope_(context.buffers, stage, context.dialect) {
    constexpr double k_elements = 8;  // of a work-item, by default
    scope_.divide_quickly(context.program);
    auto lanes = k_least_lanes;
    while (lanes <= k_most_lanes && static_cast<double>(lanes) * k_elements < count_of(axes_.columns)) lanes *= 2;
    if (lanes <= k_most_lanes) lanes_ = lanes;
    count_ = join(axes_.columns, " * ", [&](const StageAxis& axis) { return scope_.extent(axis.extent); });
    if (axes_.columns.size() > 1) count_ = "(" + count_ + ")";
  }

  GroupKernels write() {
    const auto loads = shared_loads(stage_, context_);
    if (!loads.empty()) write_fours(loads);
    write_elements();
    BodyWriter opening;
    const bool rows_first = !lanes_ && reads_long_row_of_all(stage_, axes_);
    if (!rows_first) {
      opening.line(
          fmt::format("const int chunks = ({0} + {1} * MAP_ELEMENTS - 1) / ({1} * MAP_ELEMENTS);", count_, threads()));
    }
    if (lanes_) {
      opening.line(fmt::format("const int lane = threadIdx.x % {};", *lanes_));
      opening.line(fmt::format("const int block = blockIdx.x * (MAP_THREADS / {0}) + threadIdx.x / {0};", *lanes_));
      opening.line("const int row = block / chunks;");
      opening.line(fmt::format("const int start = block % chunks * ({} * MAP_ELEMENTS);", *lanes_));
      opening.line(fmt::format("if (row >= {}) return;", scope_.element_count(axes_.outer)));
    } else if (rows_first) {
      opening.line(fmt::format("const int rows = (int)({});", scope_.element_count(axes_.outer)));
      opening.line("const int row = blockIdx.x % rows;");
      opening.line("const int start = blockIdx.x / rows * (MAP_THREADS * MAP_ELEMENTS);");
    } else {
      opening.line("const int row = blockIdx.x / chunks;");
      opening.line("const int start = blockIdx.x % chunks * (MAP_THREADS * MAP_ELEMENTS);");
    }
    opening.lines(row_coordinates(axes_.outer, scope_));
    return kernel(opening.text() + body_.text());
  }

 private:
  /// Work-items of a row's chunk.
  [[nodiscard]] std::string threads() const { return lanes_ ? std::to_string(*lanes_) : "MAP_THREADS"; }
  [[nodiscard]] std::string thread() const { return lanes_ ? "lane" : "threadIdx.x"; }

  /// Indices along the columns' axes of the element `at`, as far as they are used; the last one may change.
  void write_indices() {
    std::string inner;
    std::vector<std::string> lines;
    for (std::size_t i = axes_.columns.size(); i-- > 0;) {
      const auto& axis = axes_.columns[i];
      const bool last = i + 1 == axes_.columns.size();
      const auto extent = scope_.extent(axis.extent);
      const auto place = inner.empty() ? "at" : fmt::format("at / ({})", inner);
      if (last || scope_.used_axes().count(axis.name) > 0) {
        lines.push_back(fmt::format("{}int {} = {};", last ? "" : "const ", scope_.axis(axis.name),
                                    i == 0 ? place : fmt::format("{} % {}", place, extent)));
      }
      inner = inner.empty() ? extent : extent + " * " + inner;
    }
    body_.lines(lines);
  }

  void open_parts(const std::string& parts) {
    body_.line("#pragma unroll");
    body_.open(fmt::format("for (int part = 0; part < {}; ++part)", parts));
  }

  /// Four neighbouring elements at a time, where the last axis and the buffers begin at places that allow it.
  void write_fours(const std::vector<const StageNode*>& loads) {
    const auto& output = context_.buffers[stage_.buffer].name;
    const auto column = scope_.axis(stage_.axes.back().name);
    const auto place = fmt::format("start + (part * {} + {}) * 4", threads(), thread());
    std::string addresses = fmt::format("(unsigned long){}", output);
    std::vector<std::string> reads, elements;
    for (const auto* load : loads) {
      const auto& buffer = scope_.buffer(load->tensor.buffer).name;
      const auto four = scope_.new_name(fmt::format("four_{}", reads.size()));
      const auto element = scope_.new_name(fmt::format("element_{}", reads.size()));
      reads.push_back(
          fmt::format("const float4 {} = *(const float4*)({} + {});", four, buffer, scope_.place_text(*load)));
      elements.push_back(fmt::format(
          "const float {0} = item == 0 ? {1}.x : item == 1 ? {1}.y : item == 2 ? {1}.z : {1}.w;", element, four));
      addresses += fmt::format(" | (unsigned long){}", buffer);
      scope_.call_value(load, element);
    }
    const auto shared = scope_.shared_values({stage_.body}, true);
    const auto value = without_parentheses(scope_.text(stage_.body));
    body_.open(fmt::format("if (MAP_ELEMENTS % 4 == 0 && {} % 4 == 0 && ({}) % 16 == 0)",
                           scope_.extent(stage_.axes.back().extent), addresses));
    body_.line("float4 fours[(MAP_ELEMENTS + 3) / 4];");
    open_parts("MAP_ELEMENTS / 4");
    body_.line("float values[4];");
    body_.line(fmt::format("const int at = min({}, {} - 4);", place, count_));
    write_indices();
    body_.line(fmt::format("const int first = {};", column));
    body_.lines(reads);
    body_.line("#pragma unroll");
    body_.open("for (int item = 0; item < 4; ++item)");
    body_.line(fmt::format("{} = first + item;", column));
    body_.lines(elements);
    body_.lines(shared);
    body_.line(fmt::format("values[item] = {};", value));
    body_.close();
    body_.line("fours[part] = make_float4(values[0], values[1], values[2], values[3]);");
    body_.close();
    open_parts("MAP_ELEMENTS / 4");
    body_.line(fmt::format("const int at = {};", place));
    body_.line(fmt::format("if (at < {0}) *(float4*)({1} + (long)row * {0} + at) = fours[part];", count_, output));
    body_.close();
    body_.line("return;");
    body_.close();
    scope_.forget_values();
  }

  void write_elements() {
    const auto& buffer = context_.buffers[stage_.buffer];
    const auto shared = scope_.shared_values({stage_.body}, true);
    const auto value = without_parentheses(scope_.text(stage_.body));
    body_.line(fmt::format("const int first = start + {};", thread()));
    body_.line(fmt::format("{} values[MAP_ELEMENTS];", kernel_type(stage_.body->type)));
    open_parts("MAP_ELEMENTS");
    body_.line(fmt::format("const int at = min(first + part * {}, {} - 1);", threads(), count_));
    write_indices();
    body_.lines(shared);
    body_.line(fmt::format("values[part] = {};", value));
    body_.close();
    open_parts("MAP_ELEMENTS");
    body_.line(fmt::format("const int at = first + part * {};", threads()));
    body_.line(fmt::format("if (at < {}) {}", count_,
                           store_text(buffer.dtype, buffer.name, fmt::format("(long)row * {} + at", count_),
                                      "values[part]", scope_.dialect())));
    body_.close();
  }

  [[nodiscard]] GroupKernels kernel(const std::string& body) {
    const KernelSignature signature(context_, scope_, {stage_.buffer});
    auto kernels = signature.kernels(kernel_of_buffer(context_, stage_.buffer), "MAP_THREADS", body);
    const auto outer = extents_of(axes_.outer);
    const auto chunks =
        fmt::format("ceil_div({}, {} * MAP_ELEMENTS)", count_expression(extents_of(axes_.columns)), threads());
    const auto all = outer.empty() ? chunks : fmt::format("({}) * {}", count_expression(outer), chunks);
    kernels.launches[0].grid = {lanes_ ? fmt::format("ceil_div({}, MAP_THREADS / {})", all, *lanes_) : all};
    kernels.tunables = map_tunables();
    return kernels;
  }

  const GroupContext& context_;
  const Stage& stage_;
  MapAxes axes_;
  KernelScope scope_;
  std::string count_;  ///< of the columns, as an int
  std::optional<std::int64_t> lanes_;
  BodyWriter body_;
};

}  // namespace

bool maps_take(const GroupContext& context, const StageGroup& group) {
  if (context.dialect->warp.empty() || group.stages.size() != 1) return false;
  const auto& stage = context.program.stages[group.stages[0]];
  return stage.kind == StageKind::map && !stage.place && count_of(stage.axes) >= k_shortest_mapped_row;
}

GroupKernels maps_kernels(const GroupContext& context, const StageGroup& group) {
  return MapWriter(context, context.program.stages[group.stages[0]]).write();
}

}  // namespace kw
