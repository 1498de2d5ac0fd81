#include "verify/checking/plan_slice.hpp"

#include <algorithm>

#include "base/result.hpp"

namespace kw {
namespace {

std::int64_t product(const std::int64_t (&extents)[3]) {
  return extents[0] * extents[1] * extents[2];
}

double items_of(const PlannedLaunch& launch) {
  return static_cast<double>(product(launch.grid)) * static_cast<double>(product(launch.block));
}

}  // namespace

tl::expected<PlanSlice, std::string> slice_of(const LaunchPlan& plan, double flops, const SliceLimits& limits) {
  std::int64_t bytes = 0;
  for (const auto& buffer : plan.buffers) bytes += buffer.bytes;
  if (bytes > limits.bytes) {
    return tl::unexpected(fmt::format("its buffers have {} MiB", bytes >> 20));
  }
  double items = 0;
  for (const auto& launch : plan.launches) items += items_of(launch);
  const auto& last = plan.launches.back();
  const double per_item = flops / items;
  const double before = (items - items_of(last)) * per_item;
  const double per_group = static_cast<double>(product(last.block)) * per_item;
  const auto affordable = static_cast<std::int64_t>(std::max(0.0, (limits.flops - before) / per_group));
  if (affordable == 0) {
    return tl::unexpected(before > 0
                              ? fmt::format("its launches before the last one come to {:.2g} useful FLOPs", before)
                              : fmt::format("one group comes to {:.2g} useful FLOPs", per_group));
  }
  PlanSlice slice{plan, 1, product(last.grid)};
  auto& grid = slice.plan.launches.back().grid;
  for (auto& extent : grid) {
    extent = std::clamp<std::int64_t>(affordable / slice.groups, 1, extent);
    slice.groups *= extent;
  }
  return slice;
}

}  // namespace kw
