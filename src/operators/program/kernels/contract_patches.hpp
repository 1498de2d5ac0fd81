#pragma once
// Convolutions as products of a filter and patches: the part of a tensor that a tile of outputs needs is loaded once,
// and every tap reads it from another place on. kernels/program/patches.cu has the kernels.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contraction.hpp"

namespace kw {

/// An index of the tensor that moves with an axis of the tile.
struct PatchAxis {
  std::string axis;           ///< of the output
  std::int64_t step = 1;      ///< of the index, from an output to the next; at least 1
  std::string tap;            ///< axis that is summed over; empty: there is none
  std::int64_t taps = 1;      ///< its extent
  std::int64_t dilation = 0;  ///< of the index, from a tap to the next; may be below 0
  AffineIndex rest;           ///< of the index, by axes of batches
  Extent extent;              ///< of the tensor
  std::string index;          ///< what the index is called in the guards
  [[nodiscard]] std::int64_t apart() const { return dilation < 0 ? -dilation : dilation; }
  [[nodiscard]] std::int64_t span() const { return apart() * (taps - 1); }
};

struct PatchContraction {
  std::optional<PatchAxis> line;    ///< tiles have lines
  std::optional<PatchAxis> across;  ///< absent: the pixels of `tile` are one run of memory, each read once
  StageAxes tile;                   ///< columns of a tile: of a run any number, else as many as there are of the above
  StageAxes outer;                  ///< columns that a tile has one index of
  StageAxis depth;                  ///< that is summed over by fours: the channels
  StageAxes others;                 ///< inner axes that a patch has one index of
  AffineIndex start;                ///< of the element, without what `line`, `across` or a run add
  Extent depth_stride;              ///< in elements
  std::vector<StageExpr> pixel_guards;  ///< by the names of indices
  std::vector<StageExpr> patch_guards;  ///< by axes that a patch has one index of
  /// Axes of the pixels of a tile's line, or of its run.
  [[nodiscard]] StageAxes run() const { return {tile.begin() + (line ? 1 : 0), tile.end()}; }
  [[nodiscard]] std::int64_t taps() const { return (line ? line->taps : 1) * (across ? across->taps : 1); }
};

/// Absent where the second factor is no tensor of f32 that is read along an axis of the output, or the filter is no
/// small part of the work.
[[nodiscard]] std::optional<PatchContraction> patch_contraction(const Contraction& contraction);

}  // namespace kw
