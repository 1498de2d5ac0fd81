#include "report/stage_times.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace kw {

std::vector<StageTime> stage_times(std::span<const TimeUse> uses) {
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

std::vector<std::string> stage_lines(std::span<const TimeUse> uses) {
  constexpr double k_least_seconds = 0.01;
  std::vector<std::string> lines;
  for (const auto& stage : stage_times(uses)) {
    if (stage.seconds < k_least_seconds) continue;
    const std::string parts = parts_text(stage);
    lines.push_back(fmt::format("{} {:.2f} s{}", stage.name, stage.seconds, parts.empty() ? "" : " (" + parts + ")"));
  }
  return lines;
}

}  // namespace kw
