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

/// Whether the bytes of `work` keep a kernel longer than the steps of an obvious evaluation do: those of a convolution
/// can be avoided in part, and it computes all the same. False where the peaks are not known.
[[nodiscard]] bool waits_for_memory(const DeviceFacts& device, const WorkloadCost& work);

}  // namespace kw
