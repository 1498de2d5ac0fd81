#include "predict/time_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "predict/skill.hpp"
#include "predict/testing/synthetic_samples.hpp"

namespace kw {
namespace {

using synthetic::samples;
using synthetic::subject;

TEST(TimeModel, knows_what_a_sample_has_and_leaves_out_the_rest) {
  auto sample = samples({"p"}, {64}, {"cpu"}).front();
  const auto features = named_features(sample);
  EXPECT_EQ(features.at("axis.Sq"), 6) << "a size is a logarithm";
  EXPECT_EQ(features.at("tunable.A"), 1);
  EXPECT_EQ(features.at("is vector"), 1);
  EXPECT_FALSE(features.contains("report.registers"));
  sample.registers = 40;
  EXPECT_EQ(named_features(sample).at("report.registers"), 40);
}

TEST(TimeModel, orders_the_candidates_of_a_problem_that_it_never_saw) {
  const auto all = samples({"p", "q", "r"}, {64, 256}, {"cpu"});
  const auto predictions = hold_out(all, Novelty::problem);
  ASSERT_TRUE(predictions) << predictions.error().to_string();
  ASSERT_EQ(predictions->size(), all.size());
  const Skill skill = skill_of(all, *predictions);
  EXPECT_EQ(skill.groups, 6U);
  EXPECT_GT(skill.rank_in_group, 0.9);
  EXPECT_LT(skill.error, 0.05);
  EXPECT_GT(skill.roofline_error, 0.15) << "a roofline does not know tunables";
}

/// A network's bound knows what it reads and writes alone, so that its kernels take any multiple of it.
TEST(TimeModel, goes_by_the_styles_estimate_where_the_bound_says_nothing) {
  auto all = samples({"p", "q", "r", "s"}, {64, 256}, {"cpu"});
  const std::map<std::string, double> products = {{"p", 1}, {"q", 40}, {"r", 7}, {"s", 300}};
  for (auto& sample : all) {
    const double estimate = sample.subject.bound_ns * products.at(sample.subject.problem);
    sample.time_ns *= products.at(sample.subject.problem);
    sample.estimate = sample.subject.first_estimate = estimate;
  }
  const Skill skill = skill_of(all, hold_out(all, Novelty::problem).value());
  EXPECT_LT(skill.error, 0.05);
  EXPECT_GT(skill.roofline_error, 0.5);
  for (auto& sample : all) sample.estimate.reset();
  EXPECT_LT(skill_of(all, hold_out(all, Novelty::problem).value()).error, 0.05) << "that of the first guess does";
  for (auto& sample : all) sample.subject.first_estimate = 0;
  EXPECT_GT(skill_of(all, hold_out(all, Novelty::problem).value()).error, 0.5);
}

TEST(TimeModel, holds_out_whole_groups_each_once) {
  const auto all = samples({"p", "q"}, {64, 128, 256}, {"cpu", "fast"});
  for (const auto novelty : {Novelty::nothing, Novelty::shape, Novelty::problem, Novelty::device}) {
    const auto predictions = hold_out(all, novelty);
    ASSERT_TRUE(predictions) << predictions.error().to_string();
    std::set<std::size_t> seen;
    for (const auto& one : *predictions) seen.insert(one.sample);
    EXPECT_EQ(seen.size(), all.size()) << to_string(novelty);
    EXPECT_EQ(predictions->size(), all.size()) << to_string(novelty);
  }
  EXPECT_TRUE(hold_out(samples({"p"}, {64}, {"cpu"}), Novelty::device)->empty()) << "there is no other device";
}

TEST(TimeModel, says_what_is_new) {
  const auto all = samples({"p", "q"}, {64}, {"cpu"});
  EXPECT_EQ(novelty_of(subject("p", 64, "cpu"), all), Novelty::nothing);
  EXPECT_EQ(novelty_of(subject("p", 128, "cpu"), all), Novelty::shape);
  EXPECT_EQ(novelty_of(subject("r", 64, "cpu"), all), Novelty::problem);
  EXPECT_EQ(novelty_of(subject("p", 64, "fast"), all), Novelty::device);
  auto other = subject("p", 64, "cpu");
  other.style = "plain";
  EXPECT_EQ(novelty_of(other, all), Novelty::device) << "another style's times say nothing";
}

TEST(TimeModel, widens_with_the_scatter_so_that_intervals_hold) {
  double before = 0;
  for (const double scatter : {0.02, 0.2}) {
    const auto all = samples({"p", "q", "r", "s"}, {64, 256}, {"cpu"}, scatter);
    const auto predictions = hold_out(all, Novelty::problem).value();
    const double width = conformal_width(all, predictions, 0.8);
    EXPECT_GT(width, before);
    before = width;
    std::size_t within = 0;
    for (const auto& one : predictions) {
      const auto& sample = all[one.sample];
      within += std::abs(std::log(one.expected_ns / sample.time_ns)) <= width ? 1 : 0;
    }
    EXPECT_GE(static_cast<double>(within), 0.8 * static_cast<double>(all.size()));
  }
  EXPECT_TRUE(std::isinf(conformal_width({}, {}, 0.8))) << "nothing is known of errors that nobody saw";
}

TEST(Skill, ranks_as_spearman_does) {
  const std::vector<double> up = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(rank_correlation(up, std::vector<double>{10, 20, 25, 1000}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation(up, std::vector<double>{4, 3, 2, 1}), -1);
  EXPECT_DOUBLE_EQ(rank_correlation(up, std::vector<double>{5, 5, 5, 5}), 0);
  EXPECT_NEAR(rank_correlation(up, std::vector<double>{1, 1, 2, 2}), 0.894, 0.001) << "equals share their rank";
}

}  // namespace
}  // namespace kw
