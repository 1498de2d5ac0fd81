#pragma once
// Where along an axis of a tensor the taps of a window lie, under a name of its own: what depends on an output's index
// and on a tap's through this place alone is the same for all outputs that the element is in.

#include <cstdint>
#include <optional>
#include <string>

#include "program/stages/stage.hpp"

namespace kw {

struct WindowPlaces {
  std::string place;  ///< the name: output * stride + tap * dilation + start
  std::string tap;    ///< an inner axis
  std::int64_t taps = 1, stride = 1, dilation = 1, start = 0;

  /// Places from the first one of an output to the last one of the output that is so many further.
  [[nodiscard]] std::int64_t span(std::int64_t outputs) const {
    return (outputs - 1) * stride + (taps - 1) * dilation + 1;
  }
};

/// Names the places that the stage's loads have along its axis `output`, in all expressions but the epilogue. Absent
/// where no load has any.
[[nodiscard]] std::optional<WindowPlaces> name_window_places(Stage& stage, const std::string& output,
                                                             const std::string& wanted);

// " * 2" and " + 3", " - 3"; nothing for 1 and for 0.
[[nodiscard]] std::string times_text(std::int64_t factor);
[[nodiscard]] std::string signed_text(std::int64_t number);

/// A name that no axis of the stage has.
[[nodiscard]] std::string free_axis_name(const Stage& stage, std::string wanted);

/// Whether what the stage reduces, or whether it counts, depends on the axis.
[[nodiscard]] bool elements_depend_on(const Stage& stage, const std::string& axis);

}  // namespace kw
