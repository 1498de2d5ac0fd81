#pragma once
// A tool that counts what the hardware does while a kernel runs. The profile gate and the final measurement ask it
// about would-be best kernels; it never rejects anything.

#include <string>
#include <variant>

#include "record/attempt.hpp"
#include "verify/processes/loaded_candidate.hpp"
#include "verify/processes/step_clock.hpp"
#include "verify/state/run_facts.hpp"

namespace kw {

class Profiler {
 public:
  virtual ~Profiler() = default;
  /// One launch of a built candidate on the primary workload, in a process of its own; or a sentence that says why
  /// there are no counters, such as a missing permission and how to get it.
  virtual std::variant<HardwareCounters, std::string> profile(const RunFacts& facts, const LoadedCandidate& loaded,
                                                              StepClock& clock) = 0;
};

}  // namespace kw
