#pragma once
// The one budget contract: wall clock, candidates, device seconds, tokens, dollars; whichever ends first ends the run.

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "record/run_record.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode budget_syntax{"budget.syntax"};
}  // namespace errc

/// "60s", "15m", "2h" (wall clock), "200c" (candidates), "30ds" (device seconds), "50000t" (tokens), "5usd" (dollars);
/// several joined by commas: "10m,500c". Each kind at most once, each above zero.
[[nodiscard]] Result<BudgetLimits> parse_budget(std::string_view text);
/// The same notation back: "60s,200c"; "no limit" when nothing is limited.
[[nodiscard]] std::string to_string(const BudgetLimits& limits);

class Budget {
 public:
  /// `already` is what earlier parts of a resumed run used. The clock runs from construction.
  Budget(const BudgetLimits& limits, const BudgetUse& already, const Clock& clock);

  void count_candidate() { ++counted_.candidates; }
  void add_device_seconds(double seconds) { counted_.device_seconds += seconds; }
  void add_tokens(std::int64_t tokens, double dollars);

  [[nodiscard]] BudgetUse used() const;
  /// True once any limited part is used up; `reserve` of wall clock is treated as spent already.
  [[nodiscard]] bool exhausted(Duration reserve = Duration::zero()) const;
  /// When the wall clock part ends; Instant::max() when it does not limit.
  [[nodiscard]] Instant deadline() const;
  [[nodiscard]] const BudgetLimits& limits() const { return limits_; }

 private:
  BudgetLimits limits_;
  BudgetUse counted_;  ///< all but the wall clock of this part
  const Clock& clock_;
  Instant start_;
};

}  // namespace kw
