#pragma once
// Kernels of our own that stand beside candidates: the plain one, and a faster *reference* for problems whose plain
// kernel takes long. The reference answers where the plain one would take most of an opening, after it has agreed with
// it, and then for timed launches (plain_answers.hpp); nothing is ever timed against it.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verify/processes/step_clock.hpp"
#include "verify/state/measure_state.hpp"

namespace kw {

/// Why a kernel of ours was not built or not started.
struct OwnFailure {
  std::string doing;  ///< "gate build"
  std::string what;
  bool is_fault = true;  ///< of the kernel or the device; else the machine had no time for it
};

/// Through the gates of the phase `build`, as every candidate, then into a process of its own.
[[nodiscard]] tl::expected<LoadedCandidate, OwnFailure> build_own(const RunFacts& facts, MeasureState& measuring,
                                                                  StepClock& clock, const Candidate& candidate);

/// By how much the reference errs on `one`, by output, where the plain kernel erred by `plain_errors`: against the
/// oracle in all elements or in the rows that it answered. Nothing unless it computes what the plain kernel does: all
/// elements agree by the rule that candidates are judged by. `one` has its whole answer.
[[nodiscard]] std::optional<std::vector<double>> agree(const RunFacts& facts, LoadedCandidate& reference,
                                                       const CheckCase& one, std::span<const double> plain_errors,
                                                       StepClock& clock);

}  // namespace kw
