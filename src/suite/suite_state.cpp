#include "suite/suite_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace kw {
namespace {

/// The first setting that differs, as an option of the command line, with both values.
struct Difference {
  std::string option;
  std::string before;
  std::string now;
};

std::string devices_text(const std::vector<std::string>& devices) {
  return join(devices, ",", [](const std::string& one) { return one.empty() ? std::string("the first") : one; });
}

std::optional<Difference> difference(const SuiteSettings& a, const SuiteSettings& b) {
  const Difference all[] = {
      {"--mode", a.mode, b.mode},
      {"--precision", a.precision, b.precision},
      {"--fit", fmt::format("{:g}", a.most_steps), fmt::format("{:g}", b.most_steps)},
      {"--target", a.target, b.target},
      {"--style", a.style, b.style},
      {"--seed", fmt::format("{}", a.seed), fmt::format("{}", b.seed)},
      {"--device", devices_text(a.devices), devices_text(b.devices)},
      {"--budget-per-problem", a.budget_per_problem, b.budget_per_problem},
  };
  const auto found = std::ranges::find_if(all, [](const Difference& one) { return one.before != one.now; });
  if (found == std::end(all)) return std::nullopt;
  return *found;
}

}  // namespace

std::string_view to_string(SuiteStatus status) {
  switch (status) {
    case SuiteStatus::waiting:
      return "waiting";
    case SuiteStatus::running:
      return "running";
    case SuiteStatus::interrupted:
      return "interrupted";
    case SuiteStatus::solved:
      return "solved";
    case SuiteStatus::unsolved:
      return "unsolved";
    case SuiteStatus::unscorable:
      return "unscorable";
    case SuiteStatus::failed:
      break;
  }
  return "failed";
}

bool is_over(SuiteStatus status) {
  return status != SuiteStatus::waiting && status != SuiteStatus::running && status != SuiteStatus::interrupted;
}

BudgetUse SuiteState::used() const {
  BudgetUse use;
  for (const auto& row : rows) {
    use.candidates += row.used.candidates;
    use.device_seconds += row.used.device_seconds;
    use.tokens += row.used.tokens;
    use.dollars += row.used.dollars;
  }
  use.wall_seconds = elapsed_seconds;
  return use;
}

Result<SuiteState> continued(SuiteState before, const SuiteState& now) {
  if (const auto other = difference(before.settings, now.settings)) {
    return fail(Error{
        errc::suite_mismatch,
        fmt::format("the folder holds a suite with {} {}, not {}", other->option,
                    other->before.empty() ? "left out" : other->before, other->now.empty() ? "left out" : other->now),
        "go on with the settings it began with, or choose another folder with --out"});
  }
  before.settings.budget = now.settings.budget;
  for (const auto& row : now.rows) {
    const auto known = std::ranges::find(before.rows, row.item.name, [](const SuiteRow& one) { return one.item.name; });
    if (known == before.rows.end()) {
      before.rows.push_back(row);
    } else {
      known->item = row.item;
    }
  }
  return before;
}

}  // namespace kw
