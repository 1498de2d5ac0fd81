#pragma once
// What a report says of one thing. Every number carries its unit and, where it was measured, its interval.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "record/attempt.hpp"

namespace kw {

enum class Unit : std::uint8_t {
  count,
  plain,  ///< a bare number that is no count
  nanoseconds,
  seconds,
  flop,    ///< floating-point operations
  gflops,  ///< 10^9 of them per second
  bytes,
  bytes_per_second,
  times,  ///< a ratio of speeds: 2 is twice as fast
  share,  ///< 1 is 100 %
  dollars,
};
/// As JSON names it: "ns", "GFLOP/s", "1", ...
[[nodiscard]] std::string_view to_string(Unit unit);

struct Number {
  double value = 0;
  Unit unit = Unit::count;
  std::optional<Interval> spread = {};
};

/// Nothing, for what was not measured or does not apply; never a number that stands for it.
using Value = std::variant<std::monostate, std::string, Number>;

}  // namespace kw
