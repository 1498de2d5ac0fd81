// Boxes of a tensor of three axes against the elements they are made of: the part that lies in the tensor and zeros
// around, with a swizzle of 128 bytes; and when they arrive.
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "device/testing/sim_fixture.hpp"

namespace kw::sim {
namespace {

// 40 by 10 by 3 elements of 16 bits; rows begin 96 bytes apart, planes 10 rows. A box is 64 by 8 by 2.
constexpr const char* k_source = R"(
#define BOX_BYTES (128 * 8 * 2)
__device__ void* map_in(int* out) { return (void*)(((size_t)(out + 2048) + 127) / 128 * 128); }
__device__ void describe(const int* in, int* out) {
  const int extents[3] = {40, 10, 3}, box[2] = {8, 2};
  const long strides[2] = {96, 960};
  __kw_sim_tensormap_3d(map_in(out), in, extents, strides, box);
}

// n: the first place of the box, x + 100 * y + 10000 * z, each plus 50.
extern "C" __global__ void boxes(const int* in, int* out, int n) {
  __shared__ __align__(1024) unsigned short box[64 * 8 * 2];
  __shared__ unsigned long long arrivals;
  if (threadIdx.x == 0) {
    describe(in, out);
    __kw_sim_mbarrier_init(&arrivals, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __kw_sim_mbarrier_expect_tx(&arrivals, BOX_BYTES);
    __kw_sim_cp_async_bulk_tensor_3d(box, map_in(out), n % 100 - 50, n / 100 % 100 - 50, n / 10000 - 50, &arrivals);
  }
  __kw_sim_mbarrier_wait_parity(&arrivals, 0);
  for (int i = threadIdx.x; i < 1024; i += 32) {
    const int row = i / 64, x = i % 64;
    out[i] = box[row * 64 + (x / 8 ^ row % 8) * 8 + x % 8];
  }
}

// Three boxes one after the other in one place, each waited for by all threads before they read it.
extern "C" __global__ void turns(const int* in, int* out, int n) {
  __shared__ __align__(1024) unsigned short box[64 * 8 * 2];
  __shared__ unsigned long long arrivals;
  if (threadIdx.x == 0) {
    describe(in, out);
    __kw_sim_mbarrier_init(&arrivals, 1);
  }
  int sum = 0;
  for (int turn = 0; turn < 3; ++turn) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __kw_sim_mbarrier_expect_tx(&arrivals, BOX_BYTES);
      __kw_sim_cp_async_bulk_tensor_3d(box, map_in(out), 0, turn, 0, &arrivals);
    }
    __kw_sim_mbarrier_wait_parity(&arrivals, turn % 2);
    sum = 10000 * sum % 1000000007 + box[threadIdx.x % 8];
  }
  out[threadIdx.x] = sum;
}
)";

/// `in` counts up from 0 in 32 bits.
int element(int x, int y, int z) {
  if (x < 0 || x >= 40 || y < 0 || y >= 10 || z < 0 || z >= 3) return 0;
  const int number = z * 480 + y * 48 + x;
  return number % 2 == 0 ? number / 2 : 0;
}

class TensorCopies : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { kernels = std::make_unique<SimKernels>(k_source); }
  static void TearDownTestSuite() { kernels.reset(); }
  void SetUp() override { ASSERT_EQ(kernels->built().status, BuildStatus::ok) << kernels->built().log; }
  static inline std::unique_ptr<SimKernels> kernels;
};

TEST_F(TensorCopies, bring_what_lies_in_the_tensor_and_zeros_around) {
  for (const auto& [x, y, z] :
       std::vector<std::array<int, 3>>{{0, 0, 0}, {3, 4, 2}, {-5, -2, -1}, {39, 9, 1}, {40, 0, 0}, {8, 3, 1}}) {
    const int n = (x + 50) + 100 * (y + 50) + 10000 * (z + 50);
    const auto out = kernels->run({"boxes", 32, 1, 0, n});
    ASSERT_TRUE(out) << out.error().message;
    for (int i = 0; i < 1024; ++i) {
      ASSERT_EQ((*out)[static_cast<std::size_t>(i)], element(x + i % 64, y + i / 64 % 8, z + i / 512))
          << "element " << i << " of the box at " << x << ", " << y << ", " << z;
    }
  }
}

TEST_F(TensorCopies, arrive_phase_after_phase) {
  const auto out = kernels->run({"turns", 64});
  ASSERT_TRUE(out) << out.error().message;
  for (int t = 0; t < 64; ++t) {
    std::int64_t sum = 0;
    // Row y lies in row 0 of its box, which the swizzle leaves as it is.
    for (int turn = 0; turn < 3; ++turn) sum = 10000 * sum % 1000000007 + element(t % 8, turn, 0);
    EXPECT_EQ((*out)[static_cast<std::size_t>(t)], sum) << t;
  }
}

}  // namespace
}  // namespace kw::sim
