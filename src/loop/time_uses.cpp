#include "loop/time_uses.hpp"

#include <algorithm>

namespace kw {

std::vector<TimeUse> joined_uses(std::vector<TimeUse> before, const std::vector<TimeLedger::Entry>& entries) {
  for (const auto& entry : entries) {
    const auto known = std::ranges::find_if(
        before, [&](const TimeUse& use) { return use.stage == entry.stage && use.activity == entry.activity; });
    if (known != before.end()) {
      known->seconds += entry.seconds;
    } else {
      before.push_back({std::string(entry.stage), std::string(entry.activity), entry.seconds});
    }
  }
  return before;
}

}  // namespace kw
