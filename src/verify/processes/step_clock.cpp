#include "verify/processes/step_clock.hpp"

#include <algorithm>

namespace kw {

StepTimeout StepClock::timeout(Duration usual) const {
  if (deadline_ == Instant::max()) return {usual, false};
  const Duration left = std::max<Duration>(deadline_ - clock_->now(), std::chrono::milliseconds(1));
  return left < usual ? StepTimeout{left, true} : StepTimeout{usual, false};
}

bool StepClock::out_of_time() {
  deadline_hit_ = deadline_hit_ || (deadline_ != Instant::max() && clock_->now() >= deadline_);
  return deadline_hit_;
}

}  // namespace kw
