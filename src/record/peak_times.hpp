#pragma once
// What a device's peaks allow a workload: the roofline (Williams, Waterman, Patterson 2009). The verifier refuses times
// below it, and prompts and reports name it, all from here.

#include <algorithm>
#include <optional>

#include "hardware/device_facts.hpp"
#include "problem/problem.hpp"

namespace kw {

struct PeakTimes {
  double arithmetic_ns = 0;
  double memory_ns = 0;
  /// No kernel takes less.
  [[nodiscard]] double bound_ns() const { return std::max(arithmetic_ns, memory_ns); }
};

/// Nothing where the peaks are not known. Tensor cores count at their full rate where the first output is f16 or bf16,
/// and at half of it (tf32) where it is f32. `work` is what a workload of the problem costs.
[[nodiscard]] std::optional<PeakTimes> peak_times(const DeviceFacts& device, const Problem& problem,
                                                  const WorkloadCost& work);

/// At what share of the rate of a copy to other memory `work` was done in so many nanoseconds: of work that its bytes
/// keep waiting longer than its operations do, where the rate is known. It may be above 1, as where more is read than
/// written.
[[nodiscard]] std::optional<double> share_of_copy(const DeviceFacts& device, const WorkloadCost& work,
                                                  double nanoseconds);

}  // namespace kw
