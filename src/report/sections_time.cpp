// What the wall clock of a run went to, one row for each stage.

#include <algorithm>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/sections.hpp"

namespace kw {
namespace {

struct StageTime {
  std::string name;
  double seconds = 0;
  std::vector<TimeUse> parts;
};

/// The longest first.
std::vector<StageTime> stage_times(const std::vector<TimeUse>& uses) {
  std::vector<StageTime> stages;
  for (const auto& use : uses) {
    const auto known = std::ranges::find(stages, use.stage, &StageTime::name);
    StageTime& stage = known != stages.end() ? *known : stages.emplace_back(StageTime{use.stage, 0, {}});
    stage.seconds += use.seconds;
    stage.parts.push_back(use);
  }
  const auto longest_first = [](const auto& a, const auto& b) { return a.seconds > b.seconds; };
  std::ranges::stable_sort(stages, longest_first);
  for (auto& stage : stages) std::ranges::stable_sort(stage.parts, longest_first);
  return stages;
}

/// "launches 61 %, judging 20 %": shares of the stage that round to something; nothing where it has no parts.
std::string parts_text(const StageTime& stage) {
  constexpr double k_least_share = 0.005;
  std::vector<std::string> texts;
  for (const auto& part : stage.parts) {
    const double share = part.seconds / stage.seconds;
    if (share >= k_least_share) texts.push_back(fmt::format("{} {:.0f} %", part.activity, 100 * share));
  }
  const bool divided = stage.parts.size() > 1 || stage.parts.front().activity != stage.name;
  return divided ? join(texts) : "";
}

}  // namespace

Table time_table(const RunRecord& run) {
  const auto stages = stage_times(run.time_uses);
  double all = 0;
  for (const auto& stage : stages) all += stage.seconds;
  std::string caption = fmt::format("Where {:.3g} s of wall clock went", all);
  if (run.beside_seconds.value_or(0) > 0)
    caption += fmt::format(", {:.3g} s of builds beside them", *run.beside_seconds);
  Table table{"time_uses",
              caption,
              {{"stage", "Stage"}, {"seconds", "Time", true}, {"share", "Share", true}, {"parts", "Of which"}},
              {},
              "No time was recorded."};
  for (const auto& stage : stages) {
    table.rows.push_back({stage.name, Number{stage.seconds, Unit::seconds, std::nullopt},
                          Number{all > 0 ? stage.seconds / all : 0, Unit::share, std::nullopt},
                          text_or_nothing(parts_text(stage))});
  }
  return table;
}

}  // namespace kw
