#include "operators/attention/cost.hpp"

#include <gtest/gtest.h>

#include "base/file_system.hpp"
#include "mod/frontend/parser.hpp"
#include "operators/attention/attention.hpp"

namespace kw {
namespace {

Problem load(const std::string& name) {
  return load_problem(name, RealFileSystem{}, {"problems"}).value();
}

TEST(AttentionCost, counts_attended_pairs_exactly) {
  auto problem = load("attention/causal");
  const auto causal = cost(problem, problem.primary());
  EXPECT_TRUE(attended_pairs(problem, problem.primary()).exact);
  EXPECT_DOUBLE_EQ(causal.flops, 2.0 * 8 * (1024.0 * 1025 / 2) * 128);
  EXPECT_DOUBLE_EQ(causal.bytes, 4.0 * 8 * 1024 * 64 * 4);
  problem = load("attention/full");
  EXPECT_DOUBLE_EQ(cost(problem, problem.primary()).flops, 2.0 * 8 * 1024 * 1024 * 128);
  EXPECT_DOUBLE_EQ(attended_pairs(problem, problem.primary()).share, 1.0);
}

TEST(AttentionCost, counts_no_pairs_that_can_only_lose) {
  auto problem = load("attention/causal");
  auto spec = *attention_of(problem);
  const double masked = attended_pairs(problem, problem.primary()).share;
  const ModScope scope = {{}, {"Sq", "Skv"}, {}};
  spec.mask_mod.reset();
  spec.score_mod = parse_mod("lambda s, b, h, q, k: torch.where(q >= k, s, -1e9)", ModRole::score_mod, scope).value();
  set_attention(problem, spec);
  EXPECT_DOUBLE_EQ(attended_pairs(problem, problem.primary()).share, masked);
}

TEST(AttentionCost, looks_for_losing_keys_in_masks_and_not_in_biases) {
  for (const char* mask : {"additive_mask", "additive_mask_finite"})
    EXPECT_TRUE(attention_of(load(std::string("attention/") + mask))->losing) << mask;
  for (const char* bias : {"alibi", "relative", "learned_relative", "t5_buckets"})
    EXPECT_FALSE(attention_of(load(std::string("attention/") + bias))->losing) << bias;
  const auto with_values = [](const std::string& values) {
    return parse_problem(
               "name = \"t\"\nop = \"attention\"\n[axes]\nB = 1\nHq = 1\nHkv = 1\nSq = 4\nSkv = 4\nD = 8\nDv = 8\n"
               "[tensors.given]\ndtype = \"f32\"\naxes = [\"Skv\"]\nvalues = " +
                   values +
                   "\n[attention]\ndtype = \"f32\"\nscore_mod = \"lambda s, b, h, q, k: s + given[k]\"\n"
                   "[[workload]]\nname = \"one\"\nrole = \"edge\"\nSq = 1\n",
               "t")
        .value();
  };
  EXPECT_FALSE(attention_of(with_values("[0.5, -3.0, 2.0, 0.0]"))->losing);
  EXPECT_TRUE(attention_of(with_values("[0.0, 0.0, -1e9, -3e38]"))->losing);
}

TEST(AttentionCost, counts_no_pairs_that_lose_by_a_captured_mask) {
  const auto share = [](const std::string& mod) {
    const auto problem = parse_problem(R"(
name = "t"
op = "attention"
[axes]
B = 2
Hq = 2
Sq = 12
Skv = 16
D = 4
[tensors.mask]
dtype = "f32"
axes = ["B", "Sq", "Skv"]
formula = """
def mask(b, q, k):
    return torch.where((k <= q) & (k >= 3 * b), 0.0, torch.finfo(torch.float32).min)
"""
[attention]
dtype = "f32"
)" + mod + "\n[[workload]]\nname = \"w\"\nrole = \"edge\"\nSq = 5\n",
                                       "t.toml")
                             .value();
    return attended_pairs(problem, problem.primary());
  };
  const auto captured = share("score_mod = \"lambda s, b, h, q, k: s + mask[b, q, k]\"");
  EXPECT_TRUE(captured.exact);
  // Batch 0: 1 to 12 keys. Batch 1: three rows without a winner keep all 16; then 1 to 9.
  EXPECT_DOUBLE_EQ(captured.share, (78.0 + 3 * 16 + 45.0) / (2 * 12 * 16));
  const auto joined = share(
      "score_mod = \"lambda s, b, h, q, k: s + mask[b, q, k]\"\nmask_mod = \"lambda b, h, q, k: (q + k) % 2 == 0\"");
  EXPECT_LT(joined.share, captured.share * 0.6);
}

TEST(AttentionCost, samples_rows_of_large_masks_and_says_so) {
  const auto problem = with_axes(load("attention/causal"), {"Sq=16384", "Skv=16384"}).value();
  const auto large = attended_pairs(problem, problem.primary());
  EXPECT_FALSE(large.exact);
  EXPECT_NEAR(large.share, 0.5, 0.001);
}

TEST(AttentionCost, counts_masks_that_differ_by_batch_and_head) {
  const auto problem = parse_problem(R"(
name = "t"
op = "attention"
[axes]
B = 1
Hq = 2
Sq = 8
D = 4
[attention]
dtype = "f32"
mask_mod = "lambda b, h, q, k: k <= h"  # 1 key, then 2 keys
[[workload]]
name = "w"
role = "edge"
Sq = 5
)",
                                     "t.toml")
                           .value();
  EXPECT_DOUBLE_EQ(attended_pairs(problem, problem.primary()).share, 3.0 / 16.0);
  EXPECT_DOUBLE_EQ(cost(problem, problem.primary()).flops, 2.0 * 8 * 3 * 8);
}

}  // namespace
}  // namespace kw
