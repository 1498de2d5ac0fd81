#pragma once
// A ranking of candidates (propose/candidate_ranking.hpp) over the points of a space.

#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.hpp"
#include "propose/candidate_ranking.hpp"
#include "propose/search/search_space.hpp"

namespace kw {

/// As `ranking` has them, one for each point.
[[nodiscard]] std::vector<double> rank_points(const SearchSpace& space, const CandidateRanking& ranking,
                                              std::span<const SearchPoint> points);

/// The foremost of up to `among` points of the space, drawn at random where it has more, the foremost first. No two
/// differ in one dimension alone: neighbours are the local search's business.
[[nodiscard]] std::vector<SearchPoint> foremost_points(SearchSpace& space, const CandidateRanking& ranking,
                                                       std::size_t count, std::size_t among, Rng& rng);

}  // namespace kw
