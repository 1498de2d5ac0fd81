#pragma once
// How many places a window has on an axis: convolutions and pooling.

#include "program/graph/extent.hpp"

namespace kw {

/// floor((extent + padding - dilation * (kernel - 1) - 1) / stride) + 1 with the padding of both ends in `padding`
/// (https://pytorch.org/docs/stable/generated/torch.nn.Conv2d.html); not positive where the window does not fit.
[[nodiscard]] inline Result<Extent> window_places(const Extent& extent, const Extent& kernel, const Extent& stride,
                                                  const Extent& padding, const Extent& dilation) {
  KW_TRY(const auto steps, Extent::difference(kernel, 1));
  KW_TRY(const auto reach, Extent::product(dilation, steps));
  KW_TRY(const auto padded, Extent::sum(extent, padding));
  KW_TRY(const auto behind, Extent::difference(padded, reach));
  KW_TRY(const auto free, Extent::difference(behind, 1));
  KW_TRY(const auto places, Extent::quotient(free, stride));
  return Extent::sum(places, 1);
}

}  // namespace kw
