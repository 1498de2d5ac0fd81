#include "mod/analysis/losing_term.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "mod/analysis/analysis.hpp"
#include "mod/expression/text.hpp"
#include "mod/frontend/parser.hpp"

namespace kw {
namespace {

constexpr double k_bound = 4096.0;
constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t k_keys = 24;

const ModScope k_scope = {{},
                          {"B", "Hq", "Sq", "Skv"},
                          {{"mask", DType::f32, {"Sq", "Skv"}, false, -k_infinity, k_infinity},
                           {"pad", DType::boolean, {"Skv"}, false, 0, 1},
                           {"bias", DType::f32, {"Sq", "Skv"}, false, -k_infinity, k_infinity},
                           {"slopes", DType::f32, {"Hq"}, false, -8, 8}}};

ModFunction parsed(const std::string& body, ModRole role) {
  const std::string parameters = role == ModRole::score_mod ? "lambda s, b, h, q, k: " : "lambda b, h, q, k: ";
  auto mod = parse_mod(parameters + body, role, k_scope);
  KW_CHECK(mod.has_value(), "{}: {}", body, mod.error().to_string());
  return *std::move(mod);
}

bool is_no_slope(const std::string& capture) {
  return capture != "slopes";
}

std::optional<LosingTerm> losing(const std::string& score_mod, const std::string& mask_mod = "") {
  std::optional<ModFunction> mask;
  if (!mask_mod.empty()) mask = parsed(mask_mod, ModRole::mask_mod);
  return losing_term(parsed(score_mod, ModRole::score_mod), mask, k_bound, is_no_slope);
}

std::string term_of(const std::optional<LosingTerm>& found) {
  return found ? to_python(found->term, found->term.root, 200) : "none";
}

TEST(LosingTerm, is_what_is_added_to_the_score_or_chosen_in_its_place) {
  EXPECT_EQ(term_of(losing("s + mask[q, k]")), "mask[q_idx, kv_idx]");
  EXPECT_EQ(term_of(losing("mask[q, k] + 20 * torch.tanh(s / 20)")), "mask[q_idx, kv_idx]");
  EXPECT_EQ(term_of(losing("s - mask[q, k]")), "-mask[q_idx, kv_idx]");
  EXPECT_EQ(term_of(losing("torch.where(pad[k], s, -1e9)")), "torch.where(pad[kv_idx], 0, -1e+09)");
  EXPECT_EQ(term_of(losing("s + torch.where(pad[k], 0.0, -1e30)")), "torch.where(pad[kv_idx], 0, -1e+30)");
  EXPECT_EQ(term_of(losing("s + mask[q, k]", "q >= k")),
            "torch.where(q_idx >= kv_idx, mask[q_idx, kv_idx], -torch.inf)");
}

TEST(LosingTerm, is_none_where_no_mask_comes_into_it) {
  EXPECT_EQ(term_of(losing("s - slopes[h] * (q - k)")), "none");
  EXPECT_EQ(term_of(losing("s - (q - k) * 0.5")), "none");
  EXPECT_EQ(term_of(losing("s - 3 * (q - k)", "pad[k]")), "none") << "the mask_mod has a map of its own";
  EXPECT_NE(term_of(losing("s + bias[q, k]")), "none");
}

TEST(LosingTerm, is_compared_by_what_the_rest_of_the_score_can_make_good) {
  EXPECT_EQ(losing("s + mask[q, k]")->distance, 2 * k_bound + 220.0);
  EXPECT_EQ(losing("mask[q, k] + 20 * torch.tanh(s / 20)")->distance < 262.0, true);
  // Biases of position that are bounded by themselves.
  const auto with_slopes = losing("s + slopes[h] * (k - q) + mask[q, k]");
  EXPECT_EQ(term_of(with_slopes), "none") << "8 * 2^24 is no ordinary term";
  const auto small = losing("s + 0.25 * (k - q) + mask[q, k]");
  EXPECT_EQ(term_of(small), "mask[q_idx, kv_idx]");
  EXPECT_EQ(small->distance, 2 * (k_bound + 0.25 * ((1 << 24) - 1)) + 220.0);
}

TEST(LosingTerm, is_none_where_the_rest_is_not_bounded_or_nothing_can_lose) {
  for (const char* body :
       {"s", "s * 2.0", "s + 0.5 * (q - k) % 7", "s + mask[q, k] + bias[q, k]", "s * mask[q, k]",
        "torch.exp(s) + mask[q, k]", "s * s * s * s + mask[q, k]", "s + mask[q, 0]", "torch.where(s > 0, s, -1e9)"}) {
    EXPECT_EQ(term_of(losing(body)), "none") << body;
  }
  EXPECT_FALSE(losing_term(std::nullopt, std::nullopt, k_bound, is_no_slope));
}

TEST(LosingTerm, a_row_without_an_ordinary_term_loses_nothing_but_minus_infinity) {
  EXPECT_EQ(losing_limit(0.0, 8412.0), -8412.0);
  EXPECT_EQ(losing_limit(-2e7, 8412.0), -k_infinity);
  EXPECT_EQ(losing_limit(std::numeric_limits<float>::lowest(), 8412.0), -k_infinity);
  EXPECT_EQ(losing_limit(k_infinity, 8412.0), -k_infinity);
  EXPECT_EQ(losing_limit(-k_infinity, 8412.0), -k_infinity);
}

/// The probability of each key in f32, of scores as a kernel adds them up.
std::vector<float> probabilities(const std::vector<float>& scores, const std::vector<float>& terms) {
  float largest = -std::numeric_limits<float>::infinity();
  std::vector<float> row(scores.size());
  for (std::size_t k = 0; k < row.size(); ++k) {
    row[k] = scores[k] + terms[k];
    largest = std::max(largest, row[k]);
  }
  for (float& value : row) value = largest == -k_infinity ? 0.0F : std::exp(value - largest);
  return row;
}

TEST(LosingTerm, keys_that_lose_have_probability_zero_whatever_the_scores) {
  const double values[] = {0.0,         1.5,    -3.0,   -4096.0, -8192.0, -8500.0,
                           -1e4,        -65504, -1e9,   -1.5e7,  -1.8e7,  std::numeric_limits<float>::lowest(),
                           -k_infinity, -1e20,  9000.0, 1e7,     2e7,     1e30};
  const double distance = losing("s + mask[q, k]")->distance;
  Rng rng(20261125);
  int lost = 0;
  for (int draw = 0; draw < 20000; ++draw) {
    std::vector<float> scores, terms;
    float largest = -std::numeric_limits<float>::infinity();
    const auto first = rng.below(std::size(values));
    for (std::int64_t k = 0; k < k_keys; ++k) {
      // Rows of few different values, among them such of one value alone.
      const auto pick = rng.below(2) == 0 ? first : rng.below(std::size(values));
      terms.push_back(static_cast<float>(values[draw % 5 == 0 ? first : pick]));
      scores.push_back(static_cast<float>(k_bound * static_cast<double>(rng.below(3) - 1)));
      largest = std::max(largest, terms.back());
    }
    const double limit = losing_limit(largest, distance);
    const auto row = probabilities(scores, terms);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (terms[k] > limit) continue;
      ++lost;
      ASSERT_EQ(row[k], 0.0F) << "draw " << draw << ": term " << terms[k] << " beside " << largest;
    }
  }
  EXPECT_GT(lost, 10000);
}

}  // namespace
}  // namespace kw
