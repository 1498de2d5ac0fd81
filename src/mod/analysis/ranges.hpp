#pragma once
// Interval arithmetic on a mod: bounds on every node's value when the indices are known to lie in ranges. Bounds are
// sound for the semantics of mod_semantics.hpp, rounding and 32-bit wrap-around included.

#include <vector>

#include "mod/analysis/analysis.hpp"
#include "mod/analysis/capture_bounds.hpp"

namespace kw {

/// Where the leaves lie. Axes not bound lie in 1 to 2^24, as every problem's do; captured tensors without bounds within
/// what is declared of them.
struct LeafRanges {
  TileRange tile;
  const Axes* axes = nullptr;
  const CaptureBounds* bounds = nullptr;
  const ValueRange* score = nullptr;  ///< absent: any number, or none
};
/// Any index of any workload that a problem may have.
[[nodiscard]] LeafRanges all_indices();

/// Adds an entry for each node that `ranges` lacks.
void extend_ranges(const ModFunction& mod, const LeafRanges& leaves, std::vector<ValueRange>& ranges);

/// True when the range holds only values of 32-bit integers.
[[nodiscard]] bool fits_int32(double low, double high);

}  // namespace kw
