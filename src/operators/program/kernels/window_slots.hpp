#pragma once
// What a tile of windows reads of a line: neighbours in slots, each of one place or of four, and what is asked before a
// slot is read.

#include <cstdint>
#include <vector>

#include "operators/program/kernels/window_tiles.hpp"

namespace kw {

/// Neighbouring places of a line that are read by one instruction, and under one condition.
struct WindowSlot {
  std::int64_t offset = 0, count = 0;  ///< from the tile's first place on; none: nobody reads it
  std::vector<StageExpr> bounds;       ///< that the text asks for
};

struct WindowSlots {
  std::int64_t width = 0;  ///< of all; 0: there are none, and each element is asked for and read where it is added
  std::vector<WindowSlot> slots;

  [[nodiscard]] bool asked() const;
};

/// The slots of a tile's line, without bounds. Of four places of which outputs need one, this is read alone.
[[nodiscard]] WindowSlots window_slots(const WindowTile& tile, std::int64_t width);

// For `outputs` in a line.

/// Bounds of single places: only what no size can change is not asked for.
void bound_singles(WindowSlots& singles, const WindowTile& tile, const Extent& outputs);
/// Bounds of fours, and what has to hold for all tiles: a bound that all tiles keep at the sizes that were read is
/// asked for once, of the last tile.
[[nodiscard]] std::vector<StageExpr> bound_fours(WindowSlots& fours, const WindowTile& tile, const Extent& outputs);

}  // namespace kw
