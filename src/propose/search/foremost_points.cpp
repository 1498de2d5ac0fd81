#include "propose/search/foremost_points.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace kw {
namespace {

bool are_neighbours(const SearchSpace& space, const SearchPoint& a, const SearchPoint& b) {
  const IntBindings one = space.assignment(a);
  const IntBindings other = space.assignment(b);
  const auto differ = std::ranges::count_if(one, [&](const auto& entry) {
    const auto same = other.find(entry.first);
    return same == other.end() || same->second != entry.second;
  });
  return differ <= 1;
}

std::vector<SearchPoint> drawn_points(SearchSpace& space, std::size_t among, Rng& rng) {
  std::set<SearchPoint> drawn;
  if (!space.exceeds(static_cast<std::int64_t>(among))) {
    SearchSpace::Walk walk;
    while (const auto point = walk.next(space)) {
      if (space.is_consistent(*point)) drawn.insert(*point);
    }
  } else {
    space.widen();
    for (std::size_t i = 0; i < 4 * among && drawn.size() < among; ++i) {
      const auto point = space.random_point(rng);
      if (point && space.is_consistent(*point)) drawn.insert(*point);
    }
  }
  return {drawn.begin(), drawn.end()};
}

}  // namespace

std::vector<double> rank_points(const SearchSpace& space, const CandidateRanking& ranking,
                                std::span<const SearchPoint> points) {
  std::vector<CandidateToRank> candidates;
  for (const auto& point : points) candidates.push_back({space.assignment(point), space.estimate(point)});
  auto ranks = ranking(candidates);
  KW_CHECK(ranks.size() == points.size(), "{} ranks of {} points", ranks.size(), points.size());
  return ranks;
}

std::vector<SearchPoint> foremost_points(SearchSpace& space, const CandidateRanking& ranking, std::size_t count,
                                         std::size_t among, Rng& rng) {
  const auto points = drawn_points(space, among, rng);
  const auto ranks = rank_points(space, ranking, points);
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return ranks[i]; });
  std::vector<SearchPoint> foremost;
  for (const auto i : order) {
    if (foremost.size() == count) break;
    const auto near = [&](const SearchPoint& taken) { return are_neighbours(space, taken, points[i]); };
    if (std::ranges::none_of(foremost, near)) foremost.push_back(points[i]);
  }
  return foremost;
}

}  // namespace kw
