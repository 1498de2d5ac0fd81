#pragma once
// A part of a launch plan that a slow tool can run: what goes wrong at the sizes of the primary workload alone would be
// seen by no tool otherwise. Only the last launch is cut. What an earlier one leaves undone, a later one would read.

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

#include "record/launch_plan.hpp"

namespace kw {

struct PlanSlice {
  LaunchPlan plan;
  std::int64_t groups = 0;  ///< of the last launch
  std::int64_t of = 0;      ///< in the whole plan
};

/// What a tool can run. It keeps a copy of every buffer, and of some of them a shadow.
struct SliceLimits {
  double flops = 0;
  std::int64_t bytes = 0;  ///< of all buffers together, which stay whole
};

/// The first groups of the last launch: whole lines of the grid, or a part of the first one. The plan does `flops`, and
/// the slice may do those of `limits`, each work-item counted alike. Otherwise why there is none, for people.
[[nodiscard]] tl::expected<PlanSlice, std::string> slice_of(const LaunchPlan& plan, double flops,
                                                            const SliceLimits& limits);

}  // namespace kw
