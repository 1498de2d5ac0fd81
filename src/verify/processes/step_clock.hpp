#pragma once
// The time that one piece of verifying may take and has taken: opening the verifier, one candidate, the final
// measurement. Each has a clock of its own, so that one candidate's deadline says nothing about another's.

#include "base/clock.hpp"
#include "base/time_ledger.hpp"

namespace kw {

inline constexpr const char* k_budget_ended = "not decided, the budget ended during it";

/// How long a step may take.
struct StepTimeout {
  Duration time{};
  bool ends_budget = false;  ///< it ends when the budget does: running out of it says nothing about a candidate
};

class StepClock {
 public:
  /// `clock` and `ledger`, which may be null, must outlive this. Without a deadline nothing is ever cut off.
  explicit StepClock(const Clock& clock, Instant deadline = Instant::max(), TimeLedger* ledger = nullptr)
      : clock_(&clock), deadline_(deadline), ledger_(ledger) {}

  /// For work on a thread beside: it ends when this one does, and its time is nobody's.
  [[nodiscard]] StepClock beside() const { return StepClock(*clock_, deadline_); }
  /// For a part of the step, on the same thread, that counts for itself.
  [[nodiscard]] StepClock part() const { return StepClock(*clock_, deadline_, ledger_); }

  /// `usual`, or what is left until the deadline: at least a millisecond, because a deadline that has passed is noticed
  /// between two steps.
  [[nodiscard]] StepTimeout timeout(Duration usual) const;
  /// Whether the deadline has passed; remembered in deadline_hit().
  [[nodiscard]] bool out_of_time();
  /// A step ran into the deadline.
  void hit_deadline() { deadline_hit_ = true; }
  /// Whether the deadline passed before everything was decided.
  [[nodiscard]] bool deadline_hit() const { return deadline_hit_; }

  [[nodiscard]] const Clock& clock() const { return *clock_; }
  /// What the step is doing while that lives (record/time_use.hpp).
  [[nodiscard]] TimeLedger::Span doing(std::string_view activity) const {
    return TimeLedger::activity(ledger_, activity);
  }
  /// The last `spent` of what it is doing were `activity`.
  void reassign(std::string_view activity, Duration spent) const {
    if (ledger_ != nullptr) ledger_->reassign(activity, spent);
  }
  [[nodiscard]] TimeLedger* ledger() const { return ledger_; }
  /// Device time, launches only.
  void add_device_seconds(double seconds) { device_seconds_ += seconds; }
  [[nodiscard]] double device_seconds() const { return device_seconds_; }

 private:
  const Clock* clock_;
  Instant deadline_;
  TimeLedger* ledger_;
  bool deadline_hit_ = false;
  double device_seconds_ = 0;
};

}  // namespace kw
