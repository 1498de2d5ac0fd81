#pragma once
// Which kernel is best where nothing can be timed: the accepted one with the lowest static estimate of its style. An
// estimate orders kernels of one style and says nothing about how fast any of them is.

#include <optional>
#include <string>

#include "propose/search/search_space.hpp"
#include "record/attempt.hpp"

namespace kw {

class StaticRanking {
 public:
  /// `problem` must outlive the ranking. Without such a style every candidate is worth the same.
  StaticRanking(const Problem& problem, const DeviceFacts& device, const std::string& target,
                const std::string& style_name);

  /// Whether this attempt was accepted and its estimate is lower than those of all before it; remembers it if so.
  [[nodiscard]] bool becomes_best(const Attempt& attempt);

 private:
  [[nodiscard]] double estimate(const Candidate& candidate);

  std::optional<SearchSpace> space_;
  std::optional<double> best_;
};

}  // namespace kw
