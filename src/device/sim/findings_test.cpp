// What the simulator finds in wrong kernels, with the line, and that their right twins pass.

#include "device/sim/findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "device/device.hpp"
#include "device/testing/sim_fixture.hpp"

namespace kw::sim {
namespace {

/// Each kernel is wrong for n = 1 and right for n = 0; the line with the mistake carries the kernel's name in a
/// comment.
constexpr const char* k_source = R"cuda(
extern "C" __global__ void write_behind(const int* in, int* out, int n) {
  out[threadIdx.x + (n ? 4096 - 31 : 0)] = 1;  // write_behind
}
extern "C" __global__ void read_before(const int* in, int* out, int n) {
  out[threadIdx.x] = in[(int)threadIdx.x - n];  // read_before
}
extern "C" __global__ void shared_end(const int* in, int* out, int n) {
  extern __shared__ int some[];
  some[threadIdx.x + n] = 1;  // shared_end
}
extern "C" __global__ void wild(const int* in, int* out, int n) {
  int* p = n ? reinterpret_cast<int*>(64) : out;
  *p = 1;  // wild
}
extern "C" __global__ void odd_address(const int* in, int* out, int n) {
  *reinterpret_cast<int4*>(out + (n ? 1 : 0) + 4 * threadIdx.x) = make_int4(1, 2, 3, 4);  // odd_address
}
extern "C" __global__ void race_of_warps(const int* in, int* out, int n) {
  __shared__ int box[64];
  box[threadIdx.x] = in[threadIdx.x];  // race_of_warps
  if (!n) __syncthreads();
  out[threadIdx.x] = box[63 - threadIdx.x];
}
extern "C" __global__ void race_of_lanes(const int* in, int* out, int n) {
  __shared__ int box[32];
  box[threadIdx.x] = in[threadIdx.x];  // race_of_lanes
  if (!n) __syncwarp();
  out[threadIdx.x] = box[31 - threadIdx.x];
}
extern "C" __global__ void overwritten(const int* in, int* out, int n) {
  __shared__ int box[64];
  for (int i = 0; i < 2; ++i) {
    box[threadIdx.x] = in[threadIdx.x] + i;
    __syncthreads();
    out[threadIdx.x] = box[63 - threadIdx.x];  // overwritten
    if (!n) __syncthreads();
  }
}
extern "C" __global__ void fence_missing(const int* in, int* out, int n) {
  if (threadIdx.x < 32) atomicAdd(out, in[threadIdx.x]);
  if (n == 0) __threadfence();
  if (atomicAdd(out + 1000, 1) == (int)blockDim.x - 2) {
    out[1] = out[0];  // fence_missing
  }
}
extern "C" __global__ void fence_too_late(const int* in, int* out, int n) {
  if (threadIdx.x == 0) {
    if (n == 0) out[0] = 5;
    __threadfence();
    atomicAdd(out + 1000, 1);
    if (n == 1) out[0] = 5;
  }
  if (threadIdx.x == 32) {
    while (atomicAdd(out + 1000, 0) < 0) {}
    out[1] = out[0];  // fence_too_late
  }
}
extern "C" __global__ void race_of_blocks(const int* in, int* out, int n) {
  out[n ? 0 : blockIdx.x] = blockIdx.x;  // race_of_blocks
}
extern "C" __global__ void half_a_group(const int* in, int* out, int n) {
  __shared__ int box[32];
  box[threadIdx.x] = in[threadIdx.x];  // half_a_group
  if (n) __syncwarp(threadIdx.x < 16 ? 0xffff : 0xffff0000); else __syncwarp();
  out[threadIdx.x] = box[31 - threadIdx.x];
}
extern "C" __global__ void never_written(const int* in, int* out, int n) {
  __shared__ int box[64];
  if (!n || threadIdx.x % 2 == 0) box[threadIdx.x] = 3;
  __syncthreads();
  out[threadIdx.x] = box[threadIdx.x];  // never_written
}
extern "C" __global__ void some_at_barrier(const int* in, int* out, int n) {
  if (n && threadIdx.x >= 40) return;
  __syncthreads();  // some_at_barrier
}
extern "C" __global__ void two_barriers(const int* in, int* out, int n) {
  if (n && threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();  // two_barriers
  }
}
extern "C" __global__ void lanes_missing(const int* in, int* out, int n) {
  if (n && threadIdx.x < 16) {
    __syncthreads();  // lanes_missing
  } else {
    out[threadIdx.x] = __shfl_sync(0xffffffff, in[threadIdx.x], 3);
    __syncthreads();
  }
}
extern "C" __global__ void absent_lane(const int* in, int* out, int n) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffff, in[threadIdx.x], n ? 20 : 2);  // absent_lane
}
extern "C" __global__ void not_in_mask(const int* in, int* out, int n) {
  out[threadIdx.x] = __shfl_sync(n ? 0xffff : 0xffffffff, in[threadIdx.x], 2);  // not_in_mask
}
extern "C" __global__ void copy_not_waited_for(const int* in, int* out, int n) {
  __shared__ __align__(16) int stage[128];
  __kw_sim_cp_async_16(stage + 4 * threadIdx.x, in + 4 * threadIdx.x, 16);
  __kw_sim_cp_async_commit();
  if (!n) __kw_sim_cp_async_wait_group<0>();
  __syncthreads();
  out[threadIdx.x] = stage[threadIdx.x];  // copy_not_waited_for
}
extern "C" __global__ void copy_too_early(const int* in, int* out, int n) {
  __shared__ __align__(16) int stage[128];
  stage[4 * threadIdx.x] = 0;  // copy_too_early
  out[threadIdx.x] = stage[4 * threadIdx.x];
  if (!n) __syncthreads();
  __kw_sim_cp_async_16(stage + 4 * (31 - threadIdx.x), in + 4 * threadIdx.x, 16);
  __kw_sim_cp_async_wait_all();
}
// A box of 64 by 2 elements of the first 256 of `in`, announced as that many bytes.
__device__ void* map_in(int* out) { return (void*)(((size_t)(out + 2048) + 127) / 128 * 128); }
__device__ void describe(const int* in, int* out) {
  const int extents[3] = {64, 4, 1}, box[2] = {2, 1};
  const long strides[2] = {128, 512};
  __kw_sim_tensormap_3d(map_in(out), in, extents, strides, box);
}
#define BEGIN_BOX(bytes)                        \
  __shared__ __align__(1024) int box[64];       \
  __shared__ unsigned long long arrivals;       \
  box[threadIdx.x] = box[threadIdx.x + 32] = 0; \
  if (threadIdx.x == 0) {                       \
    describe(in, out);                          \
    __kw_sim_mbarrier_init(&arrivals, 1);       \
  }                                             \
  __syncthreads();                              \
  if (threadIdx.x == 0) __kw_sim_mbarrier_expect_tx(&arrivals, bytes)
extern "C" __global__ void box_read_too_early(const int* in, int* out, int n) {
  BEGIN_BOX(256);
  if (threadIdx.x == 0)
    __kw_sim_cp_async_bulk_tensor_3d(box, map_in(out), 0, 0, 0, &arrivals);  // box_read_too_early
  __syncthreads();
  if (n) out[threadIdx.x] = box[threadIdx.x];
  __kw_sim_mbarrier_wait_parity(&arrivals, 0);
  out[threadIdx.x] += box[threadIdx.x];
}
extern "C" __global__ void box_over_what_is_read(const int* in, int* out, int n) {
  BEGIN_BOX(256);
  out[threadIdx.x] = box[63 - threadIdx.x];
  if (!n) __syncthreads();
  if (threadIdx.x == 0)
    __kw_sim_cp_async_bulk_tensor_3d(box, map_in(out), 0, 0, 0, &arrivals);  // box_over_what_is_read
  __kw_sim_mbarrier_wait_parity(&arrivals, 0);
}
extern "C" __global__ void box_of_other_bytes(const int* in, int* out, int n) {
  BEGIN_BOX(n ? 128 : 256);
  if (threadIdx.x == 0) __kw_sim_cp_async_bulk_tensor_3d(box, map_in(out), 0, 0, 0, &arrivals);
  __kw_sim_mbarrier_wait_parity(&arrivals, 0);  // box_of_other_bytes
}
extern "C" __global__ void box_by_no_map(const int* in, int* out, int n) {
  BEGIN_BOX(256);
  if (threadIdx.x == 0)
    __kw_sim_cp_async_bulk_tensor_3d(box, (char*)map_in(out) + 256 * n, 0, 0, 0, &arrivals);  // box_by_no_map
  __kw_sim_mbarrier_wait_parity(&arrivals, 0);
}
extern "C" __global__ void box_by_a_map_aside(const int* in, int* out, int n) {
  BEGIN_BOX(256);
  if (threadIdx.x == 0)
    __kw_sim_cp_async_bulk_tensor_3d(box, (char*)map_in(out) + 32 * n, 0, 0, 0, &arrivals);  // box_by_a_map_aside
  __kw_sim_mbarrier_wait_parity(&arrivals, 0);
}
extern "C" __global__ void box_behind_the_end(const int* in, int* out, int n) {
  BEGIN_BOX(256);
  const int extents[3] = {64, n ? 1000 : 4, 1}, box_rows[2] = {2, 1};
  const long strides[2] = {128, 1 << 20};
  if (threadIdx.x == 0) {
    __kw_sim_tensormap_3d(map_in(out), in, extents, strides, box_rows);
    __kw_sim_cp_async_bulk_tensor_3d(box, map_in(out), 0, 900, 0, &arrivals);  // box_behind_the_end
  }
  __kw_sim_mbarrier_wait_parity(&arrivals, 0);
}
extern "C" __global__ void barrier_of_nobody(const int* in, int* out, int n) {
  __shared__ unsigned long long arrivals[2];
  if (threadIdx.x == 0) __kw_sim_mbarrier_init(&arrivals[0], 1);
  __syncthreads();
  if (threadIdx.x == 0) __kw_sim_mbarrier_expect_tx(&arrivals[n], 0);  // barrier_of_nobody
  __kw_sim_mbarrier_wait_parity(&arrivals[0], 0);
}
extern "C" __global__ void phase_nobody_waits_for(const int* in, int* out, int n) {
  __shared__ unsigned long long arrivals;
  if (threadIdx.x == 0) __kw_sim_mbarrier_init(&arrivals, 1);
  __syncthreads();
  if (threadIdx.x == 0) __kw_sim_mbarrier_expect_tx(&arrivals, 0);
  if (!n) __kw_sim_mbarrier_wait_parity(&arrivals, 0);
  __syncthreads();
  if (threadIdx.x == 0) __kw_sim_mbarrier_expect_tx(&arrivals, 0);  // phase_nobody_waits_for
  __kw_sim_mbarrier_wait_parity(&arrivals, 1);
}
extern "C" __global__ void matrix_row_unaligned(const int* in, int* out, int n) {
  __shared__ __align__(16) int tile[256];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i] = 0;
  __syncwarp();
  unsigned r[4];
  __kw_sim_ldmatrix_x4(r, tile + 4 * threadIdx.x + n);  // matrix_row_unaligned
  out[threadIdx.x] = r[0];
}
extern "C" __global__ void endless_wait(const int* in, int* out, int n) {
  volatile int* flag = out;
  if (n) while (*flag == -1) {}  // endless_wait
}
extern "C" __global__ void asserted(const int* in, int* out, int n) {
  assert(n == 0);  // asserted
}
)cuda";

struct Expectation {
  const char* kernel;
  FindingKind kind;
  std::int64_t threads = 32;
  std::int64_t shared_bytes = 0;
  std::int64_t blocks = 1;
};

void PrintTo(const Expectation& expectation, std::ostream* out) {
  *out << expectation.kernel;
}

class Findings : public ::testing::TestWithParam<Expectation> {
 protected:
  static void SetUpTestSuite() { kernels = std::make_unique<SimKernels>(k_source); }
  static void TearDownTestSuite() { kernels.reset(); }
  void SetUp() override { ASSERT_EQ(kernels->built().status, BuildStatus::ok) << kernels->built().log; }
  static inline std::unique_ptr<SimKernels> kernels;
};

/// The line that ends in "// name".
int line_of_comment(const std::string& name) {
  const std::string source = k_source;
  const std::size_t at = source.find("// " + name + "\n");
  return static_cast<int>(std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1;
}

TEST_P(Findings, of_a_wrong_kernel_name_kind_and_line_and_its_twin_passes) {
  const Expectation& expected = GetParam();
  TestLaunch launch{expected.kernel, expected.threads, expected.blocks, expected.shared_bytes, 0};
  const auto right = kernels->run(launch);
  EXPECT_TRUE(right.has_value()) << right.error().message;
  launch.n = 1;
  const auto wrong = kernels->run(launch);
  ASSERT_FALSE(wrong.has_value()) << "nothing was found";
  const std::string& message = wrong.error().message;
  EXPECT_EQ(wrong.error().code, errc::device_refused);
  EXPECT_EQ(message.find(fmt::format("the simulator found: {}: ", to_string(expected.kind))), 0U) << message;
  EXPECT_NE(message.find(fmt::format(", line {}", line_of_comment(expected.kernel))), std::string::npos) << message;
}

TEST(RaceFinding, names_the_lines_of_both_sides) {
  SimKernels kernels(R"(extern "C" __global__ void k(const int* in, int* out, int n) {
  __shared__ int box[64];
  box[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = box[63 - threadIdx.x];
})");
  ASSERT_EQ(kernels.built().status, BuildStatus::ok) << kernels.built().log;
  const auto wrong = kernels.run({"k", 64});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_NE(wrong.error().message.find(" read at line 4 with no barrier between, line 3"), std::string::npos)
      << wrong.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Findings,
    ::testing::Values(
        Expectation{"write_behind", FindingKind::out_of_bounds}, Expectation{"read_before", FindingKind::out_of_bounds},
        Expectation{"shared_end", FindingKind::out_of_bounds, 32, 128},
        Expectation{"wild", FindingKind::out_of_bounds, 1}, Expectation{"odd_address", FindingKind::misaligned},
        Expectation{"race_of_warps", FindingKind::race, 64}, Expectation{"fence_missing", FindingKind::race, 64},
        Expectation{"fence_too_late", FindingKind::race, 64}, Expectation{"race_of_lanes", FindingKind::race},
        Expectation{"overwritten", FindingKind::race, 64}, Expectation{"race_of_blocks", FindingKind::race, 1, 0, 4},
        Expectation{"half_a_group", FindingKind::race}, Expectation{"never_written", FindingKind::uninitialised, 64},
        Expectation{"some_at_barrier", FindingKind::divergent_barrier, 64},
        Expectation{"two_barriers", FindingKind::divergent_barrier, 64},
        Expectation{"lanes_missing", FindingKind::deadlock}, Expectation{"absent_lane", FindingKind::inactive_lane},
        Expectation{"not_in_mask", FindingKind::misused_instruction},
        Expectation{"copy_not_waited_for", FindingKind::uninitialised},
        Expectation{"copy_too_early", FindingKind::race}, Expectation{"box_read_too_early", FindingKind::race},
        Expectation{"box_over_what_is_read", FindingKind::race},
        Expectation{"box_of_other_bytes", FindingKind::deadlock},
        Expectation{"box_by_no_map", FindingKind::misused_instruction},
        Expectation{"box_by_a_map_aside", FindingKind::misaligned},
        Expectation{"box_behind_the_end", FindingKind::out_of_bounds},
        Expectation{"barrier_of_nobody", FindingKind::misused_instruction},
        Expectation{"phase_nobody_waits_for", FindingKind::misused_instruction},
        Expectation{"matrix_row_unaligned", FindingKind::misused_instruction},
        Expectation{"endless_wait", FindingKind::deadlock, 1}, Expectation{"asserted", FindingKind::stopped}),
    [](const auto& expectation) { return std::string(expectation.param.kernel); });

struct Refusal {
  const char* name;
  const char* source;
  BuildStatus status;
  const char* says;
};
void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

class Refusals : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refusals, name_what_cannot_be_built_and_its_line) {
  SimKernels kernels(std::string("\n") + GetParam().source +
                     "\n// extern \"C\" __global__ void attention(const int*, int*, int)");
  EXPECT_EQ(kernels.built().status, GetParam().status) << kernels.built().log;
  EXPECT_NE(kernels.built().log.find(GetParam().says), std::string::npos) << kernels.built().log;
}

INSTANTIATE_TEST_SUITE_P(
    Sources, Refusals,
    ::testing::Values(
        Refusal{"inline_ptx",
                "extern \"C\" __global__ void attention(const int* in, int* out, int n) { asm(\"bar;\"); }",
                BuildStatus::source_error, "asm: inline assembly cannot be simulated"},
        Refusal{"clusters", "__cluster_dims__(2) void f();", BuildStatus::source_error,
                "thread block clusters cannot be simulated"},
        Refusal{"a_syntax_error", "extern \"C\" __global__ void attention(const int* in, int* out, int n) { oops }",
                BuildStatus::source_error, "kernel.cu:2:"},
        Refusal{"no_such_kernel", "", BuildStatus::kernel_missing, "a launch names a kernel that the source does not"},
        Refusal{"a_kernel_with_a_mangled_name", "__global__ void attention(const int* in, int* out, int n) {}",
                BuildStatus::kernel_missing, "'attention', which is not declared extern \"C\" __global__"},
        Refusal{"too_few_parameters", "extern \"C\" __global__ void attention(const int* in, int* out) {}",
                BuildStatus::kernel_args, "'attention' are not the 3 that its launch passes"},
        Refusal{"a_float_for_a_number", "extern \"C\" __global__ void attention(const int* in, int* out, float n) {}",
                BuildStatus::kernel_args, "argument 3 is a whole number, declare it as an int"},
        Refusal{"too_much_static_shared_memory",
                "extern \"C\" __global__ void attention(const int* in, int* out, int n) { __shared__ int a[13000]; "
                "a[n] = 1; out[0] = a[0]; }",
                BuildStatus::resource, "52000 bytes of static shared memory, 49152 are allowed"},
        Refusal{"initialisers_that_run",
                "volatile int one = 1; __device__ int x = one + 1; "
                "extern \"C\" __global__ void attention(const int* in, int* out, int n) { out[0] = x; }",
                BuildStatus::source_error, "constant initialisers"}),
    [](const auto& refusal) { return std::string(refusal.param.name); });

}  // namespace
}  // namespace kw::sim
