#include "verify/checking/plan_slice.hpp"

#include <algorithm>

#include "base/result.hpp"

namespace kw {
namespace {

using Extents = std::int64_t[3];

std::int64_t product(const Extents& extents) {
  return extents[0] * extents[1] * extents[2];
}

/// The largest stretch of `grid` with at most `groups`, at its beginning: whole lines of it, or a part of one.
GroupBox stretch(const Extents& grid, std::int64_t groups) {
  GroupBox box;
  std::int64_t taken = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    box.count[d] = std::clamp<std::int64_t>(groups / taken, 1, grid[d]);
    taken *= box.count[d];
  }
  return box;
}

GroupBox at_the_end(const Extents& grid, GroupBox box) {
  for (std::size_t d = 0; d < 3; ++d) box.first[d] = grid[d] - box.count[d];
  return box;
}

bool overlap(const GroupBox& a, const GroupBox& b) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (a.first[d] + a.count[d] <= b.first[d] || b.first[d] + b.count[d] <= a.first[d]) return false;
  }
  return true;
}

/// One of the same size that has no group of the others; nothing where a few throws find none.
std::optional<GroupBox> in_the_middle(const Extents& grid, GroupBox box, const std::vector<GroupBox>& others,
                                      Rng& rng) {
  constexpr int k_throws = 16;
  for (int i = 0; i < k_throws; ++i) {
    for (std::size_t d = 0; d < 3; ++d) box.first[d] = rng.below(grid[d] - box.count[d] + 1);
    if (std::ranges::none_of(others, [&](const GroupBox& other) { return overlap(box, other); })) return box;
  }
  return std::nullopt;
}

struct Chosen {
  std::vector<GroupBox> boxes;
  std::string which;
};

Chosen choose(const Extents& grid, std::int64_t affordable, Rng& rng) {
  const std::int64_t all = product(grid);
  if (affordable >= all) return {{GroupBox{{0, 0, 0}, {grid[0], grid[1], grid[2]}}}, fmt::format("all {} groups", all)};
  if (affordable == 1) return {{at_the_end(grid, GroupBox{})}, fmt::format("the last of {} groups", all)};
  const GroupBox first = stretch(grid, affordable >= 3 ? affordable / 3 : 1);
  const std::int64_t each = product(first.count);
  Chosen chosen{{at_the_end(grid, first), first}, fmt::format("{0} first and {0} last of {1} groups", each, all)};
  if (affordable < 3) return chosen;
  if (const auto middle = in_the_middle(grid, first, chosen.boxes, rng)) {
    chosen.boxes.push_back(*middle);
    chosen.which = fmt::format("{0} first, {0} middle and {0} last of {1} groups", each, all);
  }
  return chosen;
}

/// The same launch with a grid of that size: what the kernel sees is a smaller launch.
LaunchSlice smaller(LaunchSlice slice, const PlannedLaunch& whole, std::int64_t affordable) {
  const GroupBox box = stretch(whole.grid, affordable);
  slice.groups = product(box.count);
  slice.which = fmt::format("the first {} of {} groups", slice.groups, product(whole.grid));
  PlannedLaunch launch = whole;
  std::copy_n(box.count, 3, launch.grid);
  slice.plan.launches = {std::move(launch)};
  return slice;
}

}  // namespace

std::optional<std::string> too_large_to_hold(const LaunchPlan& plan, std::int64_t most_bytes) {
  std::int64_t bytes = 0;
  for (const auto& buffer : plan.buffers) bytes += buffer.bytes;
  if (bytes <= most_bytes) return std::nullopt;
  return fmt::format("its buffers have {} MiB", bytes >> 20);
}

tl::expected<LaunchSlice, std::string> slice_of(const LaunchPlan& plan, std::size_t launch, double steps,
                                                const SliceLimits& limits, Rng& rng) {
  const PlannedLaunch& whole = plan.launches[launch];
  const double per_group = steps / static_cast<double>(product(whole.grid));
  if (per_group > std::max(limits.steps, limits.steps_of_one)) {
    return tl::unexpected(fmt::format("one group comes to {:.2g} useful FLOPs", per_group));
  }
  const double fit = std::min(limits.steps / std::max(per_group, 1.0), static_cast<double>(product(whole.grid)));
  const auto affordable = std::max<std::int64_t>(1, static_cast<std::int64_t>(fit));
  LaunchSlice slice{launch, {plan.buffers, {}}, 0, {}};
  if (limits.kind == SliceKind::smaller) return smaller(std::move(slice), whole, affordable);
  Chosen chosen = choose(whole.grid, affordable, rng);
  for (const GroupBox& box : chosen.boxes) {
    slice.plan.launches.push_back(whole);
    slice.plan.launches.back().only = box;
    slice.groups += product(box.count);
  }
  slice.which = std::move(chosen.which);
  return slice;
}

}  // namespace kw
