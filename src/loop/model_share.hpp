#pragma once
// How much of a budget's wall clock is left for the model: what the opening takes before it is first asked, and what is
// kept back for the final measurement, come off. For the loop, which tells the user before the first request.

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"

namespace kw {

/// Pairs of processes of a final measurement.
inline constexpr int k_final_processes = 3;

/// How long a final measurement takes that need not hurry: it launches the plain kernel some times, and `data` is what
/// each of these takes besides. The best kernel's launches alone are counted `beside_copy`, where their number decides
/// what the ratios are worth; elsewhere they take what is left.
[[nodiscard]] Duration final_reserve(Duration plain_launch, Duration data = {}, bool beside_copy = false);
/// What is kept back for it of `left`, the wall clock when the search begins: a third at most, for without a kernel
/// there is nothing to measure. It ends in time, with fewer launches.
[[nodiscard]] Duration kept_back(Duration left, Duration reserve);
/// When the candidate in flight must be decided, in a run that ends at `deadline` (Instant::max(): at no time): a part
/// of what is kept back stays for the shortest final measurement.
[[nodiscard]] Instant last_verdict(Instant deadline, Duration reserve);

struct BudgetParts {
  double budget_seconds = 0;   ///< what is left when this part of the run begins
  double opening_seconds = 0;  ///< oracle, the plain kernel's checks and times, peaks
  double reserve_seconds = 0;  ///< final_reserve, of which kept_back() is kept back
};

/// 0 to 1.
[[nodiscard]] double model_share(const BudgetParts& parts);

/// What the user is told of a share below two thirds, with the budget that would leave so much; nothing of a larger
/// one.
[[nodiscard]] std::optional<std::string> small_share_warning(const BudgetParts& parts);

/// Watches the opening of one run, and tells of a small share once, as soon as it can be foreseen.
class ShareWatch {
 public:
  /// `elapsed` since the budget began; `tell` takes the warning.
  ShareWatch(double budget_seconds, std::function<Duration()> elapsed, std::function<void(const std::string&)> tell)
      : budget_seconds_(budget_seconds), elapsed_(std::move(elapsed)), tell_(std::move(tell)) {}

  /// The share, when the rest of the opening takes `rest`.
  double see(Duration plain_launch, Duration rest);

 private:
  double budget_seconds_;
  std::function<Duration()> elapsed_;
  std::function<void(const std::string&)> tell_;
  bool told_ = false;
};

}  // namespace kw
