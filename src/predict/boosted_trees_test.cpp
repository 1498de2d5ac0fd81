#include "predict/boosted_trees.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kw {
namespace {

constexpr float k_unknown = std::numeric_limits<float>::quiet_NaN();

TEST(BoostedTrees, learn_a_step_and_what_an_unknown_feature_means) {
  FeatureRows rows{2, {}};
  std::vector<float> labels;
  for (int i = 0; i < 40; ++i) {
    const bool known = i % 2 == 0;
    rows.values.insert(rows.values.end(), {static_cast<float>(i), known ? 1.0F : k_unknown});
    labels.push_back((i < 20 ? 1.0F : 3.0F) + (known ? 0.0F : 10.0F));
  }
  const std::vector<float> weights(labels.size(), 1.0F);
  const auto trees = BoostedTrees::train(rows, labels, weights, TreeSettings());
  ASSERT_TRUE(trees) << trees.error().to_string();
  const auto answers = trees->predict({2, {3, 1, 33, 1, 3, k_unknown, 33, k_unknown}});
  ASSERT_TRUE(answers) << answers.error().to_string();
  EXPECT_NEAR(answers->at(0), 1, 0.1);
  EXPECT_NEAR(answers->at(1), 3, 0.1);
  EXPECT_NEAR(answers->at(2), 11, 0.1);
  EXPECT_NEAR(answers->at(3), 13, 0.1);
}

TEST(BoostedTrees, are_the_same_each_time) {
  FeatureRows rows{3, {}};
  std::vector<float> labels;
  for (int i = 0; i < 200; ++i) {
    const auto x = static_cast<float>((i * 37) % 101);
    const auto y = static_cast<float>((i * 53) % 97);
    rows.values.insert(rows.values.end(), {x, y, static_cast<float>(i % 7)});
    labels.push_back(std::sin(x / 9) + y / 50);
  }
  const std::vector<float> weights(labels.size(), 1.0F);
  const auto one = BoostedTrees::train(rows, labels, weights, TreeSettings()).value().predict(rows).value();
  const auto other = BoostedTrees::train(rows, labels, weights, TreeSettings()).value().predict(rows).value();
  EXPECT_EQ(one, other) << "a run is resumed by replay";
}

TEST(BoostedTrees, answer_nothing_to_nothing) {
  const std::vector<float> one = {1.0F};
  const auto trees = BoostedTrees::train({1, {0.0F}}, one, one, TreeSettings());
  ASSERT_TRUE(trees) << trees.error().to_string();
  EXPECT_TRUE(trees->predict({1, {}})->empty());
}

}  // namespace
}  // namespace kw
