#include "propose/llm/prompts/goal_text.hpp"

#include "propose/llm/prompts/task_text.hpp"

namespace kw {
namespace {

/// Pairs call less than 2 % equivalent, and noise hides a few percent more from a short budget.
constexpr double k_goal_speedup = 1.1;

}  // namespace

std::string goal_text(const Rival& rival, std::optional<double> bound_ns) {
  if (!(rival.median_ns > 0)) return "";
  const std::string time = time_text(rival.median_ns);
  const double aim = rival.median_ns / k_goal_speedup;
  std::string asked = fmt::format("at least {:.0f} % faster than {}, which takes {}: {} or less.",
                                  100 * (k_goal_speedup - 1), rival.name, time, time_text(aim));
  if (!bound_ns || !(*bound_ns > 0)) return asked;
  const std::string bound = time_text(*bound_ns);
  if (rival.median_ns <= *bound_ns) {
    return fmt::format(
        "faster than {}, which takes {}, by more than 2 %, so that pairs can show it. It is beyond the bound "
        "that was computed from the peaks, so no time is named.",
        rival.name, time);
  }
  if (aim < *bound_ns) {
    return fmt::format("as near to {} as you can, which is the least that the device's peaks allow; {} takes {}.",
                       bound, rival.name, time);
  }
  return fmt::format("{} The least that the device's peaks allow is {}.", asked, bound);
}

}  // namespace kw
