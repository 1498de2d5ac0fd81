// What the final measurement says of a kernel beside a copy of as many bytes.

#include "verify/timing/copy_comparison.hpp"

#include <gtest/gtest.h>

#include "verify/local_verifier.hpp"
#include "verify/testing/fake_backend.hpp"
#include "verify/testing/test_problem.hpp"
#include "verify/testing/verifier_fixture.hpp"

namespace kw {
namespace {

constexpr int k_pairs_per_process = 20;

/// A processor by whose peaks the problem waits for memory, with a copy that takes half as long as the kernel.
class CopyComparisonTest : public VerifierTest {
 protected:
  CopyComparisonTest() {
    DeviceFacts& device = backend.mutable_device();
    device.kind = DeviceKind::cpu;
    device.peak_f32_flops = 1e15;
    device.peak_bytes = 1e10;
    copy = copy_kernel(device, static_cast<std::int64_t>(bytes / 2)).value();
    kernels[copy.source] = FakeKernel{FakeBehaviour::writes_nothing, 1e6, 0, BuildStatus::ok, "", false};
    kernels["honest"].relative_noise = 0;
  }

  Result<Measurement> measured(int processes, bool has_time = true) {
    open();
    EXPECT_TRUE(verify("honest").verdict.accepted());
    verifier->promote();
    starts = backend.starts();
    auto last = verifier->final_measurement(processes, [&](Duration) { return has_time; });
    starts = backend.starts() - starts;
    return last;
  }

  double bytes = cost(problem, problem.primary()).bytes;
  CalibrationKernel copy;
  int starts = 0;  ///< of processes, by the final measurement
};

TEST_F(CopyComparisonTest, is_of_launches_in_turn_in_new_processes) {
  const auto last = measured(2);
  ASSERT_TRUE(last) << last.error().to_string();
  ASSERT_TRUE(last->beside_copy);
  EXPECT_NEAR(last->beside_copy->share, 0.5 * bytes / copy.bytes, 1e-3);
  EXPECT_EQ(last->beside_copy->pairs, 2 * k_pairs_per_process);
  EXPECT_LE(last->beside_copy->ci.low, last->beside_copy->share);
  EXPECT_GE(last->beside_copy->ci.high, last->beside_copy->share);
  EXPECT_EQ(starts, 6) << "kernel, plain kernel and copy, twice";
}

TEST_F(CopyComparisonTest, says_nothing_where_operations_take_longer_than_bytes) {
  backend.mutable_device().peak_bytes = 1e15;
  const auto last = measured(1);
  ASSERT_TRUE(last) << last.error().to_string();
  EXPECT_FALSE(last->beside_copy);
  EXPECT_EQ(starts, 2);
}

TEST_F(CopyComparisonTest, says_nothing_where_peaks_are_not_measured) {
  backend.mutable_device().kind = DeviceKind::null_device;
  const auto last = measured(1);
  ASSERT_TRUE(last) << last.error().to_string();
  EXPECT_FALSE(last->beside_copy);
}

TEST_F(CopyComparisonTest, keeps_what_it_has_where_the_copy_fails) {
  kernels[copy.source].crashes_from_process = 1;
  const auto some = measured(2);
  ASSERT_TRUE(some) << some.error().to_string();
  ASSERT_TRUE(some->beside_copy);
  EXPECT_EQ(some->beside_copy->pairs, k_pairs_per_process);
  kernels[copy.source].build = BuildStatus::source_error;
  const auto none = measured(1);
  ASSERT_TRUE(none) << none.error().to_string();
  EXPECT_FALSE(none->beside_copy);
}

TEST_F(CopyComparisonTest, builds_nothing_without_time) {
  const auto last = measured(1, false);
  ASSERT_TRUE(last) << last.error().to_string();
  EXPECT_FALSE(last->beside_copy);
  EXPECT_EQ(starts, 2);
}

TEST(CopyKernel, moves_as_many_bytes_as_it_is_asked_for) {
  DeviceFacts device;
  device.target = "opencl";
  device.compute_units = 2;
  device.memory_bytes = std::int64_t{1} << 30;
  const auto copy = copy_kernel(device, 1'000'000);
  ASSERT_TRUE(copy) << copy.error().to_string();
  EXPECT_EQ(copy->plan.launches.size(), 1U);
  EXPECT_NEAR(copy->bytes, 2e6, 2048);
  EXPECT_EQ(copy_kernel(device, std::int64_t{1} << 40)->bytes, 2.0 * (1 << 27)) << "an eighth of the memory";
  device.target = "cuda";
  EXPECT_FALSE(copy_kernel(device, 1'000'000));
}

}  // namespace
}  // namespace kw
