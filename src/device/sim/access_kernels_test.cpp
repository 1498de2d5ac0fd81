// Whole kernels in the simulator, with their transactions counted by hand; an H200's counters gave the same
// (docs/results/2026-11-23-simulated-accesses.md). Two warps, unless a test says otherwise.

#include <gmock/gmock.h>

#include <algorithm>

#include "device/testing/sim_fixture.hpp"
#include "record/access_text.hpp"

namespace kw::sim {
namespace {

/// Lines are found by the comment at their end.
constexpr const char* k_source = R"cuda(
extern "C" __global__ void side_by_side(const int* in, int* out, int n) {
  int i = threadIdx.x;
  out[i] = in[i];  // side_by_side
}
extern "C" __global__ void apart(const int* in, int* out, int n) {
  int i = threadIdx.x;
  int sum = 0;
  for (int j = 0; j < 4; ++j) sum += in[i * 32 + j];  // apart_read
  out[i] = sum;
}
extern "C" __global__ void vectors(const int* in, int* out, int n) {
  int i = threadIdx.x;
  int4 v = reinterpret_cast<const int4*>(in)[i];  // vector_read
  v.x += 1;
  reinterpret_cast<int4*>(out)[i] = v;  // vector_write
}
extern "C" __global__ void columns(const int* in, int* out, int n) {
  __shared__ int tile[32 * 33];
  int i = threadIdx.x;
  int pitch = n;
  tile[i * pitch] = in[i];  // column_write
  __syncwarp();
  out[i] = tile[(31 - i) * pitch];  // column_read
}
extern "C" __global__ void some_lanes(const int* in, int* out, int n) {
  int i = threadIdx.x;
  if (i % 2 == 0) out[i] = in[i];  // some_lanes
}
extern "C" __global__ void rounds(const int* in, int* out, int n) {
  int i = threadIdx.x;
  int sum = 0;
  for (int j = 0; j <= i; ++j) sum += in[j];  // rounds_read
  out[i] = sum;
}
extern "C" __global__ void arithmetic(const int* in, int* out, int n) {
  int i = threadIdx.x;
  int x = i * 3;
  if (i % 2 == 0) {
    for (int j = 0; j < 7; ++j) x = x * x + (x >> 3) + i;
  }
  out[i] = x;
}
extern "C" __global__ void equal_rounds(const int* in, int* out, int n) {
  int i = threadIdx.x;
  int sum = 0;
  for (int j = 0; j < n; ++j) sum += in[j];
  out[i] = sum;
}
extern "C" __global__ void copies(const int* in, int* out, int n) {
  __shared__ __align__(16) int stage[128];
  __kw_sim_cp_async_16(stage + 4 * threadIdx.x, in + 4 * threadIdx.x, 16);  // copies
  __kw_sim_cp_async_commit();
  __kw_sim_cp_async_wait_group<0>();
  __syncthreads();
  out[threadIdx.x] = stage[threadIdx.x];
}
extern "C" __global__ void quads(const int* in, int* out, int n) {
  __shared__ __align__(16) int4 tile[32 * 8];
  int i = threadIdx.x;
  tile[i * n] = reinterpret_cast<const int4*>(in)[i];  // quad_write
  __syncwarp();
  reinterpret_cast<int4*>(out)[i] = tile[(31 - i) * n];  // quad_read
}
extern "C" __global__ void adds(const int* in, int* out, int n) {
  atomicAdd(out, 1);  // adds
}
)cuda";

int line_of(const std::string& mark) {
  const std::string source(k_source);
  const std::size_t at = source.find("// " + mark + "\n");
  EXPECT_NE(at, std::string::npos) << mark;
  return 1 + static_cast<int>(std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

class AccessKernelsTest : public testing::Test {
 protected:
  static SimKernels& kernels() {
    static SimKernels shared(k_source, SimKernels::cuda_device(), Counting::accesses);
    return shared;
  }
  /// Of the marked line, what is written or read in one space; all zero where there is nothing.
  AccessCounts counts(const TestLaunch& launch, const std::string& mark, bool shared, bool write) {
    const auto ran = kernels().run(launch);
    EXPECT_TRUE(ran) << ran.error().message;
    for (const AccessCounts& one : kernels().accesses()) {
      if (!counts_branches(one) && one.line == line_of(mark) && one.shared == shared && one.write == write) return one;
    }
    return {};
  }
  /// Of all branches of the last launch.
  static void expect_branches(std::int64_t executed, std::int64_t parted) {
    AccessCounts sum;
    for (const AccessCounts& one : kernels().accesses()) {
      if (!counts_branches(one)) continue;
      sum.requests += one.requests;
      sum.partial += one.partial;
    }
    EXPECT_EQ(sum.requests, executed);
    EXPECT_EQ(sum.partial, parted);
  }
  static void expect(const AccessCounts& counts, std::int64_t requests, std::int64_t transactions, std::int64_t least) {
    EXPECT_EQ(counts.requests, requests);
    EXPECT_EQ(counts.transactions, transactions);
    EXPECT_EQ(counts.least, least);
  }
};

TEST_F(AccessKernelsTest, compile) {
  ASSERT_EQ(kernels().built().status, BuildStatus::ok) << kernels().built().log;
}

TEST_F(AccessKernelsTest, neighbours_take_four_sectors_a_warp) {
  const TestLaunch launch{"side_by_side", 64};
  expect(counts(launch, "side_by_side", false, false), 2, 8, 8);
  expect(counts(launch, "side_by_side", false, true), 2, 8, 8);
}

TEST_F(AccessKernelsTest, rows_of_128_bytes_take_a_sector_a_lane) {
  // Four requests of each warp, 32 lanes of 4 bytes in 32 sectors, where 128 bytes would fill 4.
  expect(counts({"apart", 64}, "apart_read", false, false), 8, 256, 32);
}

TEST_F(AccessKernelsTest, a_vector_is_read_and_written_in_one_request) {
  const TestLaunch launch{"vectors", 64};
  expect(counts(launch, "vector_read", false, false), 2, 32, 32);
  expect(counts(launch, "vector_write", false, true), 2, 32, 32);
}

TEST_F(AccessKernelsTest, a_column_of_shared_memory_conflicts_unless_it_is_padded) {
  TestLaunch launch{"columns", 32};
  launch.n = 32;
  expect(counts(launch, "column_write", true, true), 1, 32, 1);
  expect(counts(launch, "column_read", true, false), 1, 32, 1);
  launch.n = 33;
  expect(counts(launch, "column_write", true, true), 1, 1, 1);
  expect(counts(launch, "column_read", true, false), 1, 1, 1);
}

TEST_F(AccessKernelsTest, vectors_of_shared_memory_are_served_by_quarters_of_a_warp) {
  TestLaunch launch{"quads", 32};
  launch.n = 1;
  expect(counts(launch, "quad_write", true, true), 1, 4, 4);
  expect(counts(launch, "quad_read", true, false), 1, 4, 4);
  launch.n = 8;  // all eight lanes of a quarter in the same four banks
  expect(counts(launch, "quad_write", true, true), 1, 32, 4);
  expect(counts(launch, "quad_read", true, false), 1, 32, 4);
}

TEST_F(AccessKernelsTest, lanes_that_take_no_part_are_counted) {
  const AccessCounts seen = counts({"some_lanes", 64}, "some_lanes", false, true);
  expect(seen, 2, 8, 4);  // 16 words in 4 sectors, which would fill 2
  EXPECT_EQ(seen.partial, 2);
  EXPECT_EQ(seen.lanes, 32);
}

TEST_F(AccessKernelsTest, a_loop_with_fewer_rounds_for_some_lanes_has_requests_without_them) {
  // Round j is one request of lanes j to 31, all at one address.
  const AccessCounts seen = counts({"rounds", 32}, "rounds_read", false, false);
  expect(seen, 32, 32, 32);
  EXPECT_EQ(seen.partial, 31);
  EXPECT_EQ(seen.lanes, 32 * 33 / 2);
}

TEST_F(AccessKernelsTest, a_condition_on_the_lane_parts_every_warp) {
  ASSERT_TRUE(kernels().run(TestLaunch{"some_lanes", 64}));
  expect_branches(2, 2);
}

TEST_F(AccessKernelsTest, a_branch_around_arithmetic_alone_is_seen) {
  ASSERT_TRUE(kernels().run(TestLaunch{"arithmetic", 64}));
  expect_branches(2 + 2 * 7, 2);  // the condition, and a loop that those stay in together
}

TEST_F(AccessKernelsTest, a_loop_that_lanes_leave_one_by_one_parts_them_until_the_last) {
  ASSERT_TRUE(kernels().run(TestLaunch{"rounds", 32}));
  expect_branches(32, 31);
}

TEST_F(AccessKernelsTest, a_loop_that_lanes_leave_together_parts_none) {
  TestLaunch launch{"equal_rounds", 64};
  launch.n = 5;
  ASSERT_TRUE(kernels().run(launch));
  expect_branches(10, 0);
}

TEST_F(AccessKernelsTest, an_asynchronous_copy_reads_global_and_writes_shared_memory) {
  const TestLaunch launch{"copies", 32};
  expect(counts(launch, "copies", false, false), 1, 16, 16);
  expect(counts(launch, "copies", true, true), 1, 4, 4);
}

TEST_F(AccessKernelsTest, atomic_accesses_are_left_out) {
  ASSERT_TRUE(kernels().run(TestLaunch{"adds", 64}));
  EXPECT_THAT(kernels().accesses(), testing::IsEmpty());
}

TEST_F(AccessKernelsTest, blocks_and_launches_add_up) {
  ASSERT_TRUE(kernels().run(std::vector<TestLaunch>{{"side_by_side", 32}, {"side_by_side", 64}}));
  std::int64_t requests = 0;
  for (const AccessCounts& one : kernels().accesses()) requests += one.requests;
  EXPECT_EQ(requests, 6);
}

TEST(UncountedKernels, report_nothing) {
  SimKernels kernels(k_source);
  ASSERT_TRUE(kernels.run(TestLaunch{"side_by_side", 32}));
  EXPECT_THAT(kernels.accesses(), testing::IsEmpty());
}

}  // namespace
}  // namespace kw::sim
