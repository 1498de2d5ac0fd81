#include "operators/program/kernels/window_tiles.hpp"

#include <algorithm>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/row_fours.hpp"
#include "operators/program/kernels/window_columns.hpp"
#include "program/stages/access.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// More are not unrolled: their text takes too long to compile, and their weights too many registers.
constexpr std::int64_t k_most_tile_taps = 64;
/// Of a line, which is as many registers.
constexpr std::int64_t k_most_span = 20;
constexpr std::int64_t k_fours = 4;

/// Splits a guard into bounds of `place`. False where a part is something else.
bool add_bounds(const StageExpr& guard, const std::string& place, std::vector<PlaceBound>& bounds) {
  if (guard->op == StageOp::both) {
    return std::all_of(guard->operands.begin(), guard->operands.end(),
                       [&](const StageExpr& one) { return add_bounds(one, place, bounds); });
  }
  if (guard->op != StageOp::less && guard->op != StageOp::less_equal) return false;
  const bool falls = depends_on(guard->operands[0], place);
  const auto& side = guard->operands[falls ? 0 : 1];
  if (falls && depends_on(guard->operands[1], place)) return false;
  const auto affine = affine_index(side, {});
  if (!affine || affine->coefficients.size() != 1 || !affine->terms.empty()) return false;
  const auto& coefficient = affine->coefficients.begin()->second;
  if (!coefficient.is_constant() || coefficient.value() <= 0 || !axes_used(guard->operands[falls ? 1 : 0]).empty())
    return false;
  bounds.push_back({guard, falls});
  return true;
}

/// Whether bounds keep all loads within their tensors along the axis `place`.
bool keep_within_tensors(const std::vector<PlaceBound>& bounds, const Stage& stage, const std::string& place) {
  bool kept = true;
  for_each_load(stage.body, [&](const StageNode& load) {
    for (std::size_t i = 0; i < load.operands.size(); ++i) {
      if (!depends_on(load.operands[i], place)) continue;
      const auto within = load.operands[i] < StageExpr(load.tensor.type.shape[i]);
      kept = kept && std::any_of(bounds.begin(), bounds.end(),
                                 [&](const PlaceBound& one) { return same_expression(one.holds, within); });
    }
  });
  return kept;
}

/// No place behind those of the last output: there may be nothing of the tensor.
PlaceBound end_of(const WindowPlaces& places, const Extent& outputs) {
  const auto end = (StageExpr(outputs) - 1) * static_cast<int>(places.stride) +
                   static_cast<int>((places.taps - 1) * places.dilation + places.start + 1);
  return {axis_index(places.place) < end, true};
}

bool sort_guards(WindowTile& tile) {
  for (const auto& guard : tile.stage.guards) {
    const bool of_column = depends_on(guard, tile.column.place);
    const bool of_line = tile.line && depends_on(guard, tile.line->place);
    const bool of_tap = depends_on(guard, tile.column.tap) || (tile.line && depends_on(guard, tile.line->tap));
    if ((of_column && of_line) || of_tap) return false;
    if (of_column) {
      if (!add_bounds(guard, tile.column.place, tile.column_bounds)) return false;
    } else if (of_line) {
      if (!add_bounds(guard, tile.line->place, tile.line_bounds)) return false;
    } else {
      tile.guard = both(tile.guard, guard);
    }
  }
  return true;
}

/// Loads along the column, which are elements of a line where they have one.
bool find_loads(WindowTile& tile) {
  const auto certain = certain_loads(tile.stage.body);
  bool fit = true;
  for_each_load(tile.stage.body, [&](const StageNode& load) {
    const auto names = [&](const std::string& axis) {
      return std::count_if(load.operands.begin(), load.operands.end(),
                           [&](const StageExpr& index) { return depends_on(index, axis); });
    };
    const auto columns = names(tile.column.place);
    if (columns == 0) return;
    const auto lines = tile.line ? names(tile.line->place) : 0;
    const auto is_axis = [&](const StageExpr& index, const std::string& axis) {
      return index->op == StageOp::axis && index->axis == axis;
    };
    const bool is_line =
        lines == 0 || std::any_of(load.operands.begin(), load.operands.end(),
                                  [&](const StageExpr& index) { return is_axis(index, tile.line->place); });
    const bool of_tap = names(tile.column.tap) > 0 || (tile.line && names(tile.line->tap) > 0);
    fit = fit && columns == 1 && lines <= 1 && is_line && !of_tap && load.type == StageType::real &&
          is_axis(load.operands.back(), tile.column.place) &&
          std::find(certain.begin(), certain.end(), &load) != certain.end();
    tile.loads.push_back(&load);
  });
  return fit && !tile.loads.empty();
}

/// The line above the last axis whose elements windows share, where there is one.
void find_line(WindowTile& tile) {
  auto& stage = tile.stage;
  if (stage.axes.size() < 2 || stage.inner.size() < 2) return;
  const auto& output = stage.axes[stage.axes.size() - 2].name;
  auto by_line = stage;
  const auto line = name_window_places(by_line, output, "line");
  if (!line || elements_depend_on(by_line, output) || line->tap != stage.inner[stage.inner.size() - 2].name) return;
  tile.line = line;
  stage = std::move(by_line);
}

/// In additions, of what a column's element is computed with: tiles have no registers left for more.
constexpr double k_most_arithmetic = 4;

/// How many outputs side by side: four where sixteen bytes hold four neighbours, and few places are read for them that
/// neighbours read too. Else one; 0 where shared memory is better, which it can be where windows have columns: also
/// where no two windows share an element (0.20 for 0.32 ms in 2-38 of KernelBench on an H100).
std::int64_t outputs_of(const GroupContext& context, const WindowTile& tile) {
  if (tile.pools && (tile.column.taps - 1) * tile.column.dilation < tile.column.stride) return 0;
  KernelScope scope(context.buffers, tile.stage, context.dialect);
  const auto fours = row_fours(tile.stage, tile.column.place, k_fours, nullptr, scope);
  const bool whole = fours && fours->hold_as_read && fours->loads.size() == tile.loads.size();
  auto four = tile;
  four.outputs = k_fours;
  const bool close = tile.column.span(k_fours) <= 2 * k_fours * tile.column.stride &&
                     arithmetic_of(tile.stage.body) <= k_most_arithmetic;
  if (whole && four.span() <= k_most_span && (close || !tile.pools)) return k_fours;
  return tile.pools || tile.column.taps > k_most_span ? 0 : 1;
}

/// Whether columns are reduced by themselves: sums always, so that they are added in one order, and others where it
/// takes much less, since all columns of a tile are more registers than its outputs.
bool reduces_columns(const WindowTile& tile) {
  if (tile.stage.op == ReduceOp::sum || tile.stage.op == ReduceOp::product) return true;
  std::int64_t columns = 0;
  for (std::int64_t offset = 0; offset < tile.span(); ++offset) columns += tile.reads(offset) ? 1 : 0;
  const auto taps = static_cast<double>(tile.outputs * tile.column.taps);
  const auto lines = count_of(tile.stage.inner) / static_cast<double>(tile.column.taps);
  return lines * static_cast<double>(columns) + taps < 0.7 * lines * taps;
}

/// Axes for the names that a tile's text has besides those of its stage.
void add_names(WindowTile& tile) {
  const auto add = [&](const std::string& name) {
    tile.stage.axes.push_back({name, 1});
    return name;
  };
  const auto add_free = [&](const char* wanted) { return add(free_axis_name(tile.stage, wanted)); };
  add(tile.column.place);
  tile.last_column = add_free("last_column");
  if (!tile.line) return;
  add(tile.line->place);
  tile.first_line = add_free("first_line");
  tile.last_line = add_free("last_line");
}

}  // namespace

bool WindowTile::reads(std::int64_t offset) const {
  for (std::int64_t output = 0; output < outputs; ++output) {
    const auto within = offset - shift() - output * column.stride;
    if (within >= 0 && within % column.dilation == 0 && within / column.dilation < column.taps) return true;
  }
  return false;
}

std::optional<WindowTile> window_tile(const GroupContext& context, const Stage& stage) {
  WindowTile tile;
  tile.stage = stage;
  const auto& x = stage.axes.back();
  const auto column = name_window_places(tile.stage, x.name, "column");
  if (!column || elements_depend_on(tile.stage, x.name) || column->tap != stage.inner.back().name) return std::nullopt;
  tile.column = *column;
  find_line(tile);
  if (!sort_guards(tile) || !find_loads(tile)) return std::nullopt;
  tile.pools = window_columns(stage).has_value();
  add_names(tile);
  tile.outputs = outputs_of(context, tile);
  if (tile.outputs == 0 || column->taps * (tile.line ? tile.line->taps : 1) > k_most_tile_taps) return std::nullopt;
  if (tile.outputs > 1 && !keep_within_tensors(tile.column_bounds, tile.stage, column->place))
    tile.column_bounds.push_back(end_of(*column, x.extent));
  if (tile.line && !keep_within_tensors(tile.line_bounds, tile.stage, tile.line->place))
    tile.line_bounds.push_back(end_of(*tile.line, stage.axes[stage.axes.size() - 2].extent));
  tile.apart = tile.pools && reduces_columns(tile);
  tile.outer.assign(stage.inner.begin(), stage.inner.end() - (tile.line ? 2 : 1));
  return tile;
}

bool holds_at(const PlaceBound& bound, const std::string& place, std::int64_t at) {
  const auto value = [&](const StageExpr& side) {
    const auto as_read = rewritten(side, [](const StageExpr& node) {
      return node->op == StageOp::integer ? StageExpr(Extent(node->integer.value())) : StageExpr();
    });
    return value_at(as_read, {{place, at}});
  };
  const auto left = value(bound.holds->operands[0]);
  const auto right = value(bound.holds->operands[1]);
  return left && right && (bound.holds->op == StageOp::less ? *left < *right : *left <= *right);
}

bool is_of_constants(const PlaceBound& bound) {
  bool constant = true;
  (void)rewritten(bound.holds, [&](const StageExpr& node) {
    constant = constant && (node->op != StageOp::integer || node->integer.is_constant());
    return StageExpr();
  });
  return constant;
}

}  // namespace kw
