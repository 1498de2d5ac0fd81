#include "suite/suite_figures.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

void finish(BaselineFigures& figures, std::span<const std::optional<double>> speedups) {
  figures.problems = std::ssize(speedups);
  for (const double p : k_fast_p_thresholds) figures.fast.push_back(fast_p(speedups, p));
  figures.mean = geometric_mean(speedups);
}

BaselineFigures against_plain(const SuiteState& state) {
  BaselineFigures figures{"plain", 0, 0, {}, {}, {}};
  std::vector<std::optional<double>> speedups;
  for (const auto& row : state.rows) {
    speedups.push_back(row.status == SuiteStatus::solved ? row.speedup : std::nullopt);
    if (speedups.back()) figures.speedups[row.item.name] = *speedups.back();
  }
  finish(figures, speedups);
  return figures;
}

BaselineFigures against(const SuiteState& state, const SuiteBaseline& baseline) {
  BaselineFigures figures{baseline.name, 0, 0, {}, {}, {}};
  std::vector<std::optional<double>> speedups;
  for (const auto& row : state.rows) {
    if (!baseline.ns_of(row.item.name)) continue;
    if (row.is_smaller) {
      ++figures.smaller;
      continue;
    }
    speedups.push_back(speedup_over(row, baseline));
    if (speedups.back()) figures.speedups[row.item.name] = *speedups.back();
  }
  finish(figures, speedups);
  return figures;
}

nlohmann::ordered_json baseline_json(const BaselineFigures& figures) {
  nlohmann::ordered_json fast = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < figures.fast.size(); ++i)
    fast[fmt::format("{:g}", k_fast_p_thresholds[i])] = figures.fast[i];
  nlohmann::ordered_json json{
      {"name", figures.name},      {"problems", figures.problems}, {"left_out_as_smaller", figures.smaller},
      {"fast_p", std::move(fast)}, {"geometric_mean", nullptr},    {"speedups", figures.speedups}};
  if (figures.mean) json["geometric_mean"] = *figures.mean;
  return json;
}

}  // namespace

std::int64_t SuiteFigures::count(SuiteStatus status) const {
  const auto found = counts.find(status);
  return found == counts.end() ? 0 : found->second;
}

std::optional<double> speedup_over(const SuiteRow& row, const SuiteBaseline& baseline) {
  const auto ns = baseline.ns_of(row.item.name);
  if (!ns || row.is_smaller || row.status != SuiteStatus::solved || !row.best_ns) return std::nullopt;
  return *ns / *row.best_ns;
}

SuiteFigures figures_of(const SuiteState& state, std::span<const SuiteBaseline> others) {
  SuiteFigures figures;
  figures.problems = std::ssize(state.rows);
  std::vector<double> seconds;
  for (const auto& row : state.rows) {
    ++figures.counts[row.status];
    figures.longest_seconds = std::max(figures.longest_seconds, row.used.wall_seconds);
    if (row.status == SuiteStatus::solved && row.first_correct_seconds) seconds.push_back(*row.first_correct_seconds);
  }
  figures.solved = solved_over_time(seconds);
  figures.median_seconds = median_seconds(seconds, figures.problems);
  const bool timed = std::ranges::any_of(state.rows, [](const SuiteRow& row) { return row.plain_ns.has_value(); });
  if (timed) figures.baselines.push_back(against_plain(state));
  for (const auto& baseline : others) figures.baselines.push_back(against(state, baseline));
  return figures;
}

std::string suite_results_json(const SuiteState& state, const SuiteFigures& figures) {
  auto root = nlohmann::ordered_json::parse(encode_suite(state));
  root["record"] = "suite_results";
  auto steps = nlohmann::ordered_json::array();
  for (const auto& step : figures.solved) steps.push_back({{"seconds", step.seconds}, {"solved", step.solved}});
  auto counts = nlohmann::ordered_json::object();
  for (const auto& [status, count] : figures.counts) counts[std::string(to_string(status))] = count;
  auto baselines = nlohmann::ordered_json::array();
  for (const auto& baseline : figures.baselines) baselines.push_back(baseline_json(baseline));
  root["figures"] = {{"problems", figures.problems},
                     {"counts", std::move(counts)},
                     {"solved_over_time", std::move(steps)},
                     {"median_seconds_to_first_correct", nullptr},
                     {"baselines", std::move(baselines)}};
  if (figures.median_seconds) root["figures"]["median_seconds_to_first_correct"] = *figures.median_seconds;
  return root.dump(2) + "\n";
}

}  // namespace kw
