#pragma once
// Windows that are taken apart along the last axis of the output: into columns, each reduced over the other axes of the
// window, and the columns of an output.

#include <optional>

#include "operators/program/kernels/window_places.hpp"

namespace kw {

struct WindowColumns {
  Stage columns;        ///< of an output line's columns: its last axis counts them, its inner axes are the other ones
  WindowPlaces places;  ///< along the line; their tap is the inner axis that is left to the output
};

/// Absent where elements depend on the output's place in its line in another way, as those of a convolution do through
/// its weights, or where the window has no constant shape.
[[nodiscard]] std::optional<WindowColumns> window_columns(const Stage& stage);

}  // namespace kw
