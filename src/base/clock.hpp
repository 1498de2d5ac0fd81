#pragma once
// Time as a parameter, so that budgets and deadlines are tested with a clock that the test ticks.

#include <atomic>
#include <chrono>
#include <optional>

namespace kw {

using Duration = std::chrono::nanoseconds;
using Instant = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic; only differences mean anything.
  [[nodiscard]] virtual Instant now() const = 0;
  /// Processor time, of all processors together, that a hypervisor has given to others; only differences mean anything,
  /// and a real clock counts in ticks of 10 ms. Nothing where it is not known.
  [[nodiscard]] virtual std::optional<Duration> stolen() const { return std::nullopt; }
};

class SteadyClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] std::optional<Duration> stolen() const override;  ///< "steal" of /proc/stat
};

/// May be asked by any thread, and moved by one.
class FakeClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  [[nodiscard]] std::optional<Duration> stolen() const override { return stolen_; }
  void advance(Duration by) {
    const Instant before = now_;
    if (before < quiet_from_) stolen_ += by;
    now_ = before + by;
  }
  /// Until then a hypervisor takes a processor away.
  void disturb_until(Instant end) { quiet_from_ = end; }

 private:
  std::atomic<Instant> now_{Instant{}};
  Instant quiet_from_{};
  Duration stolen_{};
};

[[nodiscard]] inline double to_seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}
[[nodiscard]] inline Duration from_seconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

}  // namespace kw
