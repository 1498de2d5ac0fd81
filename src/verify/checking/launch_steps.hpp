#pragma once
// The launches of a plan one by one, on the device itself: what buffers hold before each of them, and which share of
// the work each does. A tool that watches one launch starts from there, so that it need not run those before it.

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "verify/checking/case_runner.hpp"

namespace kw {

struct SteppedLaunch {
  BufferContents before;   ///< of outputs and scratch; empty where they hold poison
  double share = 1;        ///< of the time of all launches, requests to the process included
  double observed_ns = 0;  ///< that time, by the host's clock; 0 of a plan that was not run
};

/// How long the process may take to start, and each launch.
struct StepDeadlines {
  Duration start{};
  Duration launch{};
};

/// For every launch of the first plan of `loaded`, run on that case; a plan of one launch is not run. Contents are kept
/// up to `most_bytes` together. The buffers' poison is k_nan_poison. Otherwise why not, for people.
[[nodiscard]] tl::expected<std::vector<SteppedLaunch>, std::string> step_through(
    const Problem& problem, ExecutionBackend& backend, const LoadedCandidate& loaded, const CheckCase& one,
    const StepDeadlines& deadlines, std::int64_t most_bytes, StepClock& clock);

}  // namespace kw
