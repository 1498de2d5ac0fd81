// What becomes of a candidate while a hypervisor takes the processors away: it is compared again, for a bounded time.
#include <gmock/gmock.h>

#include "verify/testing/verifier_fixture.hpp"

namespace kw {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class DisturbedPairsTest : public VerifierTest {
 protected:
  void open_with_champion() {
    kernels["faster"] = FakeKernel{FakeBehaviour::honest, 1e6, 0.005, BuildStatus::ok, "", false};
    open();
    ASSERT_TRUE(verify("honest").verdict.accepted());
    verifier->promote();
  }
};

TEST_F(DisturbedPairsTest, are_taken_again_until_it_is_quiet) {
  std::int64_t most_discarded = 0;
  for (int burst_ms = 50; burst_ms <= 400; burst_ms += 50) {
    SCOPED_TRACE(burst_ms);
    open_with_champion();
    clock.advance(std::chrono::seconds(60));
    clock.disturb_until(clock.now() + milliseconds(burst_ms));
    const auto result = verify("faster");
    ASSERT_TRUE(result.verdict.accepted()) << result.verdict.message;
    const Versus& versus = result.measurement->versus.front();
    EXPECT_EQ(versus.decision, Comparison::faster);
    most_discarded = std::max(most_discarded, versus.discarded_pairs);
  }
  EXPECT_GT(most_discarded, 5) << "no burst was long enough to end a comparison";
}

TEST_F(DisturbedPairsTest, are_taken_again_for_a_tenth_of_the_time_at_most) {
  open_with_champion();
  const Instant quiet = clock.now();
  ASSERT_TRUE(verify("faster").verdict.accepted());
  const Duration usual = clock.now() - quiet;
  clock.disturb_until(Instant::max());
  kernels["other"] = kernels["faster"];
  const Instant began = clock.now();
  const auto result = verify("other");
  EXPECT_EQ(result.verdict.status, VerdictStatus::unverified);
  EXPECT_THAT(result.verdict.message, HasSubstr("every timed pair was disturbed"));
  EXPECT_LT(clock.now() - began, usual + clock.now().time_since_epoch() / 10 + milliseconds(20));
  EXPECT_GT(clock.now() - began, clock.now().time_since_epoch() / 10);
}

TEST_F(DisturbedPairsTest, are_none_where_a_gpu_had_all_launches_in_its_queue) {
  for (const bool both : {true, false}) {
    SCOPED_TRACE(both);
    backend.mutable_device().kind = DeviceKind::gpu;
    kernels["honest"].queued_ahead = true;
    open_with_champion();
    kernels["faster"].queued_ahead = both;
    clock.disturb_until(Instant::max());
    const auto result = verify("faster");
    EXPECT_EQ(result.verdict.accepted(), both) << result.verdict.message;
    clock.disturb_until(clock.now());
  }
}

TEST_F(DisturbedPairsTest, are_disturbed_on_a_processor_whatever_the_process_claims) {
  kernels["honest"].queued_ahead = true;
  open_with_champion();
  kernels["faster"].queued_ahead = true;
  clock.disturb_until(Instant::max());
  EXPECT_EQ(verify("faster").verdict.status, VerdictStatus::unverified);
}

TEST_F(DisturbedPairsTest, of_the_final_measurement_are_taken_again_until_there_is_one) {
  open_with_champion();
  for (int burst_ms = 50; burst_ms <= 450; burst_ms += 50) {
    SCOPED_TRACE(burst_ms);
    clock.disturb_until(clock.now() + milliseconds(burst_ms));
    const auto final = verifier->final_measurement(3, [](Duration) { return true; });
    ASSERT_TRUE(final) << final.error().to_string();
    EXPECT_GT(final->versus.front().pairs, 0);
    EXPECT_NEAR(final->versus.front().speedup, 5, 0.5);
  }
}

TEST_F(DisturbedPairsTest, make_a_final_measurement_unreliable_or_impossible) {
  open_with_champion();
  clock.disturb_until(clock.now() + milliseconds(450));
  const auto final = verifier->final_measurement(3, [](Duration) { return true; });
  ASSERT_TRUE(final) << final.error().to_string();
  EXPECT_EQ(final->versus.front().decision, Comparison::unreliable);
  clock.disturb_until(Instant::max());
  const auto none = verifier->final_measurement(3, [](Duration) { return true; });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::disturbed);
}

}  // namespace
}  // namespace kw
