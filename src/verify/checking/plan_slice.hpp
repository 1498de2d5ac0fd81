#pragma once
// A part of a launch that a slow tool can run: what goes wrong at the sizes of the primary workload alone would be seen
// by no tool otherwise. Each launch of a plan is cut by itself: what the launches before it leave in buffers comes from
// the device (launch_steps.hpp), and costs the tool nothing.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "base/rng.hpp"
#include "record/launch_plan.hpp"

namespace kw {

struct LaunchSlice {
  std::size_t launch = 0;   ///< index in the whole plan
  LaunchPlan plan;          ///< that launch alone, once for each box of groups, the last ones first: a tool that runs
                            ///< out of time has seen them; all buffers of the whole
  std::int64_t groups = 0;  ///< how many of them
  std::string which;        ///< for people: "2 first, 2 middle and 2 last of 40 groups"
};

/// How a tool can run some groups of a launch.
enum class SliceKind : std::uint8_t {
  boxes,    ///< any groups, which keep their numbers (PlannedLaunch::only)
  smaller,  ///< the first ones alone, as a smaller grid
};

/// What a tool can run.
struct SliceLimits {
  double steps = 0;         ///< of the groups of this launch together
  double steps_of_one = 0;  ///< of one group, where it alone is more than that
  SliceKind kind = SliceKind::boxes;
};

/// Why a tool cannot hold the plan's buffers, which stay whole however few groups there are; nothing where it can.
[[nodiscard]] std::optional<std::string> too_large_to_hold(const LaunchPlan& plan, std::int64_t most_bytes);

/// The first groups of the launch, some in the middle that `rng` chooses, and the last, each a stretch of the grid;
/// where one group is all that can be run, the last, and where all can be, all. The launch does `steps`, each group
/// alike. Otherwise why there is none, for people.
[[nodiscard]] tl::expected<LaunchSlice, std::string> slice_of(const LaunchPlan& plan, std::size_t launch, double steps,
                                                              const SliceLimits& limits, Rng& rng);

}  // namespace kw
