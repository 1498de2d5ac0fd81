#pragma once
// How long a compiler may take. What is asked of it is counted in processor time, so that a busy machine does not turn
// an honest kernel into one that "did not compile in time".

#include "verify/processes/execution_backend.hpp"
#include "verify/processes/step_clock.hpp"

namespace kw {

/// How many times its processor time a build may take by the clock on the wall. A machine with more to do than that
/// decides nothing.
inline constexpr int k_build_patience = 3;

[[nodiscard]] inline AnswerDeadline patient(Duration processor) {
  return {processor, k_build_patience * processor};
}

/// The same, but never beyond the deadline of `clock`.
[[nodiscard]] inline AnswerDeadline build_deadline(const StepClock& clock, Duration processor) {
  return {processor, clock.timeout(k_build_patience * processor).time};
}

}  // namespace kw
