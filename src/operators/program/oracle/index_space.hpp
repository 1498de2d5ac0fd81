#pragma once
// Index arithmetic that the oracle's loops share: where an element of one dense tensor lies in another.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kw::program_oracle {

using Extents = std::vector<std::int64_t>;

[[nodiscard]] std::int64_t volume_of(const Extents& extents);
/// Row-major.
[[nodiscard]] Extents strides_of(const Extents& extents);
/// For each axis of `to` the stride in a dense tensor of `from`, whose axes are the last ones; 0 where it is repeated.
[[nodiscard]] Extents broadcast_strides(const Extents& from, const Extents& to);

/// More than the axes of any tensor of a graph.
constexpr std::size_t k_most_axes = 20;
using Place = std::array<std::int64_t, k_most_axes>;
/// The coordinates of element `flat` of a dense tensor.
[[nodiscard]] Place place_of(std::int64_t flat, const Extents& extents);

/// From the flat index of a dense space to an index along strides. Neighbouring axes that go on from each other are
/// walked as one, so that a dense operand costs no division.
class StridedMap {
 public:
  StridedMap() = default;
  StridedMap(const Extents& extents, const Extents& strides, std::int64_t offset = 0);

  [[nodiscard]] std::int64_t operator()(std::int64_t flat) const {
    std::int64_t at = offset_;
    for (std::size_t i = 0; i + 1 < axes_.size(); ++i) {
      at += flat % axes_[i].extent * axes_[i].stride;
      flat /= axes_[i].extent;
    }
    return axes_.empty() ? at : at + flat * axes_.back().stride;
  }
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// From each multiple of it on, as many indices lead to neighbours in succession.
  [[nodiscard]] std::int64_t run() const {
    return axes_.empty() || axes_[0].stride != 1 || count_ == 0 ? 1 : axes_[0].extent;
  }

 private:
  struct Axis {
    std::int64_t extent = 1;
    std::int64_t stride = 0;
  };
  std::vector<Axis> axes_;  ///< innermost first
  std::int64_t offset_ = 0;
  std::int64_t count_ = 1;
};

/// A tensor seen as some axes that stay and some that are walked.
struct SplitSpace {
  StridedMap kept;    ///< from the flat index over the kept axes
  StridedMap walked;  ///< from the flat index over the others; add both
};
[[nodiscard]] SplitSpace split_space(const Extents& extents, const std::vector<std::size_t>& walked);

/// The lines of a dense tensor along one axis.
struct Lines {
  Lines(const Extents& extents, std::size_t axis);

  [[nodiscard]] std::int64_t start(std::int64_t line) const { return line / stride * length * stride + line % stride; }
  [[nodiscard]] std::int64_t line_of(std::int64_t flat) const {
    return flat / (length * stride) * stride + flat % stride;
  }
  [[nodiscard]] std::int64_t position_of(std::int64_t flat) const { return flat / stride % length; }

  std::int64_t length = 1;  ///< elements of a line
  std::int64_t stride = 1;  ///< between them
  std::int64_t count = 1;
};

}  // namespace kw::program_oracle
