#pragma once
// Which points of a space are timed where no search chooses: the style's own guesses, then legal points at random, none
// twice. For sweeps, whose tables must not lean towards what some search likes.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "propose/search/search_space.hpp"

namespace kw {

struct SampledPoint {
  Candidate candidate;
  IntBindings assignment;  ///< structural choices and tunables
  double estimate = 0;     ///< the style's
  std::string origin;      ///< "seed 2", "random"
};

/// The same points in the same order for the same space, guesses and seed.
class SpaceSample {
 public:
  /// `seeds` are assignments as Style::seeds gives them. A space of more than 2^18 points is drawn from and not listed:
  /// its last points may then not be found.
  SpaceSample(SearchSpace space, const std::vector<IntBindings>& seeds, std::uint64_t seed);

  /// Nothing when there is none left.
  [[nodiscard]] std::optional<SampledPoint> next();
  [[nodiscard]] SearchSpace& space() { return space_; }

 private:
  [[nodiscard]] std::optional<SampledPoint> take(const SearchPoint& point, std::string origin);
  [[nodiscard]] std::optional<SearchPoint> draw();
  void list_points();

  SearchSpace space_;
  Rng rng_;
  std::vector<SearchPoint> guesses_;
  std::size_t next_guess_ = 0;
  bool is_listed_ = false;
  std::vector<SearchPoint> listed_;  ///< in random order, the next one last
  std::set<SearchPoint> taken_;
};

}  // namespace kw
