// HIP C++ as the simulator runs it, with wavefronts of 64 and of 32 lanes: what differs from CUDA C++, and that
// findings know the width.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "device/device.hpp"
#include "device/testing/sim_fixture.hpp"

namespace kw::sim {
namespace {

constexpr const char* k_source = R"hip(
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#include <hip/hip_cooperative_groups.h>
extern "C" __global__ void __launch_bounds__(256) indices(const int* in, int* out, int n) {
  const int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  out[i] = in[i] * 1000 + hipGridDim_x * 100 + warpSize;
}
extern "C" __global__ void shuffles(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  int* o = out + 8 * t;
  o[0] = __shfl(in[t], warpSize - 1);
  o[1] = __shfl_up(in[t], 2);
  o[2] = __shfl_down(in[t], warpSize / 2);
  o[3] = __shfl_xor(in[t], warpSize / 2);
  o[4] = __shfl_xor(in[t], 16, 32);
  o[5] = (int)__shfl(0.5 * in[t], t + 1, 8);
  o[6] = __shfl_xor_sync(0xffffffffffffffffull, in[t], warpSize - 1);
  o[7] = (int)__shfl_down(1LL << 40 | in[t], 3);
}
extern "C" __global__ void votes(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  int* o = out + 8 * t;
  const unsigned long long odd = __ballot(in[t] & 1);
  o[0] = (int)odd;
  o[1] = (int)(odd >> 32);
  o[2] = __any(t == n) + 2 * __all(t < n);
  o[3] = __popcll(__activemask());
  o[4] = (int)(__ballot_sync(~0ull, t % warpSize >= 32) >> 32);
  o[5] = __popcll(__match_any_sync(~0ull, in[t] % 4));
  o[6] = __reduce_add_sync(~0ull, t);
  o[7] = __lane_id();
}
/// Lanes that take a branch work among themselves, and all of them together behind it.
extern "C" __global__ void branches(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  int sum = 0;
  if (t < 8) {
    sum = in[t];
    for (int step = 4; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  }
  out[2 * t] = sum;
  out[2 * t + 1] = __popcll(__ballot(1));
}
/// The same line twice, but two calls: on the hardware one after the other.
__device__ __forceinline__ int present(int weight) { return weight * __popcll(__ballot(1)); }
extern "C" __global__ void calls(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  if (t % warpSize < 8) out[t] = present(1);
  else out[t] = present(100);
}
__device__ int of_wavefront(int value) {
  for (int step = warpSize / 2; step > 0; step /= 2) value += __shfl_down(value, step);
  return value;
}
extern "C" __global__ void block_sum(const int* in, int* out, int n) {
  HIP_DYNAMIC_SHARED(int, parts)
  const int t = threadIdx.x;
  const int part = of_wavefront(in[t]);
  if (t % warpSize == 0) parts[t / warpSize] = part;
  __syncthreads();
  if (t < warpSize) {
    const int all = of_wavefront(t < (int)blockDim.x / warpSize ? parts[t] : 0);
    if (t == 0) out[0] = all;
  }
}
extern "C" __global__ void numbers(const int* in, int* out, int n) {
  const _Float16 a = (_Float16)1.5f, b = a * a;
  const __half h = __float2half(0.25f), from = b;
  const __hip_bfloat16 wide = __float2bfloat16(3.0f);
  out[0] = (int)(1000 * (float)b) + (int)(100.0f * __half2float(h));
  out[1] = (int)(__bfloat162float(wide) + __half2float(from));
  out[2] = sizeof(_Float16) + 10 * sizeof(__half2);
}
extern "C" __global__ void groups(const int* in, int* out, int n) {
  namespace cg = cooperative_groups;
  auto tile = cg::tiled_partition<warpSize>(cg::this_thread_block());
  out[threadIdx.x] = tile.shfl(in[threadIdx.x], tile.size() - 1) + 1000 * __popcll(tile.ballot(in[threadIdx.x] % 2));
}
extern "C" __global__ void atomics(const int* in, int* out, int n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, in[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = atomicMax(&count, 7);
}
#if defined(__gfx942__) == (KW_SIM_LANES == 64) && defined(__HIP_PLATFORM_AMD__) && !defined(__CUDACC__)
extern "C" __global__ void macros(const int* in, int* out, int n) { out[0] = __AMDGCN_WAVEFRONT_SIZE; }
#endif
)hip";

class Hip : public ::testing::TestWithParam<const char*> {
 protected:
  static void TearDownTestSuite() { built().clear(); }
  void SetUp() override {
    auto& kernels = built()[GetParam()];
    if (!kernels) kernels = std::make_unique<SimKernels>(k_source, SimKernels::hip_device(GetParam()));
    ASSERT_EQ(kernels->built().status, BuildStatus::ok) << kernels->built().log;
    kernels_ = kernels.get();
  }
  std::vector<std::int32_t> run(const TestLaunch& launch) {
    auto result = kernels_->run(launch);
    KW_CHECK(result.has_value(), "{}", result.error().message);
    return *std::move(result);
  }
  [[nodiscard]] static int lanes() { return GetParam() == std::string("gfx942") ? 64 : 32; }

 private:
  static std::map<std::string, std::unique_ptr<SimKernels>>& built() {
    static std::map<std::string, std::unique_ptr<SimKernels>> all;
    return all;
  }
  SimKernels* kernels_ = nullptr;
};

TEST_P(Hip, threads_know_their_place_by_its_own_names_and_the_width) {
  const auto out = run({"indices", 96, 7});
  for (int i = 0; i < 96 * 7; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], i * 1000 + 700 + lanes());
  EXPECT_EQ(run({"macros", 1})[0], lanes());
}

TEST_P(Hip, shuffles_reach_across_the_whole_wavefront) {
  const int width = lanes();
  const auto out = run({"shuffles", 128});
  for (int t = 0; t < 128; ++t) {
    const auto* o = &out[std::size_t{8} * static_cast<std::size_t>(t)];
    const int first = t / width * width, lane = t - first;
    EXPECT_EQ(o[0], first + width - 1);
    EXPECT_EQ(o[1], lane < 2 ? t : t - 2);
    EXPECT_EQ(o[2], lane < width / 2 ? t + width / 2 : t);
    EXPECT_EQ(o[3], t ^ (width / 2));
    EXPECT_EQ(o[4], t ^ 16);
    EXPECT_EQ(o[5], (t / 8 * 8 + (t + 1) % 8) / 2);
    EXPECT_EQ(o[6], t ^ (width - 1));
    EXPECT_EQ(o[7], lane + 3 < width ? t + 3 : t);
  }
}

TEST_P(Hip, votes_have_a_bit_for_every_lane) {
  const int width = lanes();
  const auto out = run({"votes", 64, 1, 0, 40});
  for (int t = 0; t < 64; ++t) {
    const auto* o = &out[std::size_t{8} * static_cast<std::size_t>(t)];
    const int first = t / width * width;
    EXPECT_EQ(static_cast<unsigned>(o[0]), 0xaaaaaaaaU);
    EXPECT_EQ(static_cast<unsigned>(o[1]), width == 64 ? 0xaaaaaaaaU : 0U);
    EXPECT_EQ(o[2], (first <= 40 && 40 < first + width ? 1 : 0) + (first + width <= 40 ? 2 : 0));
    EXPECT_EQ(o[3], width);
    EXPECT_EQ(static_cast<unsigned>(o[4]), width == 64 ? 0xffffffffU : 0U);
    EXPECT_EQ(o[5], width / 4);
    EXPECT_EQ(o[6], width * first + width * (width - 1) / 2);
    EXPECT_EQ(o[7], t - first);
  }
}

TEST_P(Hip, lanes_of_a_branch_shuffle_among_themselves_and_meet_the_others_behind_it) {
  const auto out = run({"branches", 64});
  for (int t = 0; t < 64; ++t) {
    EXPECT_EQ(out[static_cast<std::size_t>(2 * t)], t < 8 ? 28 : 0) << t;
    EXPECT_EQ(out[static_cast<std::size_t>(2 * t + 1)], lanes()) << t;
  }
}

TEST_P(Hip, two_branches_that_call_the_same_function_do_not_meet_in_it) {
  const auto out = run({"calls", 64});
  for (int t = 0; t < 64; ++t) {
    EXPECT_EQ(out[static_cast<std::size_t>(t)], t % lanes() < 8 ? 8 : 100 * (lanes() - 8)) << t;
  }
}

TEST_P(Hip, a_block_is_summed_over_wavefronts_and_dynamic_shared_memory) {
  EXPECT_EQ(run({"block_sum", 256, 1, 32})[0], 255 * 256 / 2);
  EXPECT_EQ(run({"block_sum", 64, 1, 8})[0], 63 * 64 / 2);
}

TEST_P(Hip, half_precision_and_bfloat16_have_their_names_there) {
  const auto out = run({"numbers", 1});
  EXPECT_EQ(out[0], 2275);
  EXPECT_EQ(out[1], 5);
  EXPECT_EQ(out[2], 42);
}

TEST_P(Hip, tiles_of_a_block_may_be_a_whole_wavefront) {
  const auto out = run({"groups", 64});
  for (int t = 0; t < 64; ++t) {
    const int first = t / lanes() * lanes();
    EXPECT_EQ(out[static_cast<std::size_t>(t)], first + lanes() - 1 + 1000 * (lanes() / 2));
  }
}

TEST_P(Hip, atomics_in_shared_memory) {
  EXPECT_EQ(run({"atomics", 64, 3})[2], 63 * 64 / 2);
}

INSTANTIATE_TEST_SUITE_P(Wavefronts, Hip, ::testing::Values("gfx942", "gfx1100"),
                         [](const auto& arch) { return std::string(arch.param); });

/// Each is wrong for n = 1 and right for n = 0; the line with the mistake carries the kernel's name in a comment.
constexpr const char* k_wrong = R"hip(
extern "C" __global__ void race_of_wavefronts(const int* in, int* out, int n) {
  __shared__ int box[128];
  box[threadIdx.x] = in[threadIdx.x];  // race_of_wavefronts
  if (!n) __syncthreads();
  out[threadIdx.x] = box[127 - threadIdx.x];
}
extern "C" __global__ void race_of_lanes(const int* in, int* out, int n) {
  __shared__ int box[64];
  box[threadIdx.x] = in[threadIdx.x];  // race_of_lanes
  if (!n) __syncwarp();
  out[threadIdx.x] = box[(threadIdx.x + warpSize / 2) % warpSize + threadIdx.x / warpSize * warpSize];
}
extern "C" __global__ void some_at_barrier(const int* in, int* out, int n) {
  if (n && threadIdx.x >= 96) return;
  __syncthreads();  // some_at_barrier
  out[threadIdx.x] = 1;
}
extern "C" __global__ void two_barriers(const int* in, int* out, int n) {
  if (n && threadIdx.x % warpSize == 1) {
    __syncthreads();  // two_barriers
  } else {
    __syncthreads();
  }
}
extern "C" __global__ void absent_lane(const int* in, int* out, int n) {
  int v = 0;
  if (threadIdx.x % warpSize < 8) v = __shfl(in[threadIdx.x], n ? warpSize - 1 : 7);  // absent_lane
  out[threadIdx.x] = v;
}
extern "C" __global__ void not_in_mask(const int* in, int* out, int n) {
  const unsigned long long all = ~0ull;
  out[threadIdx.x] = __shfl_sync(n ? all >> (65 - warpSize) : all, in[threadIdx.x], 0);  // not_in_mask
}
extern "C" __global__ void lanes_missing(const int* in, int* out, int n) {
  if (!n || threadIdx.x % warpSize > 0) __syncwarp(~0ull);
  else __syncthreads();  // lanes_missing
}
)hip";

struct WrongKernel {
  const char* kernel;
  FindingKind kind;
  const char* arch;
  std::int64_t threads;
};

void PrintTo(const WrongKernel& wrong, std::ostream* out) {
  *out << wrong.kernel << " on " << wrong.arch;
}

class HipFindings : public ::testing::TestWithParam<WrongKernel> {};

int line_of_comment(const std::string& name) {
  const std::string source = k_wrong;
  const std::size_t at = source.find("// " + name + "\n");
  return static_cast<int>(std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1;
}

TEST_P(HipFindings, name_kind_and_line_whatever_the_width_and_the_twin_passes) {
  const WrongKernel& expected = GetParam();
  SimKernels kernels(k_wrong, SimKernels::hip_device(expected.arch));
  ASSERT_EQ(kernels.built().status, BuildStatus::ok) << kernels.built().log;
  TestLaunch launch{expected.kernel, expected.threads};
  const auto right = kernels.run(launch);
  EXPECT_TRUE(right.has_value()) << right.error().message;
  launch.n = 1;
  const auto wrong = kernels.run(launch);
  ASSERT_FALSE(wrong.has_value()) << "nothing was found";
  EXPECT_EQ(wrong.error().code, errc::device_refused);
  const std::string& message = wrong.error().message;
  EXPECT_EQ(message.find(fmt::format("the simulator found: {}: ", to_string(expected.kind))), 0U) << message;
  EXPECT_NE(message.find(fmt::format(", line {}", line_of_comment(expected.kernel))), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Wavefronts, HipFindings,
                         ::testing::Values(WrongKernel{"race_of_wavefronts", FindingKind::race, "gfx942", 128},
                                           WrongKernel{"race_of_wavefronts", FindingKind::race, "gfx1100", 128},
                                           WrongKernel{"race_of_lanes", FindingKind::race, "gfx942", 64},
                                           WrongKernel{"some_at_barrier", FindingKind::divergent_barrier, "gfx942",
                                                       128},
                                           WrongKernel{"two_barriers", FindingKind::divergent_barrier, "gfx942", 128},
                                           WrongKernel{"absent_lane", FindingKind::inactive_lane, "gfx942", 64},
                                           WrongKernel{"absent_lane", FindingKind::inactive_lane, "gfx1100", 32},
                                           WrongKernel{"not_in_mask", FindingKind::misused_instruction, "gfx942", 64},
                                           WrongKernel{"lanes_missing", FindingKind::deadlock, "gfx942", 64}),
                         [](const auto& wrong) { return std::string(wrong.param.kernel) + "_" + wrong.param.arch; });

/// `body` as a kernel that a launch names.
BuildReply built(const std::string& body, const char* arch = "gfx942") {
  SimKernels kernels("extern \"C\" __global__ void attention(const int* in, int* out, int n) {\n" + body + "\n}\n",
                     SimKernels::hip_device(arch));
  return kernels.built();
}

void expect_refused(const std::string& body, const std::string& says, BuildStatus status = BuildStatus::source_error) {
  const BuildReply reply = built(body);
  EXPECT_EQ(reply.status, status) << reply.log;
  EXPECT_NE(reply.log.find(says), std::string::npos) << reply.log;
}

TEST(HipRefusals, name_what_cannot_be_simulated) {
  expect_refused("out[0] = __builtin_amdgcn_workgroup_id_x();",
                 "__builtin_amdgcn_workgroup_id_x: AMD's builtins cannot be simulated");
  expect_refused("asm volatile(\"s_barrier\");", "asm: inline assembly cannot be simulated");
  expect_refused("hipMalloc(nullptr, 4);", "hipMalloc: a bundle is device code");
  expect_refused("out[0] = __shfl_sync(0xffffffff, n, 0);", "the mask must be a 64-bit integer");
  expect_refused("out[0] = oops;", "kernel.hip:2:");
}

TEST(HipRefusals, a_block_has_64_kib_of_shared_memory_declared_or_not) {
  EXPECT_EQ(built("__shared__ int a[16384]; a[n] = 1; out[0] = a[0];").status, BuildStatus::ok);
  expect_refused("__shared__ int a[16385]; a[n] = 1; out[0] = a[0];",
                 "65540 bytes of static shared memory, 65536 are allowed", BuildStatus::resource);
}

TEST(HipRefusals, what_stands_outside_simulated_branches_is_not_looked_at) {
  const BuildReply reply = built("#ifdef KW_SIM\nout[0] = 1;\n#else\n__builtin_amdgcn_s_barrier();\n#endif");
  EXPECT_EQ(reply.status, BuildStatus::ok) << reply.log;
}

TEST(HipRefusals, the_cuda_language_has_none_of_its_names) {
  SimKernels kernels(
      "extern \"C\" __global__ void attention(const int* in, int* out, int n) { out[0] = __shfl(n, 0); }");
  EXPECT_EQ(kernels.built().status, BuildStatus::source_error);
  EXPECT_NE(kernels.built().log.find("__shfl"), std::string::npos) << kernels.built().log;
}

}  // namespace
}  // namespace kw::sim
