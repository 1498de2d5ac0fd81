#include "propose/bandit.hpp"

#include <algorithm>
#include <cmath>

#include "base/result.hpp"

namespace kw {
namespace {

/// A try counts half after some fourteen more.
constexpr double k_discount = 0.95;
/// Weight of what is not known against what was gained.
constexpr double k_exploration = 0.5;
constexpr double k_full_gain = 1.5;

}  // namespace

std::size_t Bandit::choose(const std::vector<bool>& available) const {
  KW_CHECK(available.size() == arms_.size(), "{} of {} arms", available.size(), arms_.size());
  double all = 0;
  for (const auto& arm : arms_) all += arm.tries;
  std::size_t best = arms_.size();
  double best_score = 0;
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    if (!available[i]) continue;
    const Arm& arm = arms_[i];
    const double score =
        arm.tries > 0 ? arm.gains / arm.tries + k_exploration * std::sqrt(std::log(std::max(all, 1.0)) / arm.tries)
                      : HUGE_VAL;
    if (best == arms_.size() || score > best_score) {
      best = i;
      best_score = score;
    }
  }
  KW_CHECK(best < arms_.size(), "no arm is available");
  return best;
}

void Bandit::reward(std::size_t arm, double gain) {
  for (auto& one : arms_) {
    one.tries *= k_discount;
    one.gains *= k_discount;
  }
  arms_.at(arm).tries += 1;
  arms_.at(arm).gains += std::clamp(gain, 0.0, 1.0);
}

double gain_of_speedup(double speedup) {
  if (!(speedup > 1)) return 0;
  return std::min(1.0, std::log(speedup) / std::log(k_full_gain));
}

}  // namespace kw
