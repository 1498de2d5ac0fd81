#include "loop/static_ranking.hpp"

#include <limits>

namespace kw {

StaticRanking::StaticRanking(const Problem& problem, const DeviceFacts& device, const std::string& target,
                             const std::string& style_name) {
  const auto style = find_style(problem.op, target, style_name);
  if (!style) return;
  auto space = SearchSpace::open(**style, problem, device);
  if (space) space_.emplace(*std::move(space));
}

double StaticRanking::estimate(const Candidate& candidate) {
  const auto point = space_ ? space_->point_of(candidate) : std::nullopt;
  return point ? space_->estimate(*point) : std::numeric_limits<double>::infinity();
}

bool StaticRanking::becomes_best(const Attempt& attempt) {
  if (!attempt.verdict.accepted()) return false;
  const double estimated = estimate(attempt.candidate);
  if (best_ && !(estimated < *best_)) return false;
  best_ = estimated;
  return true;
}

}  // namespace kw
