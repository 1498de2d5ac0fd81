#pragma once
// What a model that learnt from earlier runs says of candidates before they are built. The search takes its word for
// the order in which it looks, never for what it leaves out, and asks others every fourth time.

#include <functional>
#include <span>
#include <vector>

#include "tensor/int_expr.hpp"

namespace kw {

struct CandidateToRank {
  IntBindings assignment;  ///< structural choices and tunables
  double estimate = 0;     ///< the style's
};

/// One number for each, lower is better: only the order means anything. The same for the same candidates for as long as
/// a run and its resumptions last.
using CandidateRanking = std::function<std::vector<double>(std::span<const CandidateToRank>)>;

/// Every so many proposals one is chosen as if there were no ranking: a quarter of them.
inline constexpr int k_unranked_every = 4;

}  // namespace kw
