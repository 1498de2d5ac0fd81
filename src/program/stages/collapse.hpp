#pragma once
// Fewer axes for the same elements: neighbouring axes that every tensor of some stages has as neighbours become one,
// and axes of one element go. Kernels then compute fewer indices, and see what is contiguous.

#include <span>

#include "program/stages/stage.hpp"

namespace kw {

/// Stages whose first `common` axes are the same rows, under the same names in all of them, are collapsed together, so
/// that they stay the same. A stage's buffer keeps its elements in their order, but its shape is no longer that of the
/// stage's axes. At least one inner axis is left, and the axis of a scan. Returns how many common axes are left.
std::size_t collapse_axes(std::span<Stage* const> stages, std::size_t common);
void collapse_axes(Stage& stage);
/// The axes that a reduction reduces alone: what reads the stage's results sees them as before.
void collapse_inner_axes(Stage& reduction);

}  // namespace kw
