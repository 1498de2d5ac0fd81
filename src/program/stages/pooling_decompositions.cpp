// Pooling: reductions over a window. What lies in the padding does not count.

#include <array>

#include "program/stages/decomposition_table.hpp"
#include "program/stages/windows.hpp"

namespace kw {
namespace {

/// A window over the last axes: where it starts in the input, and which element of it is met.
struct PoolingWindow {
  Stage stage;              ///< axes, inner axes and guards
  StageIndices place;       ///< of the element in the input
  StageExpr flat_position;  ///< of the element among those of its channel
  StageExpr counted;        ///< elements that an average divides by, as a real
};

std::size_t windows_of(const Decomposition& d) {
  return static_cast<std::size_t>(d.op()[d.op().size() - 2] - '0');
}

void open_window(PoolingWindow& window, const Decomposition& d, std::size_t windows) {
  window.stage.kind = StageKind::reduce;
  window.stage.axes = image_axes(d.result().shape, windows, "c");
  for (std::size_t i = 0; i + windows < window.stage.axes.size(); ++i) {
    window.place.push_back(axis_index(window.stage.axes[i].name));
  }
}

/// The next axis of the window: the element is `index` of `extent`.
void add_axis(PoolingWindow& window, const std::string& name, const Extent& steps, const StageExpr& index,
              const Extent& extent) {
  window.stage.inner.push_back({name, steps});
  window.place.push_back(index);
  window.flat_position = window.flat_position ? window.flat_position * StageExpr(extent) + index : index;
}

Extent value_at(const Shape& values, std::size_t axis) {
  return values.size() == 1 ? values[0] : values[axis];
}

/// max_pool and avg_pool.
PoolingWindow sliding_window(const Decomposition& d) {
  const auto windows = windows_of(d);
  const auto shape = d.tensor("input").type.shape;
  const bool averaged = d.op().starts_with("avg");
  const bool with_padding = averaged && d.flag("count_include_pad");
  const auto names = window_names(windows);
  PoolingWindow window;
  open_window(window, d, windows);
  for (std::size_t i = 0; i < windows; ++i) {
    const auto& extent = shape[shape.size() - windows + i];
    const auto kernel = value_at(d.integers("kernel_size"), i);
    const auto padding = value_at(d.integers("padding"), i);
    const auto dilation = averaged ? Extent(1) : value_at(d.integers("dilation"), i);
    const auto start = axis_index(names[i]) * StageExpr(value_at(d.integers("stride"), i)) - StageExpr(padding);
    const auto index = start + axis_index("k" + names[i]) * StageExpr(dilation);
    const bool padded = !padding.is_constant() || padding.value() != 0;
    const bool overhangs = d.flag("ceil_mode");
    if (padded || overhangs) window.stage.guards.push_back(inside(index, extent));
    add_axis(window, "k" + names[i], kernel, index, extent);
    StageExpr count = kernel;
    const auto end = start + StageExpr(kernel);
    if (with_padding && overhangs) count = minimum(end, StageExpr(extent) + StageExpr(padding)) - start;
    if (!with_padding && (padded || overhangs)) count = minimum(end, extent) - maximum(start, 0);
    const auto factor = converted(count, StageType::real);
    window.counted = window.counted ? window.counted * factor : factor;
  }
  if (averaged && d.given("divisor_override")) window.counted = d.real("divisor_override");
  return window;
}

/// Window i of o begins at floor(i * extent / o) and ends before ceil((i + 1) * extent / o).
Result<PoolingWindow> adaptive_window(const Decomposition& d) {
  const auto windows = windows_of(d);
  const auto shape = d.tensor("input").type.shape;
  const auto names = window_names(windows);
  PoolingWindow window;
  open_window(window, d, windows);
  for (std::size_t i = 0; i < windows; ++i) {
    const auto& extent = shape[shape.size() - windows + i];
    const auto& places = window.stage.axes[window.stage.axes.size() - windows + i].extent;
    const auto place = axis_index(names[i]);
    const auto start = floor_divide(place * StageExpr(extent), places);
    const auto end = floor_divide((place + 1) * StageExpr(extent) + StageExpr(places) - 1, places);
    const auto index = start + axis_index("k" + names[i]);
    const bool single = places.is_constant() && places.value() == 1;
    // Windows differ by one at most.
    KW_TRY(auto longest, Extent::quotient(extent, places));
    if (!single) {
      KW_TRY(longest, Extent::sum(longest, 2));
      window.stage.guards.push_back(index < end);
    }
    add_axis(window, "k" + names[i], longest, single ? axis_index("k" + names[i]) : index, extent);
    const auto factor = converted(single ? StageExpr(extent) : end - start, StageType::real);
    window.counted = window.counted ? window.counted * factor : factor;
  }
  return window;
}

void reduce_window(Decomposition& d, const PoolingWindow& window, ReduceOp op, std::size_t output) {
  Stage stage = window.stage;
  stage.op = op;
  stage.body = load(d.tensor("input"), window.place);
  if (op == ReduceOp::sum) stage.epilogue = reduction_result(StageType::real) / window.counted;
  if (op == ReduceOp::argmax) stage.position = window.flat_position;
  // The whole of an image is a long sum.
  const bool whole = d.op().starts_with("adaptive") && stage.guards.empty();
  if (op == ReduceOp::sum && whole) {
    d.reduce_in_parts(to_output(output), std::move(stage));
  } else {
    d.add(to_output(output), std::move(stage));
  }
}

Result<void> pool(Decomposition& d) {
  const bool adaptive = d.op().starts_with("adaptive");
  KW_TRY(const auto window, adaptive ? adaptive_window(d) : Result<PoolingWindow>(sliding_window(d)));
  const bool averaged = d.op().find("avg") != std::string::npos;
  if (averaged) {
    reduce_window(d, window, ReduceOp::sum, 0);
    return {};
  }
  if (d.wanted(0)) reduce_window(d, window, ReduceOp::maximum, 0);
  if (d.wanted(1)) reduce_window(d, window, ReduceOp::argmax, 1);
  return {};
}

constexpr std::array k_pooling_decompositions = {
    DecompositionRow{"max_pool1d", pool},          DecompositionRow{"max_pool2d", pool},
    DecompositionRow{"max_pool3d", pool},          DecompositionRow{"avg_pool1d", pool},
    DecompositionRow{"avg_pool2d", pool},          DecompositionRow{"avg_pool3d", pool},
    DecompositionRow{"adaptive_avg_pool1d", pool}, DecompositionRow{"adaptive_avg_pool2d", pool},
    DecompositionRow{"adaptive_avg_pool3d", pool}, DecompositionRow{"adaptive_max_pool1d", pool},
    DecompositionRow{"adaptive_max_pool2d", pool}, DecompositionRow{"adaptive_max_pool3d", pool},
};

}  // namespace

std::span<const DecompositionRow> pooling_decompositions() {
  return k_pooling_decompositions;
}

}  // namespace kw
