#include "operators/program/kernels/window_slots.hpp"

#include <algorithm>

#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

StageExpr at_offset(const PlaceBound& bound, const WindowTile& tile, const StageExpr& column, std::int64_t offset) {
  return with_axes(bound.holds, {{tile.column.place, column + static_cast<int>(offset)}});
}

/// Whether the bound holds for that place of every tile, with as many outputs as were read.
bool holds_for_all(const PlaceBound& bound, const WindowTile& tile, const Extent& outputs, std::int64_t offset) {
  const auto last = bound.falls ? (outputs.value() - 1) / tile.outputs * tile.outputs : 0;
  const auto first_place = last * tile.column.stride + tile.column.start - tile.shift();
  return holds_at(bound, tile.column.place, first_place + offset);
}

/// The condition for those slots that the bound holds for; absent where no size can change it. Others get the bound.
StageExpr add_bound(WindowSlots& fours, const WindowTile& tile, const Extent& outputs, const PlaceBound& bound) {
  const auto first = StageExpr(static_cast<int>(tile.column.start - tile.shift()));
  StageExpr condition;
  for (auto& slot : fours.slots) {
    if (slot.count == 0) continue;
    if (!holds_for_all(bound, tile, outputs, slot.offset)) {
      slot.bounds.push_back(at_offset(bound, tile, axis_index(tile.column.place), slot.offset));
    } else if (bound.falls) {  // the last such slot speaks for those before it
      condition = at_offset(bound, tile, axis_index(tile.last_column), slot.offset);
    } else if (!condition && !is_of_constants(bound)) {
      condition = at_offset(bound, tile, first, slot.offset);
    }
  }
  return condition;
}

}  // namespace

bool WindowSlots::asked() const {
  return std::any_of(slots.begin(), slots.end(), [](const WindowSlot& one) { return !one.bounds.empty(); });
}

WindowSlots window_slots(const WindowTile& tile, std::int64_t width) {
  WindowSlots result{width, {}};
  for (std::int64_t first = 0; first < tile.span(); first += width) {
    WindowSlot slot{first, 0, {}};
    for (auto offset = first; offset < first + width; ++offset) {
      if (!tile.reads(offset)) continue;
      if (slot.count == 0) slot.offset = offset;
      ++slot.count;
    }
    if (slot.count > 1) slot = {first, width, {}};
    result.slots.push_back(std::move(slot));
  }
  return result;
}

void bound_singles(WindowSlots& singles, const WindowTile& tile, const Extent& outputs) {
  for (auto& slot : singles.slots) {
    if (slot.count == 0) continue;
    for (const auto& bound : tile.column_bounds) {
      if (!bound.falls && is_of_constants(bound) && holds_for_all(bound, tile, outputs, slot.offset)) continue;
      slot.bounds.push_back(at_offset(bound, tile, axis_index(tile.column.place), slot.offset));
    }
  }
}

std::vector<StageExpr> bound_fours(WindowSlots& fours, const WindowTile& tile, const Extent& outputs) {
  std::vector<StageExpr> conditions;
  for (const auto& bound : tile.column_bounds) {
    const auto condition = add_bound(fours, tile, outputs, bound);
    if (condition) conditions.push_back(condition);
  }
  return conditions;
}

}  // namespace kw
