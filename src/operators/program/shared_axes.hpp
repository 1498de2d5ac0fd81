#pragma once
// Elements of a program's output that follow from the same elements: a channel of a batch norm from that channel of all
// images. Which axes they are alike on hardly depends on extents, and is found out on a small workload.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "problem/problem.hpp"

namespace kw {

/// The fewest axes of the output so that a row, or with `by_element` an element, takes little after another one that is
/// alike on them; rows have all axes but the innermost. None where there are none, where those that differ on all axes
/// share as much, and where outputs differ in shape.
[[nodiscard]] std::vector<std::size_t> shared_axes(const Problem& problem, bool by_element);

/// The rows of an output, or its elements, by what they are on some axes.
class AxisSlices {
 public:
  /// `sharing`, ascending, may name the innermost axis where rows are elements.
  AxisSlices(const TensorSpec& output, const Axes& axes, const std::vector<std::size_t>& sharing, bool by_element);

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Along the other axes, row-major.
  [[nodiscard]] std::int64_t row_of(std::int64_t slice, std::int64_t place) const;

 private:
  struct Axis {
    std::int64_t extent = 1;
    std::int64_t stride = 1;  ///< in rows
    bool shared = false;
  };
  std::vector<Axis> axes_;  ///< innermost first
  std::int64_t count_ = 1;
};

}  // namespace kw
