#pragma once
// Names for what slides over the last axes of a tensor: convolutions and pooling.

#include <string>
#include <vector>

#include "program/stages/decomposition.hpp"

namespace kw {

/// The last of z, y, x, as many as a window has axes.
[[nodiscard]] inline std::vector<std::string> window_names(std::size_t axes, const std::string& prefix = "") {
  std::vector<std::string> names;
  for (std::size_t i = 3 - axes; i < 3; ++i) names.push_back(prefix + std::string(1, "zyx"[i]));
  return names;
}

/// n (where there is a batch), a name for the channels, then the window's.
[[nodiscard]] inline StageAxes image_axes(const Shape& shape, std::size_t windows, const std::string& channels) {
  std::vector<std::string> names = window_names(windows);
  names.insert(names.begin(), channels);
  if (shape.size() == windows + 2) names.insert(names.begin(), "n");
  return named_axes(shape, names);
}

}  // namespace kw
