#include "loop/static_ranking.hpp"

namespace kw {

bool StaticRanking::becomes_best(const Attempt& attempt) {
  if (!attempt.verdict.accepted()) return false;
  const double estimated = estimate_(attempt.candidate);
  if (best_ && !(estimated < *best_)) return false;
  best_ = estimated;
  return true;
}

}  // namespace kw
