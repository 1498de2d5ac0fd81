#include "verify/checking/plan_slice.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/result.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_bytes = std::int64_t{1} << 28;

LaunchPlan plan_of(std::int64_t x, std::int64_t y, std::int64_t z) {
  LaunchPlan plan;
  plan.buffers.push_back({"Q", BufferRole::input, DType::f32, 1024});
  plan.launches.push_back({"first", {7, 1, 1}, {8, 1, 1}, 0, {}});
  plan.launches.push_back({"k", {x, y, z}, {8, 1, 1}, 0, {}});
  return plan;
}

std::string box_of(const PlannedLaunch& launch) {
  const GroupBox& box = launch.only.value();
  return fmt::format("{}x{}x{} at {},{},{}", box.count[0], box.count[1], box.count[2], box.first[0], box.first[1],
                     box.first[2]);
}

std::string boxes_of(const tl::expected<LaunchSlice, std::string>& slice) {
  if (!slice) return slice.error();
  std::string text = slice->which;
  for (const auto& launch : slice->plan.launches) text += "; " + box_of(launch);
  return text;
}

tl::expected<LaunchSlice, std::string> second(const LaunchPlan& plan, double steps, const SliceLimits& limits) {
  Rng rng(1);
  return slice_of(plan, 1, steps, limits, rng);
}

TEST(PlanSlice, takes_the_first_the_last_and_some_between_them) {
  const auto slice = second(plan_of(10, 4, 2), 80e6, {9.5e6, 0});
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->which, "3 first, 3 middle and 3 last of 80 groups");
  EXPECT_EQ(slice->groups, 9);
  ASSERT_EQ(slice->plan.launches.size(), 3U);
  EXPECT_EQ(box_of(slice->plan.launches[0]), "3x1x1 at 7,3,1");
  EXPECT_EQ(box_of(slice->plan.launches[1]), "3x1x1 at 0,0,0");
  for (const auto& launch : slice->plan.launches) {
    EXPECT_EQ(launch.kernel, "k") << "that launch alone";
    EXPECT_EQ(launch.grid[0], 10) << "groups see the whole grid";
  }
}

TEST(PlanSlice, takes_whole_lines_of_the_grid_where_it_can) {
  EXPECT_EQ(second(plan_of(10, 4, 2), 80e6, {65e6, 0})->which, "20 first, 20 middle and 20 last of 80 groups");
  EXPECT_EQ(boxes_of(second(plan_of(10, 4, 2), 80e6, {2e6, 0})),
            "1 first and 1 last of 80 groups; 1x1x1 at 9,3,1; 1x1x1 at 0,0,0");
  EXPECT_EQ(boxes_of(second(plan_of(10, 4, 2), 80e6, {1e12, 0})), "all 80 groups; 10x4x2 at 0,0,0");
}

TEST(PlanSlice, middle_is_elsewhere_for_another_seed_and_never_on_the_others) {
  std::set<std::string> places;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    const auto slice = slice_of(plan_of(10, 4, 2), 1, 80e6, {3e6, 0}, rng);
    ASSERT_EQ(slice->plan.launches.size(), 3U) << seed;
    places.insert(box_of(slice->plan.launches[2]));
  }
  EXPECT_GT(places.size(), 50U);
  EXPECT_FALSE(places.contains("1x1x1 at 0,0,0"));
  EXPECT_FALSE(places.contains("1x1x1 at 9,3,1"));
}

TEST(PlanSlice, takes_the_last_group_alone_where_one_is_over_the_limit_and_not_far_over_it) {
  EXPECT_EQ(boxes_of(second(plan_of(10, 4, 2), 80e6, {0.9e6, 2e6})), "the last of 80 groups; 1x1x1 at 9,3,1");
  EXPECT_EQ(boxes_of(second(plan_of(10, 4, 2), 800e6, {0.9e6, 2e6})), "one group comes to 1e+07 useful FLOPs");
}

TEST(PlanSlice, says_how_large_the_buffers_are_where_they_are_too_large) {
  auto large = plan_of(10, 4, 2);
  EXPECT_EQ(too_large_to_hold(large, k_bytes), std::nullopt);
  large.buffers.push_back({"K", BufferRole::input, DType::f32, std::int64_t{300} << 20});
  EXPECT_EQ(too_large_to_hold(large, k_bytes), "its buffers have 300 MiB");
}

TEST(PlanSlice, is_a_smaller_grid_for_tools_that_cannot_choose) {
  const auto slice = second(plan_of(10, 4, 2), 80e6, {35e6, 0, SliceKind::smaller});
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->which, "the first 30 of 80 groups");
  ASSERT_EQ(slice->plan.launches.size(), 1U);
  EXPECT_FALSE(slice->plan.launches[0].only);
  EXPECT_EQ(slice->plan.launches[0].grid[1], 3);
}

}  // namespace
}  // namespace kw
