#include "verify/checking/sampled_rows.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace kw {

std::vector<std::int64_t> sampled_rows(std::int64_t rows, double flops, double affordable, Rng& rng) {
  constexpr std::int64_t k_least_rows = 32;
  const double share = std::min(affordable / std::max(flops, 1.0), 1.0);
  const std::int64_t wanted = std::max(k_least_rows, static_cast<std::int64_t>(share * static_cast<double>(rows)));
  if (wanted >= rows) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(rows));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::set<std::int64_t> some = {0, rows - 1};
  while (std::ssize(some) < wanted) some.insert(rng.below(rows));
  return {some.begin(), some.end()};
}

}  // namespace kw
