#include "suite/budget_shares.hpp"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

/// `least` of it at any rate: nothing can be begun with less.
template <typename T>
std::optional<T> part(const std::optional<T>& each, const std::optional<T>& all, T used, std::int64_t turns, T least) {
  if (!all) return each;
  const T left = std::max(T{0}, static_cast<T>(*all - used));
  const T share = std::max(least, static_cast<T>(left / static_cast<T>(turns)));
  return each ? std::min(*each, share) : share;
}

}  // namespace

BudgetLimits budget_share(const BudgetLimits& per_problem, const BudgetLimits& all, const BudgetUse& used,
                          std::int64_t waiting, std::int64_t devices) {
  constexpr double k_least_seconds = 1e-3;
  constexpr double k_least_dollars = 1e-6;
  const std::int64_t problems = std::max<std::int64_t>(waiting, 1);
  const std::int64_t turns = (problems + devices - 1) / std::max<std::int64_t>(devices, 1);
  BudgetLimits share;
  share.wall_seconds = part(per_problem.wall_seconds, all.wall_seconds, used.wall_seconds, turns, k_least_seconds);
  share.candidates = part<std::int64_t>(per_problem.candidates, all.candidates, used.candidates, problems, 1);
  share.device_seconds =
      part(per_problem.device_seconds, all.device_seconds, used.device_seconds, problems, k_least_seconds);
  share.tokens = part<std::int64_t>(per_problem.tokens, all.tokens, used.tokens, problems, 1);
  share.dollars = part(per_problem.dollars, all.dollars, used.dollars, problems, k_least_dollars);
  return share;
}

bool is_used_up(const BudgetLimits& all, const BudgetUse& used) {
  const auto over = [](const auto& limit, auto amount) { return limit && amount >= *limit; };
  return over(all.wall_seconds, used.wall_seconds) || over(all.candidates, used.candidates) ||
         over(all.device_seconds, used.device_seconds) || over(all.tokens, used.tokens) ||
         over(all.dollars, used.dollars);
}

}  // namespace kw
