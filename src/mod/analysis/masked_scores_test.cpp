#include "mod/analysis/masked_scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/rng.hpp"
#include "mod/analysis/analysis.hpp"
#include "mod/expression/expr_builder.hpp"
#include "mod/expression/text.hpp"
#include "mod/frontend/parser.hpp"

namespace kw {
namespace {

constexpr double k_bound = 4096.0;
constexpr double k_infinity = std::numeric_limits<double>::infinity();

const ModScope k_scope = {{},
                          {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"},
                          {{"pad", DType::boolean, {"B", "Skv"}, false, 0, 1},
                           {"doc", DType::i32, {"Skv"}, false, 0, 6},
                           {"count", DType::i32, {"B"}, false, 0, 30},
                           {"bias", DType::f32, {"Skv"}, false, -k_infinity, k_infinity},
                           {"small", DType::f32, {"Skv"}, false, -3, 3}}};

std::optional<ModFunction> mod(const std::string& body, ModRole role) {
  if (body.empty()) return std::nullopt;
  const std::string parameters = role == ModRole::score_mod ? "lambda s, b, h, q, k: " : "lambda b, h, q, k: ";
  auto parsed = parse_mod(parameters + body, role, k_scope);
  EXPECT_TRUE(parsed) << body << (parsed ? "" : parsed.error().to_string());
  return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

MaskedMods apart(const std::string& score_mod, const std::string& mask_mod = "") {
  return with_masks_apart(mod(score_mod, ModRole::score_mod), mod(mask_mod, ModRole::mask_mod), k_bound);
}

std::string text(const std::optional<ModFunction>& function) {
  return function ? to_python(*function, function->root, 200) : "none";
}

/// Whether rows see one interval of keys, which is what lets kernels skip the others.
bool is_interval(const std::optional<ModFunction>& mask) {
  if (!mask) return false;
  ModFunction copy = *mask;
  return row_interval(copy).has_value();
}

TEST(MaskedScores, a_causal_mask_is_found_however_it_is_written) {
  for (const char* low : {"-1e4", "-1e9", "-1e20", "-1e30", "float('-inf')", "torch.finfo(torch.float32).min",
                          "torch.finfo(torch.float16).min", "torch.finfo(torch.bfloat16).min"}) {
    for (const char* form :
         {"torch.where(q >= k, s, {})", "torch.where(q < k, {}, s)", "s + torch.where(q >= k, 0.0, {})",
          "s + (1.0 - (q >= k).float()) * {}", "torch.where(q >= k, s, s + {})", "torch.maximum(s * 0, {}) + s * 0"}) {
      std::string body = form;
      body.replace(body.find("{}"), 2, low);
      const auto found = apart(body);
      if (body.starts_with("torch.maximum")) {
        EXPECT_FALSE(found.taken_out) << body << " masks nothing";
        continue;
      }
      EXPECT_TRUE(found.taken_out) << body;
      EXPECT_TRUE(is_interval(found.mask_mod)) << body << ": " << text(found.mask_mod);
      // 0 times -infinity is NaN, so that the product cannot be said to keep the score.
      if (body.find(") * float") == std::string::npos) {
        EXPECT_EQ(text(found.score_mod), "none") << body;
      }
    }
  }
}

TEST(MaskedScores, what_is_left_of_the_score_stays) {
  const auto alibi = apart("torch.where(q >= k, s + 0.5 * (k - q), -1e9)");
  EXPECT_EQ(text(alibi.score_mod), "score + 0.5 * (kv_idx - q_idx)");
  EXPECT_EQ(text(alibi.mask_mod), "q_idx >= kv_idx");
  const auto cap = apart("torch.where(q >= k, 20 * torch.tanh(s / 20), -1e4)");
  EXPECT_EQ(text(cap.score_mod), "20 * torch.tanh(score / 20)");
  const auto both = apart("torch.where(q - k < 9, torch.where(k <= q, s, -1e9), -1e9)");
  EXPECT_TRUE(is_interval(both.mask_mod));
  EXPECT_EQ(text(both.score_mod),
            "torch.where(q_idx - kv_idx < 9, torch.where(kv_idx <= q_idx, score, -1e+09), -1e+09)")
      << "queries past the last key by 9 see keys that lose alone";
}

TEST(MaskedScores, joins_the_mask_that_there_is) {
  const auto found = apart("torch.where(q >= k, s, -1e9)", "q - k < 9");
  // Rows past the last key by 9 see nothing, which is another matter than seeing only keys that lose.
  EXPECT_TRUE(found.taken_out);
  EXPECT_TRUE(is_interval(found.mask_mod)) << text(found.mask_mod);
}

TEST(MaskedScores, a_row_of_losing_keys_keeps_them_all) {
  const auto found = apart("torch.where(q >= k + 20, s, -1e9)");
  ASSERT_TRUE(found.taken_out);
  EXPECT_EQ(text(found.score_mod), "torch.where(q_idx >= kv_idx + 20, score, -1e+09)") << "its scores are needed";
  EXPECT_TRUE(is_interval(found.mask_mod)) << text(found.mask_mod);
  const Axes axes = {{"Sq", 40}, {"Skv", 30}};
  for (const auto& [q, k, seen] : {std::tuple{0, 5, 1.0}, {19, 29, 1.0}, {20, 0, 1.0}, {20, 1, 0.0}, {30, 10, 1.0}})
    EXPECT_EQ(evaluate(*found.mask_mod, axes, {0, 0, 0, q, k}), seen) << q << " " << k;
  EXPECT_FALSE(apart("torch.where(q >= k + 20, s, -torch.inf)").score_mod) << "but -infinity masks it";
}

TEST(MaskedScores, a_key_of_the_row_itself_is_a_winner) {
  const auto documents = apart("torch.where(doc[q] == doc[k], s, -1e9)");
  ASSERT_TRUE(documents.taken_out);
  EXPECT_EQ(text(documents.mask_mod), "torch.where(q_idx >= Skv, True, doc[q_idx] == doc[kv_idx])");
}

TEST(MaskedScores, leaves_alone_what_is_no_mask_for_sure) {
  for (const char* body :
       {"torch.where(q >= k, s, -9.0)", "torch.where(q >= k, s, -1000.0)", "torch.where(q >= k, s + bias[k], -1e9)",
        "torch.where(s > 0, s, -1e9)", "torch.where(q > 3, s, -1e9)", "torch.where(pad[b, k], s, -1e9)",
        "torch.where(q >= k, s + 1e8 * (k - q), -1e9)", "torch.where(q >= k, -1e9, -1e9 - 1)", "s + bias[k]"}) {
    const auto found = apart(body, "k <= q");
    EXPECT_FALSE(found.taken_out) << body << ": " << text(found.mask_mod);
    EXPECT_EQ(text(found.mask_mod), "kv_idx <= q_idx");
  }
  EXPECT_TRUE(apart("torch.where(pad[b, k], s, -torch.inf)").taken_out) << "no row needs a winner";
  EXPECT_TRUE(apart("torch.where(q >= k, s + small[k], -1e9)").taken_out);
}

/// Softmax of a row by the definition.
std::vector<double> probabilities(const std::optional<ModFunction>& score_mod,
                                  const std::optional<ModFunction>& mask_mod, const Axes& axes, std::int64_t query,
                                  const std::vector<double>& scores, const CaptureData& captures) {
  std::vector<double> row;
  double largest = -k_infinity;
  for (std::int64_t k = 0; k < axes.at("Skv"); ++k) {
    const ModPoint point{scores[static_cast<std::size_t>(k)], 0, 0, query, k};
    const bool seen = !mask_mod || evaluate(*mask_mod, axes, point, captures) != 0.0;
    row.push_back(!seen ? -k_infinity : score_mod ? evaluate(*score_mod, axes, point, captures) : point.score);
    largest = std::max(largest, row.back());
  }
  double total = 0;
  for (double& x : row) {
    x = largest == -k_infinity ? 0.0 : std::exp(x - largest);
    total += x;
  }
  for (double& x : row) x = total > 0 ? x / total : 0.0;
  return row;
}

TEST(MaskedScores, give_the_same_attention) {
  Rng rng(20261122);
  for (const char* body :
       {"torch.where(q >= k, s, -1e9)", "s + torch.where(q >= k, 0.0, torch.finfo(torch.float32).min)",
        "torch.where((q >= k + 20) & (q % 3 != 1), s, -1e4)", "torch.where(doc[q] == doc[k], s, -1e20)",
        "torch.where((doc[q] == doc[k]) & (q >= k), s - 0.1 * (q - k), torch.finfo(torch.float16).min)",
        "torch.where((q - k <= 4) & (k <= q), s, -1e30)", "torch.where(k < count[b], s, -1e9)",
        "torch.where(q < k, -1e9, torch.where(pad[b, k], s, -torch.inf))", "torch.where(pad[b, k], s, -1e9)",
        "s + torch.where(q >= k, 0.0, -1e9) + torch.where(k >= 7, 0.0, -1e9)"}) {
    for (const char* mask : {"", "k <= q + 3", "(q - k) % 5 != 2", "q % 4 != 3"}) {
      const auto score_mod = mod(body, ModRole::score_mod);
      const auto mask_mod = mod(mask, ModRole::mask_mod);
      const auto found = with_masks_apart(score_mod, mask_mod, k_bound);
      for (const std::int64_t keys : {1, 12, 45}) {
        const Axes axes = {{"B", 1}, {"Sq", 40}, {"Skv", keys}};
        CaptureData captures;
        CapturedTensor pad{{1, keys}, {}}, doc{{keys}, {}}, count{{1}, {static_cast<float>(rng.below(keys + 1))}};
        std::vector<double> scores;
        for (std::int64_t k = 0; k < keys; ++k) {
          pad.values.push_back(static_cast<float>(rng.below(2)));
          doc.values.push_back(static_cast<float>(k / 5));
          scores.push_back(8 * rng.normal());
        }
        captures = {{"pad", pad}, {"doc", doc}, {"count", count}};
        for (std::int64_t q = 0; q < 40; ++q) {
          const auto expected = probabilities(score_mod, mask_mod, axes, q, scores, captures);
          const auto actual = probabilities(found.score_mod, found.mask_mod, axes, q, scores, captures);
          for (std::size_t k = 0; k < expected.size(); ++k)
            ASSERT_NEAR(actual[k], expected[k], 1e-12) << body << " with " << mask << " at q " << q << " k " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace kw
