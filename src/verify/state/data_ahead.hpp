#pragma once
// Data for one timed launch or pair after the other. On a GPU, whose time does not depend on what the host does, the
// next are drawn beside whatever comes after: launches, and between two comparisons all else that a search does.

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/rng.hpp"
#include "base/time_ledger.hpp"
#include "verify/checking/timed_data.hpp"
#include "verify/state/run_facts.hpp"

namespace kw {

/// What of a launch's data has to be on the host.
enum class HostBytes : std::uint8_t { when_asked_for, now };

struct DataNeed {
  HostBytes host = HostBytes::now;
  std::int64_t least_rows = 0;  ///< that the oracle answers of each launch, where it answers

  friend bool operator==(const DataNeed&, const DataNeed&) = default;
};

/// For one thread at a time. Its facts must outlive it.
///
/// The oracle answers the first of a run. Where that took much longer than a launch of the plain kernel does, that one
/// answers all others (plain_answers.hpp).
class DataAhead {
 public:
  /// Data that nothing was launched on yet: those that are drawn ahead for the same need, when they are there, or
  /// others, drawn now from `rng`. On a GPU begins with the next. `plain_takes`: a launch of the plain kernel; nothing
  /// where it cannot be launched. `ledger` may be null.
  [[nodiscard]] TimedData take(const RunFacts& facts, const DataNeed& need, std::optional<Duration> plain_takes,
                               Rng& rng, TimeLedger* ledger);
  /// Nobody needs them any more, but for their memory: of new memory each page is cleared when it is first used, which
  /// takes longer than drawing what a launch needs.
  void give_back(TimedData used) { used_.push_back(std::move(used)); }

 private:
  struct Next {
    DataNeed need;
    TimedData data;                  ///< memory alone until `drawing` is over
    std::future<void> drawing = {};  ///< the last member, for it works on the others
  };
  [[nodiscard]] TimedData take_used();
  [[nodiscard]] Answerer answerer(std::optional<Duration> plain_takes) const;
  [[nodiscard]] std::optional<TimedData> take_next(const DataNeed& need, TimeLedger* ledger);

  std::vector<TimedData> used_;
  std::unique_ptr<Next> next_;
  Duration oracle_takes_{};  ///< with what it reads drawn, of the last launch that it answered
};

/// Data that are like those of one of the timing cases, in the memory of `used`. `ledger` may be null.
[[nodiscard]] TimedData draw_timed_data(const RunFacts& facts, const DataNeed& need, Answerer answerer, Rng& rng,
                                        TimedData used, TimeLedger* ledger);

}  // namespace kw
