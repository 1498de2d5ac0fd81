#include "verify/state/data_ahead.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "verify/testing/fake_backend.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

class DataAheadTest : public ::testing::Test {
 protected:
  [[nodiscard]] RunFacts facts_of(DeviceKind kind) {
    VerifierOptions options;
    options.device = backend_.device();
    options.device.kind = kind;
    options.costs = std::make_shared<WorkloadCosts>(problem_);
    options.start = [this](std::function<void()> work) {
      ++begun_;
      return start_later(std::move(work));
    };
    return {problem_, backend_, clock_, std::move(options), CheckSuite::make(problem_, 3, serial_for).value()};
  }
  /// As many data one after the other, each given back before the next; their first operands.
  [[nodiscard]] std::vector<std::vector<float>> take(const RunFacts& facts, int count) {
    std::vector<std::vector<float>> taken;
    for (int i = 0; i < count; ++i) {
      TimedData data = ahead_.take(facts, few_, std::nullopt, rng_, nullptr);
      taken.push_back(data.fresh.one.inputs.front());
      ahead_.give_back(std::move(data));
    }
    return taken;
  }

  Problem problem_ = small_problem();
  FakeClock clock_;
  FakeBackend backend_{problem_, clock_, [](const BuildRequest&) { return FakeKernel{}; }};
  DataNeed few_{HostBytes::now, 2};
  int begun_ = 0;
  Rng rng_{5};
  DataAhead ahead_;
};

TEST_F(DataAheadTest, draws_the_next_beside_on_a_gpu) {
  const RunFacts facts = facts_of(DeviceKind::gpu);
  const auto taken = take(facts, 3);
  EXPECT_EQ(begun_, 3);
  EXPECT_NE(taken[0], taken[1]);
  EXPECT_NE(taken[1], taken[2]);
  EXPECT_NE(taken[0], taken[2]);
}

TEST_F(DataAheadTest, draws_nothing_beside_on_a_cpu_where_it_would_disturb) {
  const RunFacts facts = facts_of(DeviceKind::cpu);
  const auto taken = take(facts, 2);
  EXPECT_EQ(begun_, 0);
  EXPECT_NE(taken[0], taken[1]);
}

/// Of these a kernel may have computed something already.
TEST_F(DataAheadTest, never_hands_out_what_was_given_back) {
  const RunFacts facts = facts_of(DeviceKind::gpu);
  TimedData used = ahead_.take(facts, few_, std::nullopt, rng_, nullptr);
  const auto seen = used.fresh.one.inputs;
  ahead_.give_back(std::move(used));
  for (int i = 0; i < 4; ++i) {
    TimedData data = ahead_.take(facts, few_, std::nullopt, rng_, nullptr);
    EXPECT_NE(data.fresh.one.inputs, seen);
    ahead_.give_back(std::move(data));
  }
}

TEST_F(DataAheadTest, draws_others_where_what_is_ahead_was_drawn_for_another_need) {
  const auto large = with_axes(small_problem(), {"Sq=400", "Skv=2000", "D=32", "Dv=32"});
  ASSERT_TRUE(large) << large.error().to_string();
  problem_ = *large;
  const RunFacts facts = facts_of(DeviceKind::gpu);
  const auto rows = [&](const DataNeed& need) {
    TimedData data = ahead_.take(facts, need, std::nullopt, rng_, nullptr);
    const std::size_t answered = data.fresh.answers.front().elements.size();
    ahead_.give_back(std::move(data));
    return answered;
  };
  const std::size_t few = rows(few_);
  EXPECT_EQ(rows(few_), few);
  EXPECT_GT(rows({HostBytes::now, std::int64_t{1} << 20}), few) << "all there are";
  EXPECT_EQ(rows(few_), few);
}

TEST_F(DataAheadTest, has_the_plain_kernel_answer_where_the_oracle_took_more_than_twice_as_long) {
  for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::cpu}) {
    RunFacts facts = facts_of(kind);
    Duration takes{};
    facts.options.parallel = [&](std::int64_t count, const std::function<void(std::int64_t)>& body) {
      clock_.advance(takes);
      serial_for(count, body);
    };
    const auto answerer = [&](DataAhead& ahead, std::optional<Duration> plain_takes) {
      TimedData data = ahead.take(facts, few_, plain_takes, rng_, nullptr);
      const Answerer by = data.fresh.answerer;
      ahead.give_back(std::move(data));
      return by;
    };
    const auto second = [&](Duration host_takes, std::optional<Duration> plain_takes) {
      takes = host_takes;
      DataAhead ahead;
      EXPECT_EQ(answerer(ahead, plain_takes), Answerer::oracle) << "nobody knows yet";
      return answerer(ahead, plain_takes);
    };
    using std::chrono::milliseconds;
    EXPECT_EQ(second(milliseconds(100), milliseconds(10)), Answerer::plain);
    EXPECT_EQ(second(milliseconds(100), std::nullopt), Answerer::oracle) << "it cannot be launched";
    EXPECT_EQ(second(milliseconds(100), milliseconds(1000)), Answerer::oracle) << "it takes longer itself";
    EXPECT_EQ(second(milliseconds(1), milliseconds(0)), Answerer::oracle) << "not worth asking";
  }
}

}  // namespace
}  // namespace kw
