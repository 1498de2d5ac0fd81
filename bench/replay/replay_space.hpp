#pragma once
// A sweep table as a space that search policies are replayed on: every point's time is known, so that a hundred runs of
// a policy take seconds, and all policies see the same times.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/sweep_table.hpp"

namespace kw::replay {

/// Values of one column, in ascending order. A row that does not have the tunable has k_no_value.
inline constexpr std::int64_t k_no_value = -1;
struct Dimension {
  std::string name;
  std::vector<std::int64_t> values;
};

/// The level of each dimension: an index into its values.
using Levels = std::vector<int>;

class ReplaySpace {
 public:
  /// Of the rows that were decided. The table needs at least one that was timed.
  explicit ReplaySpace(SweepTable table);

  [[nodiscard]] const SweepTable& table() const { return table_; }
  [[nodiscard]] const std::vector<Dimension>& dimensions() const { return dimensions_; }
  [[nodiscard]] std::size_t size() const { return levels_.size(); }
  [[nodiscard]] const Levels& levels(std::size_t point) const { return levels_[point]; }
  /// Nothing where the candidate was rejected.
  [[nodiscard]] std::optional<double> cost(std::size_t point) const { return costs_[point]; }
  [[nodiscard]] double estimate(std::size_t point) const { return table_.rows[point].estimate; }
  [[nodiscard]] double best() const { return best_; }
  [[nodiscard]] std::optional<std::size_t> find(const Levels& levels) const;
  /// The style's guesses, in their order.
  [[nodiscard]] std::vector<std::size_t> seeds() const;
  /// Points that differ in one dimension, in a fixed order.
  [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t point) const;
  /// Share of all points that are within 5 % of the best.
  [[nodiscard]] double share_near_best() const;

 private:
  SweepTable table_;
  std::vector<Dimension> dimensions_;
  std::vector<Levels> levels_;
  std::vector<std::optional<double>> costs_;
  std::map<Levels, std::size_t> by_levels_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace kw::replay
