// Timing without anything to compare with: the first candidate, and the plain kernel in the opening.

#include <gmock/gmock.h>

#include "verify/testing/verifier_fixture.hpp"
#include "verify/timing/timing.hpp"

namespace kw {
namespace {

class SoloTimingTest : public VerifierTest {
 protected:
  void open_with(bool timed_by_checks) {
    VerifierOptions options;
    options.secret_seed = 7;
    options.device = backend.device();
    options.plain = small_candidate("plain");
    options.plain_is_timed_by_checks = timed_by_checks;
    options.start = [this](std::function<void()> work) {
      ++started;
      return start_later(std::move(work));
    };
    auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
    ASSERT_TRUE(opened) << opened.error().to_string();
    verifier = *std::move(opened);
  }
  Duration opening_with(bool timed_by_checks) {
    const Instant began = clock.now();
    open_with(timed_by_checks);
    return clock.now() - began;
  }

  int started = 0;  ///< pieces of work that nobody waits for at once
};

TEST_F(SoloTimingTest, of_a_slow_plain_kernel_is_that_of_its_checks) {
  const Duration timed = opening_with(false);
  const Duration by_checks = opening_with(true);
  EXPECT_GE(timed - by_checks, std::chrono::milliseconds(30)) << "three launches of 10 ms";
  EXPECT_LT(timed - by_checks, std::chrono::milliseconds(40));
  EXPECT_NEAR(verifier->plain().median_ns, 10e6, 0.1e6);
  EXPECT_GT(verifier->plain().ci_ns.confidence, 0.9) << "a launch for each kind of data";
  const auto result = verify("honest");
  EXPECT_TRUE(result.verdict.accepted()) << result.verdict.message;
}

TEST_F(SoloTimingTest, tells_what_a_launch_takes_beside) {
  open_with(false);
  EXPECT_EQ(verifier->data_of_launch(), Duration::zero());
  ASSERT_TRUE(verify("honest").verdict.accepted());
  EXPECT_GE(verifier->data_of_launch(), std::chrono::microseconds(20)) << "a request";
  EXPECT_LT(verifier->data_of_launch(), std::chrono::microseconds(100));
}

TEST_F(SoloTimingTest, catches_a_liar_though_the_plain_kernel_was_timed_by_its_checks) {
  kernels["liar"] = FakeKernel{FakeBehaviour::lies_about_time, 2e6, 0.005, BuildStatus::ok, "", false};
  open_with(true);
  EXPECT_EQ(verify("liar").verdict.reason, Reason::clock_mismatch);
}

TEST_F(SoloTimingTest, draws_data_beside_launches_on_a_gpu_alone) {
  open_with(false);
  ASSERT_TRUE(verify("honest").verdict.accepted());
  EXPECT_EQ(started, 0);
  backend.mutable_device().kind = DeviceKind::gpu;
  open_with(false);
  const int before = started;
  const auto result = verify("honest");
  ASSERT_TRUE(result.verdict.accepted()) << result.verdict.message;
  EXPECT_EQ(result.measurement->samples, 10);
  EXPECT_EQ(started - before, 10) << "the next data of each";
}

TEST_F(SoloTimingTest, finds_on_a_gpu_what_is_wrong_in_timed_launches_alone) {
  kernels["suspect"] = FakeKernel{FakeBehaviour::wrong_when_cold, 2e6, 0.005, BuildStatus::ok, "", false};
  backend.mutable_device().kind = DeviceKind::gpu;
  open_with(false);
  EXPECT_EQ(verify("suspect").verdict.reason, Reason::wrong_when_timed);
}

TEST(SoloSamples, are_fewer_with_more_rows_where_data_are_large) {
  LaunchPlan plan;
  plan.buffers = {{"Q", BufferRole::input, DType::bf16, std::int64_t{64} << 20},
                  {"O", BufferRole::output, DType::bf16, std::int64_t{64} << 20}};
  EXPECT_EQ(solo_samples(plan).launches, 10);
  EXPECT_EQ(solo_samples(plan).least_rows, 32);
  plan.buffers.push_back({"K", BufferRole::input, DType::bf16, 2});
  EXPECT_EQ(solo_samples(plan).launches, 4);
  EXPECT_EQ(solo_samples(plan).least_rows, 80) << "as many rows in all";
}

}  // namespace
}  // namespace kw
