// CUDA C++ as the simulator runs it, feature by feature, against answers computed here.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "base/bfloat.hpp"
#include "base/rng.hpp"
#include "device/c_names_kernel.hpp"
#include "device/testing/sim_fixture.hpp"

namespace kw::sim {
namespace {

constexpr const char* k_source = R"cuda(
extern "C" __global__ void indices(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 1000 + gridDim.x * 100 + warpSize;
}
__constant__ int table[4] = {3, 1, 4, 1};
extern "C" __global__ void __launch_bounds__(128) reverse(const int* in, int* out, int n) {
  extern __shared__ int reversed[];
  __shared__ half halves[128];
  reversed[n - 1 - threadIdx.x] = in[threadIdx.x];
  halves[threadIdx.x] = __int2half_rn(table[threadIdx.x % 4]);
  __syncthreads();
  out[threadIdx.x] = reversed[threadIdx.x] + 1000 * (int)__half2float(halves[n - 1 - threadIdx.x]);
}
extern "C" __global__ void votes(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  int* o = out + 8 * t;
  o[0] = __syncthreads_count(in[t] % 3 == 0);
  o[1] = __syncthreads_and(in[t] < n);
  o[2] = __syncthreads_or(in[t] == 5);
  o[3] = __ballot_sync(0xffffffff, in[t] & 1);
  o[4] = __any_sync(0xffffffff, t == 40) + 2 * __all_sync(0xffffffff, t < 32);
  o[5] = __match_any_sync(0xffffffff, in[t] % 4);
  int all_equal = 7;
  o[6] = __match_all_sync(0xffffffff, t / 32, &all_equal);
  o[7] = all_equal + 10 * __reduce_add_sync(0xffffffff, t) + __reduce_max_sync(0xffffffff, -t);
}
extern "C" __global__ void shuffles(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  int* o = out + 8 * t;
  o[0] = __shfl_sync(0xffffffff, in[t], 3);
  o[1] = __shfl_up_sync(0xffffffff, in[t], 2);
  o[2] = __shfl_down_sync(0xffffffff, in[t], 5, 16);
  o[3] = __shfl_xor_sync(0xffffffff, in[t], 9);
  o[4] = (int)__shfl_sync(0xffffffff, 0.5 * in[t], t + 1, 8);
  o[5] = (int)__half2float(__shfl_xor_sync(0xffffffff, __int2half_rn(in[t]), 1));
  o[6] = 0;
  if (t % 2 == 0) o[6] = __shfl_sync(0x55555555, in[t], 4);
  o[7] = (int)(__shfl_sync(0xffffffff, 1LL << 40 | in[t], 6) >> 38);
}
extern "C" __global__ void atomics(const int* in, int* out, int n) {
  __shared__ int count;
  __shared__ float sum;
  const int t = threadIdx.x;
  if (t == 0) { count = 0; sum = 0.0f; }
  __syncthreads();
  atomicAdd(&count, in[t]);
  atomicAdd(&sum, 0.5f);
  __syncthreads();
  int* o = out + 4 * blockIdx.x;
  if (t == 0) { o[0] = count; o[1] = (int)sum; }
  __syncthreads();
  if (t == 1) {
    count = 7;
    const int seven = atomicCAS(&count, 7, 9), nine = atomicMax(&count, 20), twenty = atomicExch(&count, 3);
    o[2] = seven + 10 * nine + 1000 * twenty;
    o[3] = 10 * atomicInc(reinterpret_cast<unsigned*>(&count), 3) + count;
  }
}
/// The last block to come adds up what all blocks wrote.
extern "C" __global__ void last_block(const int* in, int* out, int n) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    out[1 + blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicAdd(out + 1000, 1) == (int)gridDim.x - 2;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += out[1 + i];
    out[0] = sum;
  }
}
/// Every thread adds to a sum, and the last one to come reads it.
extern "C" __global__ void last_thread(const int* in, int* out, int n) {
  atomicAdd(out, in[threadIdx.x]);
  __threadfence();
  if (atomicAdd(out + 1000, 1) == (int)blockDim.x - 2) out[1] = out[0];
}
extern "C" __global__ void vectors(const int* in, int* out, int n) {
  const int4 four = *reinterpret_cast<const int4*>(in + 4 * threadIdx.x);
  reinterpret_cast<int2*>(out)[threadIdx.x] = make_int2(four.x + four.w, four.y * four.z);
  out[1000 + threadIdx.x] = __ldg(in + threadIdx.x) + sizeof(float3) * 100 + alignof(float4) * 10000;
}
extern "C" __global__ void arithmetic(const int* in, int* out, int n) {
  out[0] = __popc(0xf0f0) + 100 * __clz(1 << 20) + 10000 * __ffs(8);
  out[1] = __brev(1) == 0x80000000u;
  out[2] = __float2int_rn(2.5f) + 10 * __float2int_rn(3.5f) + 100 * __float2int_rz(-1.9f);
  out[3] = __float_as_int(__expf(1.0f) ); out[4] = __float_as_int(__fdividef(1.0f, 3.0f));
  out[5] = __float_as_int(rsqrtf(2.0f)); out[6] = __float_as_int(__fmaf_rn(3.0f, 5.0f, 7.0f));
  out[7] = __half_as_ushort(__hfma(__float2half(1.5f), __float2half(2.0f), __float2half(0.25f)));
  out[8] = __bfloat16_as_ushort(__float2bfloat16(1.00390625f)); out[9] = __kw_sim_to_tf32(__int_as_float(0x3f801000));
  out[10] = min(3, 5) + 10 * max(2u, 7u) + (int)fmaxf(-1.0f, 100.0f); out[11] = __byte_perm(0x33221100, 0x77665544, 0x7250);
  half2 pair = __hadd2(__floats2half2_rn(1.0f, 2.0f), __float2half2_rn(0.5f));
  out[12] = (int)(100 * __low2float(pair) + 10 * __high2float(pair));
  char text[4]; memcpy(text, in + 1, 4); out[13] = text[0]; out[14] = isnan(NAN) + 2 * isinf(-INFINITY);
}
extern "C" __global__ void bfloats(const int* in, int* out, int n) {
  // In: bits of 64 floats, two to a thread.
  const float low = __int_as_float(in[2 * threadIdx.x]), high = __int_as_float(in[2 * threadIdx.x + 1]);
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  memcpy(out + threadIdx.x, &pair, 4);
  const float2 back = __bfloat1622float2(__lowhigh2highlow(pair));
  out[32 + threadIdx.x] = __float_as_int(back.x) == __float_as_int(__bfloat162float(__float2bfloat16(high))) &&
                          __float_as_int(back.y) == __float_as_int(__bfloat162float(__low2bfloat16(pair)));
  out[64 + threadIdx.x] = __bfloat162int_rn(__float2bfloat16(2.5f)) + 10 * __bfloat162int_rz(__float2bfloat16(-1.9f));
  __shared__ __nv_bfloat162 sum;
  if (threadIdx.x == 0) sum = __float2bfloat162_rn(0.0f);
  __syncthreads();
  atomicAdd(&sum, __lows2bfloat162(__float2bfloat162_rn(1.0f), __float2bfloat162_rn(0.5f)));
  __syncthreads();
  if (threadIdx.x == 0) out[96] = (int)__low2float(sum) + 100 * (int)__high2float(sum);
}
extern "C" __global__ void groups(const int* in, int* out, int n) {
  namespace cg = cooperative_groups;
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  __shared__ int first[16];
  if (tile.thread_rank() == 0) first[tile.meta_group_rank()] = in[block.thread_rank()];
  block.sync();
  out[block.thread_rank()] = first[tile.meta_group_rank()] + 1000 * tile.shfl(in[threadIdx.x], 2) +
                             100000 * (int)cg::reduce(tile, 1, cg::plus<int>());
}
extern "C" __global__ void copies(const int* in, int* out, int n) {
  extern __shared__ int stage[];
  const int t = threadIdx.x;
  for (int s = 0; s < 2; ++s) {
    __kw_sim_cp_async_16(stage + 4 * (t + s * 32), in + 4 * (t + s * 32), t == 31 ? 8 : 16);
    __kw_sim_cp_async_commit();
  }
  __kw_sim_cp_async_wait_group<1>();
  __syncthreads();
  out[t] = stage[127 - t];
  __kw_sim_cp_async_wait_group<0>();
  __syncthreads();
  out[t + 32] = stage[128 + t];
}
/// Lane-to-lane: a matrix through shared memory, transposed, multiplied by the identity.
extern "C" __global__ void matrices(const int* in, int* out, int n) {
  __shared__ __align__(16) half tile[16][16];
  const int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) tile[i / 16][i % 16] = __int2half_rn(in[i]);
  __syncwarp();
  unsigned a[4], b[2];
  __kw_sim_ldmatrix_x4(a, &tile[t % 16][t / 16 * 8]);
  for (int i = 0; i < 2; ++i) {
    const int k = t % 4 * 2 + 8 * i;
    half2 pair = __floats2half2_rn(k == t / 4 ? 1.0f : 0.0f, k + 1 == t / 4 ? 1.0f : 0.0f);
    memcpy(&b[i], &pair, 4);
  }
  float d[4] = {0.5f, 0.5f, 0.5f, 0.5f};
  __kw_sim_mma_m16n8k16_f16_f32(d, a, b);
  for (int i = 0; i < 4; ++i) out[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = (int)(d[i] * 2.0f);
}
/// One warp waits for another through memory that both look at.
extern "C" __global__ void flags(const int* in, int* out, int n) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) while (atomicAdd(&flag, 0) == 0) {}
  if (threadIdx.x == 32) atomicExch(&flag, 1);
  __syncthreads();
  out[threadIdx.x] = atomicAdd(&flag, 0);
}
)cuda";

class Features : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { kernels = std::make_unique<SimKernels>(k_source); }
  static void TearDownTestSuite() { kernels.reset(); }
  void SetUp() override { ASSERT_EQ(kernels->built().status, BuildStatus::ok) << kernels->built().log; }
  static std::vector<std::int32_t> run(const TestLaunch& launch, const std::vector<std::int32_t>& in = {}) {
    auto result = kernels->run(std::vector{launch}, in);
    KW_CHECK(result.has_value(), "{}", result.error().message);
    return *std::move(result);
  }
  static inline std::unique_ptr<SimKernels> kernels;
};

TEST(CNames, are_there_with_and_without_an_include) {
  for (const bool with_headers : {false, true}) {
    SimKernels kernels(c_names_kernel("cuda", with_headers));
    ASSERT_EQ(kernels.built().status, BuildStatus::ok) << kernels.built().log;
    const auto out = kernels.run(TestLaunch{"k"});
    ASSERT_TRUE(out) << out.error().to_string();
    EXPECT_EQ(out->at(0), 1);
  }
}

TEST(CNames, of_the_toolkits_constants_need_their_header) {
  const std::string kernel = R"(
extern "C" __global__ void k(const int* in, int* out, int n) { out[0] = CUDART_INF_F > 1 && CUDART_PI_F > 3.14f; }
)";
  EXPECT_EQ(SimKernels(kernel).built().status, BuildStatus::source_error);
  EXPECT_EQ(SimKernels("#include <math_constants.h>" + kernel).built().status, BuildStatus::ok);
}

TEST_F(Features, threads_know_their_place_in_block_and_grid) {
  const auto out = run({"indices", 96, 7});
  for (int i = 0; i < 96 * 7; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], i * 1000 + 732);
}

TEST_F(Features, static_and_dynamic_shared_memory_and_constants) {
  const auto out = run({"reverse", 128, 1, 128 * 4, 128});
  constexpr int k_table[] = {3, 1, 4, 1};
  for (int i = 0; i < 128; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], 127 - i + 1000 * k_table[(127 - i) % 4]);
}

TEST(SharedMemory, of_a_launch_is_what_its_own_kernel_declares) {
  SimKernels kernels(R"(
__device__ int turned(const int* in, int n) {
  __shared__ int common[100];
  common[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  return common[n - threadIdx.x];
}
extern "C" __global__ void first(const int* in, int* out, int n) {
  __shared__ int own[9000];
  own[threadIdx.x] = turned(in, n);
  out[threadIdx.x] = own[threadIdx.x];
}
extern "C" __global__ void second(const int* in, int* out, int n) {
  __shared__ int own[8000];
  own[threadIdx.x] = turned(in, n);
  out[32 + threadIdx.x] = own[threadIdx.x];
}
)");
  ASSERT_EQ(kernels.built().status, BuildStatus::ok) << kernels.built().log;
  EXPECT_EQ(kernels.built().shared_bytes, 4 * (9000 + 100));
  const auto out = kernels.run(std::vector<TestLaunch>{{"first", 32, 1, 0, 31}, {"second", 32, 1, 0, 31}});
  ASSERT_TRUE(out) << out.error().to_string();
  for (int i = 0; i < 64; ++i) EXPECT_EQ((*out)[static_cast<std::size_t>(i)], 31 - i % 32);
}

TEST_F(Features, votes_matches_and_reductions) {
  const auto out = run({"votes", 64, 1, 0, 64});
  for (int t = 0; t < 64; ++t) {
    const auto* o = &out[std::size_t{8} * static_cast<std::size_t>(t)];
    EXPECT_EQ(o[0], 22);
    EXPECT_EQ(o[1], 1);
    EXPECT_EQ(o[2], 1);
    EXPECT_EQ(static_cast<unsigned>(o[3]), 0xaaaaaaaaU);
    EXPECT_EQ(o[4], t < 32 ? 2 : 1);
    EXPECT_EQ(static_cast<unsigned>(o[5]), 0x11111111U << t % 4);
    EXPECT_EQ(static_cast<unsigned>(o[6]), 0xffffffffU);
    const int first = t / 32 * 32;
    EXPECT_EQ(o[7], 1 + 10 * (32 * first + 496) - first);
  }
}

TEST_F(Features, shuffles_of_every_kind_width_and_type) {
  const auto out = run({"shuffles", 32});
  for (int t = 0; t < 32; ++t) {
    const auto* o = &out[std::size_t{8} * static_cast<std::size_t>(t)];
    EXPECT_EQ(o[0], 3);
    EXPECT_EQ(o[1], t < 2 ? t : t - 2);
    EXPECT_EQ(o[2], t % 16 + 5 < 16 ? t + 5 : t);
    EXPECT_EQ(o[3], t ^ 9);
    EXPECT_EQ(o[4], (t / 8 * 8 + (t + 1) % 8) / 2);
    EXPECT_EQ(o[5], t ^ 1);
    EXPECT_EQ(o[6], t % 2 == 0 ? 4 : 0);
    EXPECT_EQ(o[7], 4);
  }
}

TEST_F(Features, a_fence_and_an_atomic_order_threads_without_a_barrier) {
  EXPECT_EQ(run({"last_thread", 100})[1], 99 * 100 / 2 - 1);
}

TEST_F(Features, atomics_in_shared_memory) {
  const auto out = run({"atomics", 64, 3});
  for (std::size_t block = 0; block < 3; ++block) {
    EXPECT_EQ(out[4 * block], 63 * 64 / 2);
    EXPECT_EQ(out[4 * block + 1], 32);
    EXPECT_EQ(out[4 * block + 2], 7 + 90 + 20000);
    EXPECT_EQ(out[4 * block + 3], 30);
  }
}

TEST_F(Features, the_last_block_may_read_what_the_others_released) {
  const auto out = run({"last_block", 32, 40});
  EXPECT_EQ(out[0], 39 * 40 / 2);
}

TEST_F(Features, vector_types_have_the_alignment_of_gpus) {
  const auto out = run({"vectors", 32});
  for (int t = 0; t < 32; ++t) {
    const auto i = static_cast<std::size_t>(t);
    EXPECT_EQ(out[2 * i], 8 * t + 3);
    EXPECT_EQ(out[2 * i + 1], (4 * t + 1) * (4 * t + 2));
    EXPECT_EQ(out[1000 + i], t + 161200);
  }
}

TEST_F(Features, intrinsics_and_small_formats) {
  const auto out = run({"arithmetic", 1});
  EXPECT_EQ(out[0], 8 + 1100 + 40000);
  EXPECT_EQ(out[1], 1);
  EXPECT_EQ(out[2], 2 + 40 - 100);
  EXPECT_NEAR(std::bit_cast<float>(out[3]), std::exp(1.0F), 1e-6);
  EXPECT_EQ(std::bit_cast<float>(out[4]), 1.0F / 3.0F);
  EXPECT_NEAR(std::bit_cast<float>(out[5]), std::sqrt(0.5F), 1e-7);
  EXPECT_EQ(std::bit_cast<float>(out[6]), 22.0F);
  EXPECT_EQ(out[7], 0x4280);  // 3.25
  EXPECT_EQ(out[8], 0x3f80) << "halfway between two bfloat16 goes to the even one";
  EXPECT_EQ(out[9], 0x3f802000);
  EXPECT_EQ(out[10], 3 + 70 + 100);
  EXPECT_EQ(out[11], 0x77225500);
  EXPECT_EQ(out[12], 175);
  EXPECT_EQ(out[13], 1);
  EXPECT_EQ(out[14], 3);
}

TEST_F(Features, bfloats_are_stored_as_the_host_stores_them) {
  constexpr std::uint64_t k_seed = 31;
  Rng rng(k_seed);
  std::vector<std::int32_t> in(64);
  for (auto& bits : in) bits = static_cast<std::int32_t>(rng.next());
  in[0] = 0x3f808000;                              // a tie
  in[1] = 0x00018000;                              // subnormal, a tie
  in[2] = 0x7f7fffff;                              // beyond the largest
  in[3] = std::bit_cast<std::int32_t>(0x1p-140F);  // below half of the smallest
  const auto out = run({"bfloats", 32}, in);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto value = std::bit_cast<float>(in[i]);
    const auto got = static_cast<std::uint16_t>(static_cast<std::uint32_t>(out[i / 2]) >> (16 * (i % 2)));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(bfloat_value(got))) << "bits " << in[i] << ", seed " << k_seed;
      continue;
    }
    EXPECT_EQ(got, bfloat_bits(value)) << "bits " << in[i] << ", seed " << k_seed;
  }
  for (std::size_t t = 0; t < 32; ++t) EXPECT_EQ(out[32 + t], 1) << t;
  EXPECT_EQ(out[64], 2 - 10);
  EXPECT_EQ(out[96], 32 + 100 * 16);
}

TEST_F(Features, cooperative_groups_of_blocks_and_tiles) {
  const auto out = run({"groups", 64});
  for (int t = 0; t < 64; ++t) {
    const int first = t / 8 * 8;
    EXPECT_EQ(out[static_cast<std::size_t>(t)], first + 1000 * (first + 2) + 800000);
  }
}

TEST_F(Features, asynchronous_copies_arrive_group_by_group_and_fill_with_zeros) {
  const auto out = run({"copies", 32, 1, 1024});
  for (int t = 0; t < 32; ++t) {
    const int last = 127 - t;
    EXPECT_EQ(out[static_cast<std::size_t>(t)], last >= 126 ? 0 : last);
    EXPECT_EQ(out[static_cast<std::size_t>(t) + 32], 128 + t);
  }
}

TEST_F(Features, matrices_go_through_shared_memory_registers_and_tensor_cores) {
  const auto out = run({"matrices", 32});
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      EXPECT_EQ(out[static_cast<std::size_t>(row * 8 + column)], 2 * (row * 16 + column) + 1);
    }
  }
}

TEST_F(Features, a_thread_may_wait_for_another_warp) {
  const auto out = run({"flags", 64});
  for (std::size_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], 1);
}

}  // namespace
}  // namespace kw::sim
