#pragma once
// Time as a parameter, so that budgets and deadlines are tested with a clock that the test ticks.

#include <chrono>

namespace kw {

using Duration = std::chrono::nanoseconds;
using Instant = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic; only differences mean anything.
  [[nodiscard]] virtual Instant now() const = 0;
};

class SteadyClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return std::chrono::steady_clock::now(); }
};

class FakeClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  void advance(Duration by) { now_ += by; }

 private:
  Instant now_{};
};

[[nodiscard]] inline double to_seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}
[[nodiscard]] inline Duration from_seconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

}  // namespace kw
