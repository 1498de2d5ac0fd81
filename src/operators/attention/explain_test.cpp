#include "operators/attention/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file_system.hpp"
#include "base/rng.hpp"
#include "mod/expression/expr_builder.hpp"
#include "mod/expression/text.hpp"

namespace kw {
namespace {

const Axes k_axes = {{"B", 2}, {"Hq", 4}, {"Hkv", 2}, {"Sq", 75}, {"Skv", 90}, {"D", 8}, {"Dv", 8}};

ModFunction parsed(const std::string& text, ModRole role = ModRole::mask_mod) {
  auto mod = parse_mod(text, role, ModScope{{}, {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"}, {}});
  KW_CHECK(mod.has_value(), "{}", mod.error().to_string());
  return *std::move(mod);
}

TileClass brute_force(const ModFunction& mask, const TileRange& tile, const CaptureData& data) {
  bool some = false;
  bool all = true;
  for (auto q = tile.query.first; q <= tile.query.last; ++q) {
    for (auto k = tile.key.first; k <= tile.key.last; ++k) {
      const bool allowed = evaluate(mask, k_axes, {0.0, tile.batch.first, tile.head.first, q, k}, data) != 0.0;
      some = some || allowed;
      all = all && allowed;
    }
  }
  return all ? TileClass::full : some ? TileClass::partial : TileClass::empty;
}

/// doc[q_idx] == doc[kv_idx], built by hand.
ModFunction same_document() {
  ModFunction mask;
  ExprBuilder builder(mask);
  const ModCapture doc{"doc", DType::i32, {"Skv"}, true, 0.0, 100.0};
  const auto of_query = builder.gather(doc, {builder.leaf(ExprOp::query)});
  const auto of_key = builder.gather(doc, {builder.leaf(ExprOp::key)});
  mask.root = builder.binary(ExprOp::equal, of_query, of_key);
  return mask;
}

CaptureData documents() {
  CapturedTensor doc{{90}, {}};
  for (const auto& [document, tokens] : {std::pair{0, 37}, {1, 37}, {2, 16}})
    doc.values.insert(doc.values.end(), static_cast<std::size_t>(tokens), static_cast<float>(document));
  return {{"doc", doc}};
}

TEST(TileClassifier, agrees_with_brute_force_on_random_tiles) {
  const std::vector<ModFunction> masks = {
      parsed("lambda b, h, q, k: q >= k"),
      parsed("lambda b, h, q, k: abs(q - k) <= 9"),
      parsed("lambda b, h, q, k: (abs(q - k) <= 20) & (abs(q - k) % 3 == 0)"),
      parsed("lambda b, h, q, k: (abs(q // 10 - k // 10) <= 1) & (abs(q % 10 - k % 10) <= 2)"),
      parsed("lambda b, h, q, k: (k - b * 7) // 16 == (q + h) // 16"),
      parsed("lambda b, h, q, k: (q < 4) | (k < 4) | (abs(q - k) < 5)"),
      same_document()};
  const auto data = documents();
  const std::uint64_t seed = 11;
  Rng rng(seed);
  for (int round = 0; round < 700; ++round) {
    const auto& mask = masks[static_cast<std::size_t>(round) % masks.size()];
    const auto range = [&rng](std::int64_t extent) {
      const auto first = rng.below(extent);
      return IndexRange{first, std::min(extent - 1, first + rng.below(40))};
    };
    const auto batch = rng.below(2);
    const auto head = rng.below(4);
    const TileRange tile{{batch, batch}, {head, head}, range(75), range(90)};
    const TileClassifier classifier(mask, k_axes, data);
    ASSERT_EQ(classifier.classify(tile), brute_force(mask, tile, data))
        << "seed " << seed << ", round " << round << ": " << to_python(mask, mask.root);
  }
}

TEST(TileShares, count_every_tile_of_the_batches_and_heads_that_differ) {
  const auto causal = tile_shares(parsed("lambda b, h, q, k: q >= k"), {{"Sq", 64}, {"Skv", 64}, {"B", 3}, {"Hq", 2}},
                                  no_captures(), 16, 16);
  EXPECT_DOUBLE_EQ(causal.empty, 6.0 / 16);
  EXPECT_DOUBLE_EQ(causal.full, 6.0 / 16);
  EXPECT_DOUBLE_EQ(causal.partial, 4.0 / 16);
  EXPECT_TRUE(causal.exact);
  const auto by_head = tile_shares(parsed("lambda b, h, q, k: h == 0"), k_axes, no_captures(), 10, 10);
  EXPECT_DOUBLE_EQ(by_head.full, 0.25);
}

TEST(TileShares, huge_shapes_are_sampled_and_say_so) {
  const auto shares = tile_shares(parsed("lambda b, h, q, k: q >= k"),
                                  {{"Sq", 1 << 16}, {"Skv", 1 << 16}, {"B", 1}, {"Hq", 1}}, no_captures(), 32, 32);
  EXPECT_FALSE(shares.exact);
  EXPECT_NEAR(shares.full, 0.5, 0.01);
}

TEST(ModText, prints_python_with_the_brackets_it_needs) {
  const auto text = [](const std::string& body, ModRole role = ModRole::mask_mod) {
    const auto mod =
        parsed((role == ModRole::mask_mod ? "lambda b, h, q, k: " : "lambda s, b, h, q, k: ") + body, role);
    return to_python(mod, mod.root);
  };
  EXPECT_EQ(text("(q - k) // (h + 1) < 3"), "(q_idx - kv_idx) // (h + 1) < 3");
  EXPECT_EQ(text("q - (k - h) <= q - k - h"), "q_idx - (kv_idx - h) <= q_idx - kv_idx - h");
  EXPECT_EQ(text("(q >= k) & ~((q == k) | (h < 1))"), "(q_idx >= kv_idx) & ~((q_idx == kv_idx) | (h < 1))");
  EXPECT_EQ(text("30.0 * torch.tanh(s / 30.0)", ModRole::score_mod), "30 * torch.tanh(score / 30)");
  EXPECT_EQ(text("torch.where(q < k, s, float('-inf'))", ModRole::score_mod),
            "torch.where(q_idx < kv_idx, score, -torch.inf)");
  const auto document = same_document();
  EXPECT_EQ(to_python(document, document.root), "doc[q_idx] == doc[kv_idx]");
}

TEST(ModText, long_expressions_are_cut) {
  std::string sum = "s";
  for (int i = 0; i < 60; ++i) sum += fmt::format(" * (q + {})", i);
  const auto mod = parsed("lambda s, b, h, q, k: " + sum, ModRole::score_mod);
  const auto text = to_python(mod, mod.root, 50);
  EXPECT_EQ(text.size(), 50);
  EXPECT_EQ(text.substr(47), "...");
}

Problem problem_of(const std::string& mods) {
  auto problem = parse_problem(
      "name = \"test/p\"\nop = \"attention\"\n[axes]\nB = 1\nHq = 4\nSq = 64\nD = 8\n"
      "[attention]\ndtype = \"f32\"\n" +
          mods + "\n[[workload]]\nname = \"w\"\nrole = \"edge\"\nSq = 33\n",
      "p.toml");
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

bool says(const std::vector<std::string>& sentences, const std::string& part) {
  return std::any_of(sentences.begin(), sentences.end(),
                     [&](const auto& sentence) { return sentence.find(part) != std::string::npos; });
}

TEST(Explain, says_what_softmax_cancels_in_alibi) {
  const auto explained =
      analyse(problem_of("score_mod = \"lambda s, b, h, q, k: s + torch.exp2(-((h + 1) * 8.0 / Hq)) * (k - q)\"\n"
                         "mask_mod = \"lambda b, h, q, k: q >= k\""));
  ASSERT_TRUE(explained) << explained.error().to_string();
  ASSERT_EQ(explained->mods.size(), 2);
  const auto& score = explained->mods[0];
  EXPECT_TRUE(says(score.proved, "affine in the score")) << fmt::format("{}", fmt::join(score.proved, "\n"));
  EXPECT_TRUE(says(score.proved, "linear in the key"));
  EXPECT_TRUE(says(score.proved, "softmax cancels it"));
  EXPECT_TRUE(says(score.proved, "depends on the distance alone"));
  EXPECT_EQ(score.per_score.transcendental, 0) << "the slope is known per head";
  ASSERT_EQ(score.hoisted.size(), 1);
  EXPECT_EQ(score.hoisted[0].rate, TermRate::per_head);
  EXPECT_TRUE(says(explained->mods[1].proved, "one interval of keys, from 0 to min(q_idx, Skv - 1)"))
      << fmt::format("{}", fmt::join(explained->mods[1].proved, "\n"));
  ASSERT_EQ(explained->tiles.size(), 4);
  EXPECT_DOUBLE_EQ(explained->tiles[1].shares.partial, 1.0) << "one tile of 64 x 64";
}

TEST(Explain, finds_the_mask_in_a_score_mod) {
  const auto explained = analyse(problem_of("score_mod = \"lambda s, b, h, q, k: torch.where(q >= k, s, -1e9)\""));
  ASSERT_TRUE(explained) << explained.error().to_string();
  ASSERT_EQ(explained->mods.size(), 2);
  EXPECT_TRUE(says(explained->mods[0].proved, "it holds a mask"));
  EXPECT_TRUE(says(explained->mods[0].proved, "leaves the score as it is"));
  EXPECT_EQ(explained->mods[1].role, "mask");
  EXPECT_TRUE(says(explained->mods[1].proved, "one interval of keys, from 0 to min(q_idx, Skv - 1)"));
  EXPECT_LT(explained->attended.share, 1.0);
}

TEST(Explain, counts_the_work_left_per_score) {
  const auto explained =
      analyse(problem_of("score_mod = \"lambda s, b, h, q, k: 20.0 * torch.tanh(s / 20.0)\"\n"
                         "mask_mod = \"lambda b, h, q, k: abs(q - k) % 3 == k // 5\""));
  ASSERT_TRUE(explained) << explained.error().to_string();
  const auto& score = explained->mods[0];
  EXPECT_TRUE(says(score.proved, "not affine"));
  EXPECT_EQ(score.per_score.transcendental, 1);
  EXPECT_EQ(score.per_score.divisions, 1);
  const auto& mask = explained->mods[1];
  EXPECT_TRUE(says(mask.proved, "tiles are classified one by one"));
  ASSERT_EQ(mask.hoisted.size(), 1);
  EXPECT_EQ(mask.hoisted[0].text, "kv_idx // 5");
  EXPECT_EQ(mask.hoisted[0].rate, TermRate::per_column);
}

TEST(ExplainAttention, says_by_what_keys_may_lose) {
  const auto problem = load_problem("attention/additive_mask_finite", RealFileSystem{}, {"problems"}).value();
  const auto explained = analyse(problem).value();
  ASSERT_EQ(explained.mods.size(), 1U);
  EXPECT_EQ(
      explained.mods[0].proved.front(),
      "keys may lose by attention_mask[b, 0, q_idx, kv_idx]: tiles are classified by its values, and those are "
      "skipped in which it is -infinity or more than 8412 below the largest of every row; rows of nothing else keep "
      "all of their keys");
  EXPECT_LT(explained.attended.share, 0.6);
}

}  // namespace
}  // namespace kw
