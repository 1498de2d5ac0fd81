#pragma once
// Which kernel is best where nothing can be timed: the accepted one with the lowest static estimate.

#include <optional>

#include "propose/search/static_estimate.hpp"
#include "record/attempt.hpp"

namespace kw {

class StaticRanking {
 public:
  explicit StaticRanking(StaticEstimate estimate) : estimate_(std::move(estimate)) {}

  /// Whether this attempt was accepted and its estimate is lower than those of all before it; remembers it if so.
  [[nodiscard]] bool becomes_best(const Attempt& attempt);

 private:
  StaticEstimate estimate_;
  std::optional<double> best_;
};

}  // namespace kw
