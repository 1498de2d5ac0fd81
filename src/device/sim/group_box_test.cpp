// Some blocks of a launch, and what the module's own memory may be used for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/testing/sim_fixture.hpp"

namespace kw::sim {
namespace {

constexpr const char* k_source = R"cuda(
extern "C" __global__ void numbers(const int* in, int* out, int n) {
  if (threadIdx.x == 0) out[blockIdx.x] = 100 * gridDim.x + blockIdx.x;
}
extern "C" __global__ void behind_in_the_last(const int* in, int* out, int n) {
  if (threadIdx.x == 0) out[blockIdx.x] = in[blockIdx.x == gridDim.x - 1 ? n : 0];
}
__device__ int kept;
extern "C" __global__ void keeps(const int* in, int* out, int n) { if (threadIdx.x == 0) kept = in[0]; }
extern "C" __global__ void reads_what_is_kept(const int* in, int* out, int n) { out[threadIdx.x] = kept; }
)cuda";

SimKernels& simulated() {
  static SimKernels kernels(k_source);
  return kernels;
}

TEST(SimulatedBlocks, keep_their_numbers_and_see_the_whole_grid) {
  const auto out = simulated().run({"numbers", 32, 40, 0, 0, GroupBox{{37, 0, 0}, {2, 1, 1}}});
  ASSERT_TRUE(out) << out.error().to_string() << simulated().built().log;
  EXPECT_EQ((*out)[36], -1);
  EXPECT_EQ((*out)[37], 4037);
  EXPECT_EQ((*out)[38], 4038);
  EXPECT_EQ((*out)[39], -1);
}

TEST(SimulatedBlocks, are_watched_where_they_are_chosen) {
  constexpr std::int32_t k_end = 2 * SimKernels::k_elements;  // behind both buffers
  EXPECT_TRUE(simulated().run({"behind_in_the_last", 32, 40, 0, k_end, GroupBox{{0, 0, 0}, {39, 1, 1}}}));
  const auto last = simulated().run({"behind_in_the_last", 32, 40, 0, k_end, GroupBox{{39, 0, 0}, {1, 1, 1}}});
  ASSERT_FALSE(last);
  EXPECT_THAT(last.error().message, ::testing::HasSubstr("out of bounds"));
}

TEST(SimulatedBlocks, outside_of_the_grid_are_refused) {
  const auto behind = simulated().run({"numbers", 32, 40, 0, 0, GroupBox{{39, 0, 0}, {2, 1, 1}}});
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().message, "2 groups of kernel numbers from number 39 on leave its grid of 40");
}

TEST(SimulatedModule, is_read_and_never_written) {
  EXPECT_TRUE(simulated().run({"reads_what_is_kept"}));
  const auto written = simulated().run({"keeps"});
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message,
              ::testing::HasSubstr("writes a variable outside of kernels, which outlasts the launch"));
}

}  // namespace
}  // namespace kw::sim
