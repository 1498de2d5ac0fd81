// Timed launches whose data take the oracle long: the plain kernel answers, and nobody passes who would not otherwise.

#include <gmock/gmock.h>

#include "verify/testing/verifier_fixture.hpp"

namespace kw {
namespace {

class PlainAnswersOfLaunches : public VerifierTest {
 protected:
  /// The host takes 100 ms whenever it draws, or answers, or judges all of an output.
  void open_on_slow_host(Duration takes = std::chrono::milliseconds(100)) {
    VerifierOptions options;
    options.secret_seed = 7;
    backend.mutable_device().kind = DeviceKind::gpu;
    options.device = backend.device();
    options.plain = small_candidate("plain");
    if (kernels.contains("reference")) options.reference = small_candidate("reference");
    options.parallel = [this, takes](std::int64_t count, const std::function<void(std::int64_t)>& body) {
      clock.advance(takes);
      serial_for(count, body);
    };
    auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
    ASSERT_TRUE(opened) << opened.error().to_string();
    verifier = *std::move(opened);
  }
  Reason reason_of(FakeBehaviour conduct) {
    kernels["suspect"] = FakeKernel{conduct, 2e6, 0.005, BuildStatus::ok, "", false};
    return verify("suspect").verdict.reason;
  }
};

TEST_F(PlainAnswersOfLaunches, judge_as_the_oracle_does) {
  open_on_slow_host();
  const auto honest = verify("honest");
  ASSERT_TRUE(honest.verdict.accepted()) << honest.verdict.message;
  EXPECT_NEAR(honest.measurement->median_ns, 2e6, 1e5);
  EXPECT_EQ(reason_of(FakeBehaviour::wrong_when_cold), Reason::wrong_when_timed) << "alone";
  ASSERT_TRUE(verify("honest").verdict.accepted());
  verifier->promote();
  EXPECT_EQ(reason_of(FakeBehaviour::wrong_when_cold), Reason::wrong_when_timed) << "in a pair";
}

TEST_F(PlainAnswersOfLaunches, are_asked_for_where_the_oracle_takes_longer) {
  const auto launches_of_honest = [this](Duration host_takes) {
    open_on_slow_host(host_takes);
    const int before = backend.launches();
    EXPECT_TRUE(verify("honest").verdict.accepted());
    return backend.launches() - before;
  };
  const int by_oracle = launches_of_honest(std::chrono::milliseconds(1));
  EXPECT_EQ(launches_of_honest(std::chrono::milliseconds(100)) - by_oracle, 10) << "one for each timed launch";
}

TEST_F(PlainAnswersOfLaunches, are_those_of_a_reference_that_is_faster) {
  kernels["plain"].time_ns = 1e9;
  kernels["reference"] = FakeKernel{FakeBehaviour::honest, 3e6, 0, BuildStatus::ok, "", false};
  open_on_slow_host();
  ASSERT_TRUE(verify("honest").verdict.accepted()) << "the oracle answers the first launch";
  const int before = backend.launches();
  const Instant began = clock.now();
  ASSERT_TRUE(verify("honest").verdict.accepted());
  EXPECT_GE(backend.launches() - before, 20) << "two for each timed launch";
  EXPECT_LT(clock.now() - began, std::chrono::seconds(10)) << "ten launches of the plain kernel";
  EXPECT_EQ(reason_of(FakeBehaviour::wrong_when_cold), Reason::wrong_when_timed);
}

TEST_F(PlainAnswersOfLaunches, are_the_oracles_again_when_the_plain_kernels_process_is_gone) {
  open_on_slow_host();
  backend.kill_started();
  const auto honest = verify("honest");
  EXPECT_TRUE(honest.verdict.accepted()) << honest.verdict.message;
  EXPECT_EQ(reason_of(FakeBehaviour::wrong_when_cold), Reason::wrong_when_timed);
}

}  // namespace
}  // namespace kw
