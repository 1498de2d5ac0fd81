#pragma once
// Wall clock by stage, as reports and commands show it: record/time_use.hpp has stages and activities.

#include <span>
#include <string>
#include <vector>

#include "record/time_use.hpp"

namespace kw {

struct StageTime {
  std::string name;
  double seconds = 0;
  std::vector<TimeUse> parts;  ///< its activities, the longest first
};

/// The longest first.
[[nodiscard]] std::vector<StageTime> stage_times(std::span<const TimeUse> uses);

/// "launches 61 %, judging 20 %": shares of the stage that round to something; nothing where it has no parts.
[[nodiscard]] std::string parts_text(const StageTime& stage);

/// For a terminal: one line for each stage that took a hundredth of a second, "check 12.3 s (launches 61 %)".
[[nodiscard]] std::vector<std::string> stage_lines(std::span<const TimeUse> uses);

}  // namespace kw
