#include "verify/checking/plan_slice.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

constexpr std::int64_t k_bytes = std::int64_t{1} << 28;

LaunchPlan plan_of(std::int64_t x, std::int64_t y, std::int64_t z) {
  LaunchPlan plan;
  plan.buffers.push_back({"Q", BufferRole::input, DType::f32, 1024});
  plan.launches.push_back({"k", {x, y, z}, {8, 1, 1}, 0, {}});
  return plan;
}

std::string grid_of(const tl::expected<PlanSlice, std::string>& slice) {
  if (!slice) return slice.error();
  const auto& grid = slice->plan.launches.back().grid;
  return fmt::format("{} {} {}: {} of {}", grid[0], grid[1], grid[2], slice->groups, slice->of);
}

TEST(PlanSlice, takes_whole_lines_of_the_grid_from_its_beginning) {
  EXPECT_EQ(grid_of(slice_of(plan_of(10, 4, 2), 80e6, {35e6, k_bytes})), "10 3 1: 30 of 80");
  EXPECT_EQ(grid_of(slice_of(plan_of(10, 4, 2), 80e6, {70e6, k_bytes})), "10 4 1: 40 of 80");
  EXPECT_EQ(grid_of(slice_of(plan_of(10, 4, 2), 80e6, {7.5e6, k_bytes})), "7 1 1: 7 of 80");
  EXPECT_EQ(grid_of(slice_of(plan_of(10, 4, 2), 80e6, {1e12, k_bytes})), "10 4 2: 80 of 80");
}

TEST(PlanSlice, says_why_there_is_none) {
  EXPECT_EQ(grid_of(slice_of(plan_of(10, 4, 2), 80e6, {0.9e6, k_bytes})), "one group comes to 1e+06 useful FLOPs");
  auto large = plan_of(10, 4, 2);
  large.buffers.push_back({"K", BufferRole::input, DType::f32, std::int64_t{300} << 20});
  EXPECT_EQ(grid_of(slice_of(large, 80e6, {35e6, k_bytes})), "its buffers have 300 MiB");
}

TEST(PlanSlice, leaves_earlier_launches_whole) {
  auto plan = plan_of(10, 4, 2);
  plan.launches.insert(plan.launches.begin(), {"first", {20, 1, 1}, {8, 1, 1}, 0, {}});
  const auto slice = slice_of(plan, 100e6, {35e6, k_bytes});
  EXPECT_EQ(grid_of(slice), "10 1 1: 10 of 80");
  EXPECT_EQ(slice->plan.launches.front().grid[0], 20);
  EXPECT_EQ(grid_of(slice_of(plan, 100e6, {15e6, k_bytes})),
            "its launches before the last one come to 2e+07 useful FLOPs");
}

}  // namespace
}  // namespace kw
