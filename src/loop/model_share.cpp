#include "loop/model_share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "verify/timing/final_launches.hpp"

namespace kw {
namespace {

/// Twelve and two that were disturbed; where each is long, one, which is what there must be, and one that was
/// disturbed.
constexpr double k_reserved_plain_launches = 14;
constexpr double k_reserved_long_launches = 2;
/// For starting the processes of the final measurement.
constexpr double k_reserved_seconds = 2.0;
/// What launches of the kernel and of the copy take together, of what the data of the kernel's launch take: the copy
/// has none to draw or to judge.
constexpr double k_data_beside_copy = 1.25;
/// A budget is the model's: what else a run does may take the rest.
constexpr double k_least_share = 2.0 / 3;

double kept_back_seconds(const BudgetParts& parts) {
  const Duration left = from_seconds(parts.budget_seconds - parts.opening_seconds);
  return to_seconds(kept_back(left, from_seconds(parts.reserve_seconds)));
}

}  // namespace

Instant last_verdict(Instant deadline, Duration reserve) {
  constexpr int k_part = 2;
  return deadline == Instant::max() ? deadline : deadline - reserve / k_part;
}

Duration final_reserve(Duration plain_launch, Duration data, bool beside_copy) {
  const double seconds = to_seconds(plain_launch);
  const double launches = final_pairs(seconds * 1e9) > 1 ? k_reserved_plain_launches : k_reserved_long_launches;
  const double alone = beside_copy ? k_final_processes * final_launches_alone(true) * k_data_beside_copy : 0;
  return from_seconds(k_reserved_seconds + launches * seconds + (launches + alone) * to_seconds(data));
}

Duration kept_back(Duration left, Duration reserve) {
  constexpr int k_part = 3;
  return std::clamp(left / k_part, Duration::zero(), reserve);
}

double model_share(const BudgetParts& parts) {
  if (!(parts.budget_seconds > 0)) return 0;
  const double left = parts.budget_seconds - parts.opening_seconds - kept_back_seconds(parts);
  return std::clamp(left / parts.budget_seconds, 0.0, 1.0);
}

std::optional<std::string> small_share_warning(const BudgetParts& parts) {
  const double share = model_share(parts);
  if (share >= k_least_share) return std::nullopt;
  const double enough = (parts.opening_seconds + parts.reserve_seconds) / (1 - k_least_share);
  return fmt::format(
      "the model gets {:.0f} % of the budget, less than two thirds: of {:.0f} s, the device, the oracle and the plain "
      "kernel take "
      "{:.0f} s before it is asked, and the final measurement takes {:.0f} s; give --budget {:.0f}s, or make the "
      "primary "
      "workload smaller with --set",
      100 * share, parts.budget_seconds, parts.opening_seconds, kept_back_seconds(parts), std::ceil(enough));
}

double ShareWatch::see(Duration plain_launch, Duration rest) {
  const BudgetParts parts{budget_seconds_, to_seconds(elapsed_() + rest), to_seconds(final_reserve(plain_launch))};
  const auto warning = told_ ? std::nullopt : small_share_warning(parts);
  if (warning) tell_(*warning);
  told_ = told_ || warning.has_value();
  return model_share(parts);
}

}  // namespace kw
