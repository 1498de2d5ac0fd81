#include "base/time_ledger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <string>
#include <thread>

#include "base/rng.hpp"

namespace kw {
namespace {

using std::chrono::milliseconds;

/// "stage/activity milliseconds", to compare.
std::vector<std::string> lines(const TimeLedger& ledger) {
  std::vector<std::string> text;
  for (const auto& [stage, activity, seconds] : ledger.entries()) {
    text.push_back(std::string(stage) + "/" + std::string(activity) + " " +
                   std::to_string(static_cast<int>(seconds * 1000 + 0.5)));
  }
  return text;
}

TEST(TimeLedger, counts_what_is_inside_once_and_names_the_rest_other) {
  FakeClock clock;
  TimeLedger ledger(clock);
  clock.advance(milliseconds(1));
  {
    const auto check = TimeLedger::stage(&ledger, "check");
    clock.advance(milliseconds(2));
    {
      const auto launch = TimeLedger::activity(&ledger, "launch");
      clock.advance(milliseconds(30));
      ledger.reassign("flush", milliseconds(10));
    }
    clock.advance(milliseconds(4));
    const auto judge = TimeLedger::activity(&ledger, "judge");
    clock.advance(milliseconds(500));
    EXPECT_THAT(lines(ledger), testing::ElementsAre("other/other 1", "check/other 6", "check/launch 20",
                                                    "check/flush 10", "check/judge 500"))
        << "a place that goes on counts so far";
  }
}

TEST(TimeLedger, parts_sum_to_the_whole) {
  FakeClock clock;
  Rng rng(7);
  TimeLedger ledger(clock);
  const std::vector<std::string_view> names = {"a", "b", "c"};
  const auto name = [&] { return names[static_cast<std::size_t>(rng.below(3))]; };
  const std::function<void(int)> visit = [&](int depth) {
    for (int i = 0; i < 3; ++i) {
      const auto span = rng.below(2) == 0 ? TimeLedger::stage(&ledger, name()) : TimeLedger::activity(&ledger, name());
      clock.advance(milliseconds(rng.below(20)));
      if (depth > 0) visit(depth - 1);
      clock.advance(milliseconds(rng.below(20)));
    }
  };
  visit(4);
  const auto entries = ledger.entries();
  const double sum = std::accumulate(entries.begin(), entries.end(), 0.0,
                                     [](double so_far, const auto& entry) { return so_far + entry.seconds; });
  EXPECT_NEAR(sum, ledger.elapsed(), 1e-6);
  EXPECT_GT(sum, 1) << "the clock was advanced";
}

TEST(TimeLedger, keeps_other_threads_apart) {
  FakeClock clock;
  TimeLedger ledger(clock);
  std::thread([&] {
    const auto build = TimeLedger::stage(&ledger, "build");
    const auto compile = TimeLedger::activity(&ledger, "compile");
    clock.advance(milliseconds(40));
  }).join();
  EXPECT_THAT(lines(ledger), testing::ElementsAre("other/other 40")) << "as long as its own thread waited";
  EXPECT_DOUBLE_EQ(ledger.beside_seconds(), 0.04) << "and the activity does not count once more";
}

TEST(TimeLedger, nothing_is_done_without_one) {
  const auto stage = TimeLedger::stage(nullptr, "check");
  const auto activity = TimeLedger::activity(nullptr, "launch");
}

TEST(TimeLedger, may_begin_before_it_was_made) {
  FakeClock clock;
  const Instant began = clock.now();
  clock.advance(milliseconds(8));
  const TimeLedger ledger(clock, began);
  EXPECT_THAT(lines(ledger), testing::ElementsAre("other/other 8"));
}

}  // namespace
}  // namespace kw
