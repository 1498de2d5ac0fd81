#pragma once
// Whether a measured time can be true. Asked for every time that is reported: of a candidate, and of the best kernel at
// the end.

#include <optional>
#include <string>

#include "record/verdict.hpp"
#include "verify/timing/timing.hpp"

namespace kw {

struct TimingDoubt {
  Reason reason;         ///< above_roofline or clock_mismatch
  std::string sentence;  ///< with both times
};

/// Doubts a median faster than the device can be, and claims of the process that the host's clock contradicts. Before
/// that it measures the device's peaks, or launches of candidate and baseline, again: a busy moment makes honest times
/// look impossible.
[[nodiscard]] std::optional<TimingDoubt> doubt_about(const TimingContext& timing, MeasureState& measuring,
                                                     LoadedCandidate& candidate, const TimingResult& timed,
                                                     double median_ns);

}  // namespace kw
