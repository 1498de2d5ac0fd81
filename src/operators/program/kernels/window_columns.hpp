#pragma once
// Windows that are taken apart along the last axis of the output: into columns, each reduced over the other axes of the
// window, and the columns of an output.

#include <optional>
#include <string>

#include "program/stages/stage.hpp"

namespace kw {

struct WindowColumns {
  Stage columns;       ///< of an output line's columns: its last axis counts them, its inner axes are the other ones
  std::string column;  ///< that axis
  std::string tap;     ///< the inner axis that is left to the output
  std::int64_t taps = 1;
  // The column of a tap is output * stride + tap * dilation + start.
  std::int64_t stride = 1, dilation = 1, start = 0;
};

/// Absent where elements depend on the output's place in its line in another way, as those of a convolution do through
/// its weights, or where the window has no constant shape.
[[nodiscard]] std::optional<WindowColumns> window_columns(const Stage& stage);

}  // namespace kw
