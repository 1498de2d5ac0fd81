#include "operators/program/oracle/index_space.hpp"

#include <algorithm>

namespace kw::program_oracle {

std::int64_t volume_of(const Extents& extents) {
  std::int64_t volume = 1;
  for (const auto extent : extents) volume *= extent;
  return volume;
}

Extents strides_of(const Extents& extents) {
  Extents strides(extents.size());
  std::int64_t stride = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= extents[i];
  }
  return strides;
}

Extents broadcast_strides(const Extents& from, const Extents& to) {
  const auto dense = strides_of(from);
  Extents strides(to.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) strides[to.size() - from.size() + i] = dense[i];
  }
  return strides;
}

Place place_of(std::int64_t flat, const Extents& extents) {
  Place place{};
  for (std::size_t i = extents.size(); i-- > 0;) {
    place[i] = flat % extents[i];
    flat /= extents[i];
  }
  return place;
}

StridedMap::StridedMap(const Extents& extents, const Extents& strides, std::int64_t offset)
    : offset_(offset), count_(volume_of(extents)) {
  for (std::size_t i = extents.size(); i-- > 0;) {
    if (extents[i] == 1) continue;
    if (!axes_.empty() && strides[i] == axes_.back().stride * axes_.back().extent) {
      axes_.back().extent *= extents[i];
    } else {
      axes_.push_back({extents[i], strides[i]});
    }
  }
}

SplitSpace split_space(const Extents& extents, const std::vector<std::size_t>& walked) {
  const auto strides = strides_of(extents);
  std::array<Extents, 2> sizes;
  std::array<Extents, 2> steps;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::size_t part = std::find(walked.begin(), walked.end(), i) != walked.end() ? 1 : 0;
    sizes[part].push_back(extents[i]);
    steps[part].push_back(strides[i]);
  }
  return {StridedMap(sizes[0], steps[0]), StridedMap(sizes[1], steps[1])};
}

Lines::Lines(const Extents& extents, std::size_t axis) {
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (i == axis) length = extents[i];
    if (i > axis) stride *= extents[i];
    if (i != axis) count *= extents[i];
  }
}

}  // namespace kw::program_oracle
