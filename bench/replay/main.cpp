// Replays search policies on sweep tables (docs/formats.md): how many evaluations each needs until it has a candidate
// within 5 % of a table's best, and how far it is after 10 and 30.
//
//   kw_replay [--repeats N] [--policy NAME]... TABLE...
//
// A policy with an archive knows the winners of the other tables of the same target and style.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "policy.hpp"

namespace kw::replay {
namespace {

constexpr double k_near = 1.05;

struct Replayed {
  std::size_t evaluations = 0;  ///< until within 5 % of the best
  double at_10 = 0, at_30 = 0;  ///< best of the table / best so far
};

Replayed replay_once(const NamedPolicy& named, const Knowledge& knowledge) {
  const ReplaySpace& space = knowledge.space;
  const auto policy = named.make(knowledge);
  double best = std::numeric_limits<double>::infinity();
  Replayed result;
  for (std::size_t asked = 1; asked <= space.size(); ++asked) {
    const auto point = policy->next();
    KW_CHECK(point.has_value(), "{} ended after {} of {} points", named.name, asked - 1, space.size());
    const auto cost = space.cost(*point);
    policy->tell(cost);
    best = std::min(best, cost.value_or(best));
    if (asked == std::min<std::size_t>(10, space.size())) result.at_10 = space.best() / best;
    if (asked == std::min<std::size_t>(30, space.size())) result.at_30 = space.best() / best;
    if (result.evaluations == 0 && best <= k_near * space.best()) result.evaluations = asked;
    if (result.evaluations > 0 && asked >= 30) break;
  }
  return result;
}

template <typename Value>
double quantile(std::vector<Value> values, double share) {
  std::ranges::sort(values);
  return static_cast<double>(values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)]);
}

struct Line {
  double low, middle, high, at_10, at_30;
};

Line replay_many(const NamedPolicy& named, const ReplaySpace& space, const std::vector<const ReplaySpace*>& others,
                 int repeats) {
  std::vector<std::size_t> evaluations;
  std::vector<double> at_10, at_30;
  const auto model = named.foretells ? model_from(others, named.misleads) : nullptr;
  for (int i = 0; i < repeats; ++i) {
    const Knowledge knowledge{space, static_cast<std::uint64_t>(i + 1),
                              named.needs_others ? others : std::vector<const ReplaySpace*>(), named.misleads, model};
    const Replayed one = replay_once(named, knowledge);
    evaluations.push_back(one.evaluations);
    at_10.push_back(one.at_10);
    at_30.push_back(one.at_30);
  }
  return {quantile(evaluations, 0.25), quantile(evaluations, 0.5), quantile(evaluations, 0.75), quantile(at_10, 0.5),
          quantile(at_30, 0.5)};
}

std::string title_of(const ReplaySpace& space) {
  const SweepTable& table = space.table();
  const auto rejected = std::ranges::count_if(table.rows, [](const SweepRow& row) { return !row.cost_ns(); });
  std::string axes;
  for (const auto& [name, extent] : table.of.axes) axes += fmt::format(" {}={}", name, extent);
  return fmt::format("{}{} on {}, {} {}: {} points, {} rejected, {:.1f} % within 5 % of the best", table.of.problem,
                     axes, table.of.device.name, table.of.target, table.of.style, space.size(), rejected,
                     100 * space.share_near_best());
}

/// Other tables whose kernels the same style writes.
std::vector<const ReplaySpace*> alike(const std::vector<ReplaySpace>& spaces, std::size_t index) {
  std::vector<const ReplaySpace*> others;
  const SweepIdentity& of = spaces[index].table().of;
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    const SweepIdentity& other = spaces[i].table().of;
    if (i != index && other.target == of.target && other.style == of.style) others.push_back(&spaces[i]);
  }
  return others;
}

int replay_all(const std::vector<ReplaySpace>& spaces, const std::vector<std::string>& wanted, int repeats) {
  std::map<std::string, std::vector<double>> medians;
  const auto all = policies();
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    const auto others = alike(spaces, i);
    fmt::print("{}\n", title_of(spaces[i]));
    for (const auto& named : all) {
      if (!wanted.empty() && std::ranges::count(wanted, named.name) == 0) continue;
      if (named.needs_others && others.empty()) continue;
      const Line line = replay_many(named, spaces[i], others, repeats);
      medians[named.name].push_back(line.middle);
      fmt::print("  {:<22}{:>6.0f} [{:>4.0f}, {:>4.0f}]   {:>5.1f} % after 10{:>7.1f} % after 30\n", named.name,
                 line.middle, line.low, line.high, 100 * line.at_10, 100 * line.at_30);
      std::fflush(stdout);
    }
  }
  fmt::print("geometric mean of the medians\n");
  for (const auto& named : all) {
    const auto found = medians.find(named.name);
    if (found == medians.end()) continue;
    double sum = 0;
    for (const double value : found->second) sum += std::log(value);
    fmt::print("  {:<22}{:>6.1f}   {} spaces\n", named.name, std::exp(sum / static_cast<double>(found->second.size())),
               found->second.size());
  }
  return 0;
}

int replay_main(int argc, char** argv) {
  CLI::App app{"Replays search policies on sweep tables"};
  int repeats = 100;
  std::vector<std::string> wanted, files;
  app.add_option("--repeats", repeats, "Runs of each policy on each table")->check(CLI::PositiveNumber);
  app.add_option("--policy", wanted, "Only this policy")->allow_extra_args(false);
  app.add_option("table", files, "Sweep tables")->required();
  CLI11_PARSE(app, argc, argv);
  std::vector<ReplaySpace> spaces;
  for (const auto& file : files) {
    const auto text = RealFileSystem().read(file, k_most_sweep_bytes);
    const auto table = text ? parse_sweep(*text, file) : tl::unexpected(text.error());
    if (!table) {
      fmt::print(stderr, "{}\n", table.error().to_string());
      return 2;
    }
    spaces.emplace_back(*table);
    if (!std::isfinite(spaces.back().best())) {
      fmt::print(stderr, "{}: nothing in it was timed\n", file);
      return 2;
    }
  }
  return replay_all(spaces, wanted, repeats);
}

}  // namespace
}  // namespace kw::replay

int main(int argc, char** argv) {
  return kw::replay::replay_main(argc, argv);
}
