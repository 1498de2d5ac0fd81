#include "verify/checking/launch_steps.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(LaunchSteps, of_large_buffers_take_seconds) {
  LaunchPlan plan;
  plan.buffers = {{"Q", BufferRole::input, DType::f32, 1'000'000'000},
                  {"O", BufferRole::output, DType::f32, 500'000'000}};
  plan.launches = {{"first", {1, 1, 1}, {32, 1, 1}, 0, {}}, {"second", {1, 1, 1}, {32, 1, 1}, 0, {}}};
  EXPECT_EQ(stepping_time(plan), Duration(std::chrono::seconds(12)));
  plan.buffers.pop_back();
  plan.launches.pop_back();
  EXPECT_EQ(stepping_time(plan), Duration(std::chrono::seconds(4)));
}

}  // namespace
}  // namespace kw
