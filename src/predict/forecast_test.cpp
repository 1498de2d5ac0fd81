#include "predict/forecast.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "predict/testing/synthetic_samples.hpp"

namespace kw {
namespace {

using synthetic::samples;
using synthetic::subject;
using testing::HasSubstr;

std::vector<TimeSample> asked(const TimeSubject& of) {
  Rng rng(1);
  auto candidates = synthetic::candidates(of, 0, rng);
  for (auto& one : candidates) one.time_ns = 0;
  return candidates;
}

double truth(const TimeSubject& of, std::int64_t a, std::int64_t b) {
  Rng rng(1);
  return synthetic::timed(of, a, b, 0, rng).time_ns;
}

TEST(Forecast, foretells_default_and_best_of_a_shape_that_was_never_timed) {
  const auto known = samples({"p", "q"}, {64, 128, 512}, {"cpu"});
  const auto of = subject("p", 256, "cpu");
  const auto said = forecast(known, asked(of));
  ASSERT_TRUE(said) << said.error().to_string();
  EXPECT_EQ(said->novelty, Novelty::shape);
  EXPECT_EQ(said->samples, known.size());
  EXPECT_EQ(said->shapes, 6U);
  EXPECT_EQ(said->devices, (std::set<std::string>{"cpu"}));
  EXPECT_EQ(said->best.assignment, (IntBindings{{"A", 4}, {"B", 1}}));
  EXPECT_NEAR(said->best.expected_ns / truth(of, 4, 1), 1, 0.1);
  EXPECT_NEAR(said->first.expected_ns / truth(of, 1, 0), 1, 0.1);
  EXPECT_LT(said->first.ns.low, truth(of, 1, 0));
  EXPECT_GT(said->first.ns.high, truth(of, 1, 0));
  EXPECT_GE(said->best.ns.low, of.bound_ns) << "nothing is faster than the device";
}

TEST(Forecast, foretells_a_device_from_two_others) {
  const auto said = forecast(samples({"p", "q"}, {64, 256}, {"fast", "slow"}), asked(subject("p", 64, "cpu")));
  ASSERT_TRUE(said) << said.error().to_string();
  EXPECT_EQ(said->novelty, Novelty::device);
  EXPECT_EQ(said->best.assignment, (IntBindings{{"A", 4}, {"B", 1}}));
}

/// Of kernels whose times have much scatter and no rule, the one that is foretold to be the fastest is not.
TEST(Forecast, foretells_no_best_that_is_slower_than_the_default) {
  Rng rng(3);
  std::vector<TimeSample> known;
  for (const std::int64_t size : {64, 128, 256, 512}) {
    for (auto& one : synthetic::candidates(subject("p", size, "cpu"), 0, rng)) {
      one.time_ns = one.subject.bound_ns * std::exp(1.5 * rng.normal());
      known.push_back(std::move(one));
    }
  }
  const auto of = subject("p", 1024, "cpu");
  auto candidates = asked(of);
  std::size_t as_the_default = 0;
  for (std::size_t first = 0; first < candidates.size(); ++first) {
    std::rotate(candidates.begin(), candidates.begin() + 1, candidates.end());
    const auto said = forecast(known, candidates);
    ASSERT_TRUE(said) << said.error().to_string();
    EXPECT_LE(said->best.expected_ns, said->first.expected_ns);
    as_the_default += said->best.assignment == said->first.assignment ? 1 : 0;
  }
  EXPECT_GT(as_the_default, 1U) << "where the default alone is foretold to be the fastest, it is once";
}

TEST(Forecast, refuses_where_too_little_is_known) {
  const auto error_of = [](const std::vector<TimeSample>& known, const TimeSubject& of) {
    const auto said = forecast(known, asked(of));
    EXPECT_FALSE(said);
    if (said) return std::string();
    EXPECT_EQ(said.error().code, errc::predict_too_little);
    return said.error().to_string();
  };
  EXPECT_THAT(error_of({}, subject("p", 64, "cpu")), HasSubstr("0 timed kernels of target opencl"));
  EXPECT_THAT(error_of(samples({"p", "q"}, {64, 128, 256}, {"slow"}), subject("p", 64, "cpu")),
              HasSubstr("the device is new, and errors on a new one were seen of 1 alone (slow); 2 are needed"));
  EXPECT_THAT(error_of(samples({"p", "q"}, {64, 128, 256}, {"cpu"}), subject("r", 64, "cpu")),
              HasSubstr("the problem is new, and errors on a new one were seen of 2 alone (p, q); 3 are needed"));
  auto other = subject("p", 64, "cpu");
  other.target = "cuda";
  EXPECT_THAT(error_of(samples({"p", "q"}, {64, 128, 256}, {"cpu"}), other),
              HasSubstr("0 timed kernels of target cuda"));
}

}  // namespace
}  // namespace kw
