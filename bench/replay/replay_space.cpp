#include "replay_space.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace kw::replay {
namespace {

std::int64_t value_in(const SweepRow& row, const std::string& name) {
  const auto value = row.assignment.find(name);
  return value == row.assignment.end() ? k_no_value : value->second;
}

}  // namespace

ReplaySpace::ReplaySpace(SweepTable table) : table_(std::move(table)) {
  std::erase_if(table_.rows, [](const SweepRow& row) { return row.status == VerdictStatus::unverified; });
  for (const auto& name : table_.names) {
    std::set<std::int64_t> values;
    for (const auto& row : table_.rows) values.insert(value_in(row, name));
    if (values.size() > 1) dimensions_.push_back({name, {values.begin(), values.end()}});
  }
  for (const auto& row : table_.rows) {
    Levels levels;
    for (const auto& dimension : dimensions_) {
      const auto at = std::ranges::lower_bound(dimension.values, value_in(row, dimension.name));
      levels.push_back(static_cast<int>(at - dimension.values.begin()));
    }
    by_levels_.emplace(levels, levels_.size());
    levels_.push_back(std::move(levels));
    costs_.push_back(row.cost_ns());
    if (row.cost_ns()) best_ = std::min(best_, *row.cost_ns());
  }
}

std::optional<std::size_t> ReplaySpace::find(const Levels& levels) const {
  const auto found = by_levels_.find(levels);
  return found == by_levels_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::size_t> ReplaySpace::seeds() const {
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < table_.rows.size(); ++i) {
    if (table_.rows[i].origin.starts_with("seed ")) points.push_back(i);
  }
  return points;
}

std::vector<std::size_t> ReplaySpace::neighbours(std::size_t point) const {
  std::vector<std::size_t> found;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    Levels changed = levels_[point];
    for (int level = 0; level < static_cast<int>(dimensions_[d].values.size()); ++level) {
      changed[d] = level;
      const auto other = find(changed);
      if (other && *other != point) found.push_back(*other);
    }
  }
  return found;
}

double ReplaySpace::share_near_best() const {
  const auto near = std::ranges::count_if(costs_, [&](const auto& cost) { return cost && *cost <= 1.05 * best_; });
  return static_cast<double>(near) / static_cast<double>(costs_.size());
}

}  // namespace kw::replay
