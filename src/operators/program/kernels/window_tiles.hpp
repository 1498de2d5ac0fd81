#pragma once
// Windows as tiles: a work-item has some outputs side by side in some lines, one below the other. It reads each line of
// what their windows cover once, and adds an element to all outputs that it is in.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operators/program/kernels/program_bundle.hpp"
#include "operators/program/kernels/window_places.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// A comparison that holds from some place on, or up to one.
struct PlaceBound {
  StageExpr holds;
  bool falls = false;  ///< it holds up to a place
};

struct WindowTile {
  Stage stage;                       ///< by the places below; its axes are followed by those that it names besides
  WindowPlaces column;               ///< along the last axis of the output
  std::optional<WindowPlaces> line;  ///< along the axis before it
  std::string first_line, last_line, last_column;  ///< axes of these names stand for places of a whole tile
  bool pools = false;                              ///< windows have columns; see window_columns.hpp
  bool apart = false;                              ///< these are reduced by themselves, and then those of each output
  std::int64_t outputs = 1;                        ///< side by side
  StageAxes outer;                                 ///< inner axes before the taps of lines and columns
  std::vector<const StageNode*> loads;             ///< of elements along the column
  std::vector<PlaceBound> column_bounds, line_bounds;
  StageExpr guard;  ///< what else must hold, for all elements of the tile alike

  /// Places before the first one of an output: where several are side by side, tiles begin at multiples of four.
  [[nodiscard]] std::int64_t shift() const { return outputs == 1 ? 0 : (column.start % 4 + 4) % 4; }
  [[nodiscard]] std::int64_t span() const { return column.span(outputs) + shift(); }
  /// Whether some output reads the place that is so far from the tile's first one.
  [[nodiscard]] bool reads(std::int64_t offset) const;
  /// Numbers that a work-item gathers of each line.
  [[nodiscard]] std::int64_t states() const { return apart ? span() : outputs; }
};

/// Absent where an element's value or whether it counts follows from its places in another way than that of pooling and
/// convolutions, and where a way with shared memory is better.
[[nodiscard]] std::optional<WindowTile> window_tile(const GroupContext& context, const Stage& stage);

/// Whether the bound holds with the extents as they were read, at this place along its axis `place`.
[[nodiscard]] bool holds_at(const PlaceBound& bound, const std::string& place, std::int64_t at);
/// Whether it says the same whatever the extents are.
[[nodiscard]] bool is_of_constants(const PlaceBound& bound);

}  // namespace kw
