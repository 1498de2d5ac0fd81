// Products of a warpgroup against plain sums, with operands laid out by the PTX ISA's formula for a swizzle of 128
// bytes: 16-byte chunk c of row r, rows of 128 bytes, lies at chunk c xor (r mod 8).
#include <gtest/gtest.h>

#include <memory>

#include "device/testing/sim_fixture.hpp"

namespace kw::sim {
namespace {

// Values are small integers, so that sums are exact. `wide` columns of b are two panels of 64, summed over rows.
constexpr const char* k_source = R"(
#define ROWS 64
__device__ int left(int row, int k) { return (row * 7 + k * 3) % 11 - 5; }
__device__ int right(int k, int column) { return (k * 5 + column * 2) % 13 - 6; }
__device__ int place(int row, int column) { return row * 64 + (column / 8 ^ row % 8) * 8 + column % 8; }

extern "C" __global__ void rows(const int* in, int* out, int n) {
  __shared__ __align__(1024) __half a[ROWS * 64], b[64 * 64];
  for (int i = threadIdx.x; i < ROWS * 64; i += 128) {
    a[place(i / 64, i % 64)] = __float2half((float)left(i / 64, i % 64));
    b[place(i / 64, i % 64)] = __float2half((float)right(i % 64, i / 64));
  }
  __syncthreads();
  float d[8][4];
  for (int k = 0; k < 64; k += 16) __kw_sim_wgmma_m64k16_f16_f32(d, a + k, b + k, k > 0);
  __kw_sim_wgmma_commit_group();
  __kw_sim_wgmma_wait_group<0>();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 4; ++i)
      out[(16 * warp + lane / 4 + i / 2 * 8) * 64 + 8 * j + lane % 4 * 2 + i % 2] = (int)d[j][i];
}

// 32 steps of four bytes are a row; what a number of tf32 has no room for is not read.
extern "C" __global__ void tf32(const int* in, int* out, int n) {
  __shared__ __align__(1024) float a[ROWS * 32], b[8 * 32];
  for (int i = threadIdx.x; i < ROWS * 32; i += 128) {
    const int row = i / 32, k = i % 32, at = row * 32 + (k / 4 ^ row % 8) * 4 + k % 4;
    a[at] = __int_as_float(__float_as_int((float)left(row, k)) | 0xfff);
    if (row < 8) b[at] = (float)right(k, row);
  }
  __syncthreads();
  float d[1][4];
  for (int k = 0; k < 32; k += 8) __kw_sim_wgmma_m64k8_tf32_f32(d, a + k, b + k, k > 0);
  __kw_sim_wgmma_commit_group();
  __kw_sim_wgmma_wait_group<0>();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = 0; i < 4; ++i) out[(16 * warp + lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = (int)d[0][i];
}

extern "C" __global__ void columns(const int* in, int* out, int n) {
  __shared__ __align__(1024) __nv_bfloat16 b[2 * 16 * 64];
  for (int i = threadIdx.x; i < 16 * 128; i += 128)
    b[i % 128 / 64 * 16 * 64 + place(i / 128, i % 64)] = __float2bfloat16((float)right(i / 128, i % 128));
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = 16 * warp + lane / 4, k = lane % 4 * 2;
  unsigned a[4];
  for (int i = 0; i < 4; ++i) {
    const int r = row + i % 2 * 8, c = k + i / 2 * 8;
    const __nv_bfloat162 pair = __floats2bfloat162_rn((float)left(r, c), (float)left(r, c + 1));
    memcpy(&a[i], &pair, 4);
  }
  float d[16][4];
  for (int j = 0; j < 16; ++j)
    for (int i = 0; i < 4; ++i) d[j][i] = 1.0f;
  __kw_sim_wgmma_trans_m64k16_bf16_f32(d, a, b, 16 * 128);
  __kw_sim_wgmma_commit_group();
  __kw_sim_wgmma_wait_group<0>();
  // Of 128 columns, the ones that tell the panels apart.
  for (int j = 4; j < 12; ++j)
    for (int i = 0; i < 4; ++i) out[(row + i / 2 * 8) * 64 + 8 * (j - 4) + k + i % 2] = (int)d[j][i];
}

// As `columns`, with the rows of `left` in shared memory.
extern "C" __global__ void rows_by_columns(const int* in, int* out, int n) {
  __shared__ __align__(1024) __nv_bfloat16 a[ROWS * 64], b[2 * 16 * 64];
  for (int i = threadIdx.x; i < ROWS * 64; i += 128)
    a[place(i / 64, i % 64)] = __float2bfloat16((float)left(i / 64, i % 64));
  for (int i = threadIdx.x; i < 16 * 128; i += 128)
    b[i % 128 / 64 * 16 * 64 + place(i / 128, i % 64)] = __float2bfloat16((float)right(i / 128, i % 128));
  __syncthreads();
  float d[16][4];
  for (int j = 0; j < 16; ++j)
    for (int i = 0; i < 4; ++i) d[j][i] = 1.0f;
  __kw_sim_wgmma_columns_m64k16_bf16_f32(d, a, b, 16 * 128);
  __kw_sim_wgmma_commit_group();
  __kw_sim_wgmma_wait_group<0>();
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  for (int j = 4; j < 12; ++j)
    for (int i = 0; i < 4; ++i) out[(row + i / 2 * 8) * 64 + 8 * (j - 4) + lane % 4 * 2 + i % 2] = (int)d[j][i];
}

// Sums of two groups, looked at after everything that a kernel may wait for; bit i of out: at look i they were there.
extern "C" __global__ void waits(const int* in, int* out, int n) {
  __shared__ __align__(1024) __half a[ROWS * 64], b[8 * 64];
  for (int i = threadIdx.x; i < ROWS * 64; i += 128) a[i] = __float2half(1.0f);
  for (int i = threadIdx.x; i < 8 * 64; i += 128) b[i] = __float2half(1.0f);
  __syncthreads();
  float first[1][4] = {}, second[1][4] = {};
  int seen = 0, look = 0;
  auto see = [&] {
    seen |= (first[0][0] == 16 ? 1 : 0) << look | (second[0][0] == 32 ? 1 : 0) << (look + 8);
    ++look;
  };
  __kw_sim_wgmma_m64k16_f16_f32(first, a, b, false);
  __kw_sim_wgmma_wait_group<0>();
  see();
  __kw_sim_wgmma_commit_group();
  see();
  __kw_sim_wgmma_m64k16_f16_f32(second, a, b, true);
  __kw_sim_wgmma_m64k16_f16_f32(second, a, b, true);
  __kw_sim_wgmma_commit_group();
  __kw_sim_wgmma_wait_group<2>();
  see();
  __kw_sim_wgmma_wait_group<1>();
  see();
  __kw_sim_wgmma_wait_group<0>();
  see();
  out[threadIdx.x] = seen;
}

// Adds up a tile that is overwritten before, or after, it is waited for.
extern "C" __global__ void overwritten(const int* in, int* out, int n) {
  __shared__ __align__(1024) __half a[ROWS * 64], b[8 * 64];
  for (int i = threadIdx.x; i < ROWS * 64; i += 128) a[i] = __float2half(1.0f);
  for (int i = threadIdx.x; i < 8 * 64; i += 128) b[i] = __float2half(1.0f);
  __syncthreads();
  float d[1][4];
  __kw_sim_wgmma_m64k16_f16_f32(d, a, b, false);
  __kw_sim_wgmma_commit_group();
  if (n) __kw_sim_wgmma_wait_group<0>();
  __syncthreads();
  for (int i = threadIdx.x; i < 8 * 64; i += 128) b[i] = __float2half(2.0f);
  __syncthreads();
  __kw_sim_wgmma_wait_group<0>();
  out[threadIdx.x] = (int)d[0][0];
}

extern "C" __global__ void misplaced(const int* in, int* out, int n) {
  __shared__ __align__(1024) __half a[ROWS * 64];
  for (int i = threadIdx.x; i < ROWS * 64; i += 128) a[i] = __float2half(0.0f);
  __syncthreads();
  float d[1][4];
  __kw_sim_wgmma_m64k16_f16_f32(d, a + 64, a, false);
}
)";

// Its own source: shared memory of all kernels of one is counted together.
constexpr const char* k_places_source = R"(
#define ROWS 64
__device__ int left(int row, int k) { return (row * 7 + k * 3) % 11 - 5; }
__device__ int right(int k, int column) { return (k * 5 + column * 2) % 13 - 6; }

// Without a swizzle: places of 16 bytes. Of b, the second four steps lie 37 places behind the first, and 8 columns 10
// places behind those before them; it begins at an odd place.
extern "C" __global__ void places(const int* in, int* out, int n) {
  __shared__ __align__(128) float a[2 * ROWS * 4], b[128 * 4];
  for (int i = threadIdx.x; i < ROWS * 8; i += 128)
    a[(i % 8 / 4 * ROWS + i / 8) * 4 + i % 4] = (float)left(i / 8, i % 8);
  for (int i = threadIdx.x; i < 128 * 4; i += 128) b[i] = 1000.0f;
  __syncthreads();
  for (int i = threadIdx.x; i < 16 * 8; i += 128) {
    const int column = i / 8, k = i % 8;
    b[(3 + k / 4 * 37 + column / 8 * 10 + column % 8) * 4 + k % 4] = (float)right(k, column);
  }
  __syncthreads();
  float d[2][4];
  __kw_sim_wgmma_places_m64k8_tf32_f32(d, a, ROWS * 16, 128, b + 3 * 4, 37 * 16, 10 * 16, false);
  __kw_sim_wgmma_commit_group();
  __kw_sim_wgmma_wait_group<0>();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 4; ++i)
      out[(16 * warp + lane / 4 + i / 2 * 8) * 16 + 8 * j + lane % 4 * 2 + i % 2] = (int)d[j][i];
}

extern "C" __global__ void between_places(const int* in, int* out, int n) {
  __shared__ __align__(128) float a[ROWS * 8];
  for (int i = threadIdx.x; i < ROWS * 8; i += 128) a[i] = 0.0f;
  __syncthreads();
  float d[1][4];
  __kw_sim_wgmma_places_m64k8_tf32_f32(d, a, ROWS * 16, 128, a + n % 4, n / 4 * 16, 128, false);
}
)";

int left(int row, int k) {
  return (row * 7 + k * 3) % 11 - 5;
}
int right(int k, int column) {
  return (k * 5 + column * 2) % 13 - 6;
}

class Wgmma : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { kernels = std::make_unique<SimKernels>(k_source); }
  static void TearDownTestSuite() { kernels.reset(); }
  void SetUp() override { ASSERT_EQ(kernels->built().status, BuildStatus::ok) << kernels->built().log; }
  static inline std::unique_ptr<SimKernels> kernels;
};

TEST(WgmmaPlaces, are_multiplied_without_a_swizzle) {
  SimKernels kernels(k_places_source);
  ASSERT_EQ(kernels.built().status, BuildStatus::ok) << kernels.built().log;
  const auto out = kernels.run({"places", 128});
  ASSERT_TRUE(out) << out.error().message;
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 16; ++column) {
      int sum = 0;
      for (int k = 0; k < 8; ++k) sum += left(row, k) * right(k, column);
      ASSERT_EQ((*out)[static_cast<std::size_t>(row * 16 + column)], sum) << row << ", " << column;
    }
  }
}

TEST(WgmmaPlaces, are_refused_where_no_descriptor_can_name_them) {
  SimKernels kernels(k_places_source);
  const auto between = kernels.run({"between_places", 128, 1, 0, 2});
  ASSERT_FALSE(between);
  EXPECT_NE(between.error().message.find("must be multiples of 16"), std::string::npos) << between.error().message;
  const auto far = kernels.run({"between_places", 128, 1, 0, 4 << 14});
  ASSERT_FALSE(far);
  EXPECT_NE(far.error().message.find("has no room for so many bytes"), std::string::npos) << far.error().message;
}

TEST_F(Wgmma, multiplies_rows_by_rows_of_shared_memory) {
  const auto out = kernels->run({"rows", 128});
  ASSERT_TRUE(out) << out.error().message;
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 64; ++column) {
      int sum = 0;
      for (int k = 0; k < 64; ++k) sum += left(row, k) * right(k, column);
      ASSERT_EQ((*out)[static_cast<std::size_t>(row * 64 + column)], sum) << row << ", " << column;
    }
  }
}

TEST_F(Wgmma, multiplies_rows_of_tf32_numbers) {
  const auto out = kernels->run({"tf32", 128});
  ASSERT_TRUE(out) << out.error().message;
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 8; ++column) {
      int sum = 0;
      for (int k = 0; k < 32; ++k) sum += left(row, k) * right(k, column);
      ASSERT_EQ((*out)[static_cast<std::size_t>(row * 8 + column)], sum) << row << ", " << column;
    }
  }
}

TEST_F(Wgmma, multiplies_registers_or_rows_by_columns_of_several_panels) {
  for (const char* kernel : {"columns", "rows_by_columns"}) {
    const auto out = kernels->run({kernel, 128});
    ASSERT_TRUE(out) << kernel << ": " << out.error().message;
    for (int row = 0; row < 64; ++row) {
      for (int column = 0; column < 64; ++column) {
        int sum = 1;
        for (int k = 0; k < 16; ++k) sum += left(row, k) * right(k, column + 32);
        ASSERT_EQ((*out)[static_cast<std::size_t>(row * 64 + column)], sum) << kernel << ": " << row << ", " << column;
      }
    }
  }
}

TEST_F(Wgmma, sums_are_there_when_their_group_has_been_waited_for_and_no_sooner) {
  const auto out = kernels->run({"waits", 128});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->front(), 0b11000 | 0b10000 << 8);
}

TEST_F(Wgmma, an_operand_that_is_overwritten_too_early_makes_another_sum) {
  const auto waited = kernels->run({"overwritten", 128, 1, 0, 1});
  ASSERT_TRUE(waited) << waited.error().message;
  EXPECT_EQ(waited->front(), 16);
  const auto early = kernels->run({"overwritten", 128, 1, 0, 0});
  ASSERT_TRUE(early) << early.error().message;
  EXPECT_EQ(early->front(), 32);
}

TEST_F(Wgmma, refuses_a_place_that_the_swizzle_would_misread) {
  const auto out = kernels->run({"misplaced", 128});
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().message.find("must lie in the first 128 of 1024 bytes"), std::string::npos)
      << out.error().message;
}

}  // namespace
}  // namespace kw::sim
