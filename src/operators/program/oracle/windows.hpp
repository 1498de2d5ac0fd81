#pragma once
// A window that slides over the last one to three axes of a tensor [N, C, ...] or [C, ...], for convolutions and
// pooling. A tensor with fewer windowed axes is seen with axes of extent 1 before them, so that one loop serves all.

#include <array>
#include <cstdint>

#include "operators/program/oracle/oracle_call.hpp"

namespace kw::program_oracle {

using Window = std::array<std::int64_t, 3>;

/// The last `count` extents, behind ones.
[[nodiscard]] Window last_extents(const Extents& extents, std::size_t count);
/// An argument of `count` numbers, behind as many `neutral` ones as are missing.
[[nodiscard]] Window window_argument(const OracleCall& call, std::string_view name, std::size_t count,
                                     std::int64_t neutral);
/// How many of the last axes the operator slides over: the digit in its name, as in "conv2d".
[[nodiscard]] std::size_t window_axes(std::string_view op);

[[nodiscard]] inline std::int64_t volume_of(const Window& window) {
  return window[0] * window[1] * window[2];
}

}  // namespace kw::program_oracle
