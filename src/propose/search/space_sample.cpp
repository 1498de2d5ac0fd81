#include "propose/search/space_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kw {
namespace {

constexpr std::int64_t k_most_listed = std::int64_t{1} << 18;
constexpr int k_draws = 20000;  ///< to find a legal point that was not taken yet

}  // namespace

SpaceSample::SpaceSample(SearchSpace space, const std::vector<IntBindings>& seeds, std::uint64_t seed)
    : space_(std::move(space)), rng_(seed) {
  for (const auto& assignment : seeds) {
    if (auto point = space_.point_at(assignment)) guesses_.push_back(*std::move(point));
  }
  if (guesses_.empty()) {
    if (auto point = space_.point_at({})) guesses_.push_back(*std::move(point));
  }
  is_listed_ = space_.size() <= k_most_listed;
  if (is_listed_) list_points();
}

void SpaceSample::list_points() {
  SearchSpace::Walk walk;
  while (auto point = walk.next(space_)) {
    if (space_.is_consistent(*point)) listed_.push_back(*std::move(point));
  }
  for (std::size_t i = listed_.size(); i > 1; --i) {
    std::swap(listed_[i - 1], listed_[static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(i)))]);
  }
}

std::optional<SearchPoint> SpaceSample::draw() {
  if (is_listed_) {
    if (listed_.empty()) return std::nullopt;
    SearchPoint point = std::move(listed_.back());
    listed_.pop_back();
    return point;
  }
  for (int i = 0; i < k_draws; ++i) {
    auto point = space_.random_point(rng_);
    if (point && !taken_.contains(*point) && space_.is_consistent(*point)) return point;
  }
  return std::nullopt;
}

/// Nothing when the point was taken before or is not legal.
std::optional<SampledPoint> SpaceSample::take(const SearchPoint& point, std::string origin) {
  if (!taken_.insert(point).second) return std::nullopt;
  auto candidate = space_.candidate_at(point);
  if (!candidate) return std::nullopt;
  return SampledPoint{*std::move(candidate), space_.assignment(point), space_.estimate(point), std::move(origin)};
}

std::optional<SampledPoint> SpaceSample::next() {
  while (next_guess_ < guesses_.size()) {
    const std::size_t index = next_guess_++;
    if (auto taken = take(guesses_[index], fmt::format("seed {}", index + 1))) return taken;
  }
  while (const auto point = draw()) {
    if (auto taken = take(*point, "random")) return taken;
  }
  return std::nullopt;
}

}  // namespace kw
