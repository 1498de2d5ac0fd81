#include "mod/analysis/analysis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/rng.hpp"
#include "mod/analysis/row_evaluator.hpp"
#include "mod/expression/expr_builder.hpp"
#include "mod/frontend/parser.hpp"

namespace kw {
namespace {

const Axes k_axes = {{"B", 2}, {"Hq", 4}, {"Hkv", 2}, {"Sq", 40}, {"Skv", 50}, {"D", 8}, {"Dv", 8}};

ModFunction parse(const std::string& text, ModRole role) {
  const ModScope scope{{{"W", std::int64_t{5}}}, {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"}};
  auto mod = parse_mod(text, role, scope);
  EXPECT_TRUE(mod.has_value()) << text << "\n" << (mod ? "" : mod.error().to_string());
  return mod ? *std::move(mod) : ModFunction{};
}
ModFunction mask(const std::string& body) {
  return parse("lambda b, h, q, k: " + body, ModRole::mask_mod);
}
ModFunction score_mod(const std::string& body) {
  return parse("lambda s, b, h, q, k: " + body, ModRole::score_mod);
}

double value_of(const ModFunction& mod, ExprId node, const ModPoint& point) {
  ModFunction part = mod;
  part.root = node;
  return evaluate(part, k_axes, point);
}

/// Random mods that use every operation, biased towards what masks are made of.
class RandomMods {
 public:
  explicit RandomMods(std::uint64_t seed) : rng_(seed) {}

  ModFunction mask() {
    ModFunction mod;
    ExprBuilder builder(mod);
    builder_ = &builder;
    mod.root = boolean(4);
    return in_normal_order(mod);
  }
  ModFunction score_mod() {
    ModFunction mod;
    ExprBuilder builder(mod);
    builder_ = &builder;
    score_allowed_ = true;
    mod.root = real(4);
    return in_normal_order(mod);
  }
  ModPoint point() {
    return {rng_.normal() * 3.0, rng_.below(k_axes.at("B")), rng_.below(k_axes.at("Hq")), rng_.below(k_axes.at("Sq")),
            rng_.below(k_axes.at("Skv"))};
  }
  Rng& rng() { return rng_; }

 private:
  ExprId boolean(int depth) {
    const auto choice = depth == 0 ? 0 : rng_.below(10);
    if (choice == 6) return builder_->unary(ExprOp::bit_not, boolean(depth - 1));
    if (choice >= 7) {
      constexpr ExprOp k_join[] = {ExprOp::bit_and, ExprOp::bit_or, ExprOp::bit_xor};
      const auto left = boolean(depth - 1);
      return builder_->binary(k_join[choice - 7], left, boolean(depth - 1));
    }
    if (choice == 5) {
      const auto condition = boolean(depth - 1);
      const auto if_true = boolean(depth - 1);
      return builder_->select(condition, if_true, boolean(depth - 1));
    }
    constexpr ExprOp k_compare[] = {ExprOp::less,          ExprOp::less_equal, ExprOp::greater,
                                    ExprOp::greater_equal, ExprOp::equal,      ExprOp::not_equal};
    const auto op = k_compare[rng_.below(6)];
    if (choice == 4) {
      const auto left = real(depth - 1);
      return builder_->binary(op, left, real(depth - 1));
    }
    const auto left = integer(std::max(0, depth - 1));
    return builder_->binary(op, left, integer(std::max(0, depth - 1)));
  }

  ExprId integer(int depth) {
    if (depth == 0 || rng_.below(3) == 0) {
      constexpr ExprOp k_leaves[] = {ExprOp::key,   ExprOp::query, ExprOp::key,
                                     ExprOp::query, ExprOp::head,  ExprOp::batch};
      const auto choice = rng_.below(9);
      if (choice < 6) return builder_->leaf(k_leaves[choice]);
      if (choice == 6) return builder_->axis("Sq");
      if (choice == 7) return builder_->integer(rng_.below(8) == 0 ? 2'000'000'000 : 31);
      return builder_->integer(rng_.below(21) - 10);
    }
    constexpr ExprOp k_binary[] = {ExprOp::add,      ExprOp::subtract,    ExprOp::add,       ExprOp::subtract,
                                   ExprOp::minimum,  ExprOp::maximum,     ExprOp::modulo,    ExprOp::floor_divide,
                                   ExprOp::bit_and,  ExprOp::bit_or,      ExprOp::bit_xor,   ExprOp::multiply,
                                   ExprOp::multiply, ExprOp::shift_right, ExprOp::shift_left};
    constexpr ExprOp k_unary[] = {ExprOp::negate, ExprOp::absolute, ExprOp::bit_not};
    const auto choice = rng_.below(21);
    if (choice < 15) {
      const auto left = integer(depth - 1);
      return builder_->binary(k_binary[choice], left, integer(depth - 1));
    }
    if (choice < 18) return builder_->unary(k_unary[choice - 15], integer(depth - 1));
    if (choice == 18) return builder_->convert(real(depth - 1), ScalarType::integer);
    const auto condition = boolean(depth - 1);
    const auto if_true = integer(depth - 1);
    return builder_->select(condition, if_true, integer(depth - 1));
  }

  ExprId real(int depth) {
    if (score_allowed_ && rng_.below(4) == 0) return builder_->leaf(ExprOp::score);
    if (depth <= 0 || rng_.below(4) == 0) return builder_->convert(integer(std::max(0, depth - 1)), ScalarType::real);
    constexpr ExprOp k_binary[] = {ExprOp::add,     ExprOp::subtract, ExprOp::multiply,     ExprOp::divide,
                                   ExprOp::minimum, ExprOp::maximum,  ExprOp::floor_divide, ExprOp::modulo,
                                   ExprOp::power,   ExprOp::add,      ExprOp::multiply,     ExprOp::fmod};
    constexpr ExprOp k_unary[] = {ExprOp::negate, ExprOp::absolute, ExprOp::exp,     ExprOp::exp2, ExprOp::log,
                                  ExprOp::log2,   ExprOp::tanh,     ExprOp::sigmoid, ExprOp::sqrt, ExprOp::rsqrt,
                                  ExprOp::floor,  ExprOp::sin,      ExprOp::cos,     ExprOp::round};
    const auto choice = rng_.below(28);
    if (choice < 12) {
      const auto left = real(depth - 1);
      return builder_->binary(k_binary[choice], left, real(depth - 1));
    }
    if (choice < 26) return builder_->unary(k_unary[choice - 12], real(depth - 1));
    if (choice == 26) return builder_->real(rng_.normal());
    const auto condition = boolean(depth - 1);
    const auto if_true = real(depth - 1);
    return builder_->select(condition, if_true, real(depth - 1));
  }

  Rng rng_;
  ExprBuilder* builder_ = nullptr;
  bool score_allowed_ = false;
};

IndexRange random_range(Rng& rng, std::int64_t extent) {
  const auto first = rng.below(extent);
  return {first, std::min(extent - 1, first + rng.below(1 + rng.below(12)))};
}

TileRange random_tile(Rng& rng) {
  return {random_range(rng, k_axes.at("B")), random_range(rng, k_axes.at("Hq")), random_range(rng, k_axes.at("Sq")),
          random_range(rng, k_axes.at("Skv"))};
}

/// Calls body(point) for each point of the tile.
template <typename Body>
void for_each_point(const TileRange& tile, Body body) {
  for (auto b = tile.batch.first; b <= tile.batch.last; ++b) {
    for (auto h = tile.head.first; h <= tile.head.last; ++h) {
      for (auto q = tile.query.first; q <= tile.query.last; ++q) {
        for (auto k = tile.key.first; k <= tile.key.last; ++k) body(ModPoint{0.0, b, h, q, k});
      }
    }
  }
}

TEST(Evaluate, keeps_nothing_of_masking_values_that_cancel_in_a_float) {
  const ModScope scope{{}, {"Skv"}, {{"hidden", DType::f32, {"Skv"}, false, -1e31, 0}}};
  const auto mod = parse_mod("lambda s, b, h, q, k: -(s + hidden[k]) - 1e30", ModRole::score_mod, scope).value();
  const CaptureData data = {{"hidden", CapturedTensor{{50}, std::vector<float>(50, -1e30F)}}};
  EXPECT_EQ(evaluate(mod, k_axes, {0.5, 0, 0, 0, 3}, data), 0.0) << "a double tells -1e30 from the float's value";
  std::vector<double> row(50, 0.5);
  ModRowEvaluator(mod, k_axes, data).run({0, 0, 0}, 0, row);
  EXPECT_EQ(row, std::vector<double>(50, 0.0));
}

TEST(Dependencies, follow_the_operands) {
  const auto mod = score_mod("s + (h + 1) * (q - k)");
  const auto all = dependencies(mod);
  const auto& root = all[static_cast<std::size_t>(mod.root)];
  EXPECT_TRUE(root.score && root.head && root.query && root.key && !root.batch);
  const auto constants = std::count_if(all.begin(), all.end(), [](const auto& node) { return node.constant(); });
  EXPECT_EQ(constants, 1);
}

TEST(ClassifyTile, decides_the_tiles_of_common_masks) {
  const auto classify = [](const ModFunction& mod, IndexRange q, IndexRange k) {
    return classify_tile(mod, k_axes, {{0, 1}, {0, 3}, q, k});
  };
  const auto causal = mask("q >= k");
  EXPECT_EQ(classify(causal, {16, 31}, {0, 16}), TileClass::full);
  EXPECT_EQ(classify(causal, {16, 31}, {0, 17}), TileClass::partial);
  EXPECT_EQ(classify(causal, {16, 31}, {31, 40}), TileClass::partial);
  EXPECT_EQ(classify(causal, {16, 31}, {32, 40}), TileClass::empty);
  const auto window = mask("(q >= k) & (q - k <= W)");
  EXPECT_EQ(classify(window, {20, 22}, {0, 14}), TileClass::empty);
  EXPECT_EQ(classify(window, {20, 22}, {17, 20}), TileClass::full);
  const auto prefix = mask("(k < W) | (q >= k)");
  EXPECT_EQ(classify(prefix, {0, 3}, {0, 4}), TileClass::full);
  EXPECT_EQ(classify(prefix, {0, 3}, {5, 9}), TileClass::empty);
  const auto blocks = mask("q // 8 == k // 8");
  EXPECT_EQ(classify(blocks, {8, 15}, {8, 15}), TileClass::full);
  EXPECT_EQ(classify(blocks, {8, 15}, {16, 23}), TileClass::empty);
  EXPECT_EQ(classify(mask("k >= 0"), {0, 9}, {0, 9}), TileClass::full);
}

TEST(ClassifyTile, knows_the_exact_bounds_of_remainders_and_bits) {
  const auto classify = [](const std::string& body) {
    return classify_tile(mask(body), k_axes, {{0, 1}, {0, 3}, {0, 39}, {0, 31}});
  };
  for (const auto* body : {"k % 8 < 8", "k % -8 > -8", "(k & 7) <= 7", "k % 64 <= 31", "(k | 3) <= 31", "(k ^ q) <= 63",
                           "k >> 1 <= 15", "k << 1 <= 62", "abs(k - q) <= 39", "-k // 4 >= -8"}) {
    EXPECT_EQ(classify(body), TileClass::full) << body;
  }
  for (const auto* body : {"k % 8 < 7", "k % -8 > -7", "(k & 7) < 7", "k % 64 < 31", "(k | 3) < 31", "(k ^ q) < 63",
                           "k >> 1 < 15", "k << 1 < 62", "abs(k - q) < 39", "-k // 4 > -8"}) {
    EXPECT_EQ(classify(body), TileClass::partial) << body;
  }
}

TEST(ClassifyTile, proves_only_what_brute_force_confirms) {
  constexpr std::uint64_t k_seed = 20240;
  RandomMods random(k_seed);
  int proofs = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto mod = random.mask();
    const auto tile = random_tile(random.rng());
    const auto found = classify_tile(mod, k_axes, tile);
    if (found == TileClass::partial) continue;
    ++proofs;
    for_each_point(tile, [&](const ModPoint& point) {
      ASSERT_EQ(evaluate(mod, k_axes, point), found == TileClass::full ? 1.0 : 0.0)
          << "seed " << k_seed << " round " << round << " at " << point.batch << "," << point.head << "," << point.query
          << "," << point.key;
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(proofs, 1000) << "the test has become vacuous";
}

TEST(RowEvaluator, agrees_with_the_point_evaluator) {
  constexpr std::uint64_t k_seed = 11;
  RandomMods random(k_seed);
  for (int round = 0; round < 1000; ++round) {
    const auto mod = random.score_mod();
    auto point = random.point();
    ModRowEvaluator evaluator(mod, k_axes);
    std::vector<double> row(70, point.score);
    evaluator.run({point.batch, point.head, point.query}, 3, row);
    for (std::size_t i = 0; i < row.size(); i += 23) {
      point.key = 3 + static_cast<std::int64_t>(i);
      const double expected = evaluate(mod, k_axes, point);
      ASSERT_TRUE(row[i] == expected || (std::isnan(row[i]) && std::isnan(expected)))
          << "seed " << k_seed << " round " << round << " key " << point.key << ": " << row[i] << " and " << expected;
    }
  }
}

TEST(AffineInScore, finds_multiplier_and_offset) {
  const auto plain = score_mod("s + (q - k)");
  const auto affine = affine_in_score(plain);
  ASSERT_TRUE(affine);
  EXPECT_EQ(affine->multiplier, -1);
  EXPECT_EQ(plain.nodes[static_cast<std::size_t>(affine->offset)].op, ExprOp::to_real);
  const auto scaled = score_mod("s * 0.5");
  EXPECT_EQ(affine_in_score(scaled)->offset, -1);
  const auto identity = score_mod("s");
  EXPECT_EQ(affine_in_score(identity)->multiplier, -1);
  EXPECT_EQ(affine_in_score(identity)->offset, -1);
}

TEST(AffineInScore, makes_nodes_only_in_a_mod_it_may_change) {
  auto mod = score_mod("(s + h) * (q + 1)");
  EXPECT_FALSE(affine_in_score(std::as_const(mod)));
  EXPECT_TRUE(affine_in_score(mod));
}

TEST(AffineInScore, refuses_what_bends_or_jumps) {
  for (const auto* body : {"20.0 * torch.tanh(s / 20.0)", "torch.where(q >= k, s, -torch.inf)", "s * s",
                           "torch.maximum(s, q)", "torch.where(s > 0, s, 2 * s)", "1 / s"}) {
    auto mod = score_mod(body);
    EXPECT_FALSE(affine_in_score(mod)) << body;
  }
}

TEST(AffineInScore, agrees_with_evaluation_on_random_mods) {
  constexpr std::uint64_t k_seed = 77;
  RandomMods random(k_seed);
  int found = 0;
  for (int round = 0; round < 6000; ++round) {
    auto mod = random.score_mod();
    const auto root = mod.root;
    const auto affine = affine_in_score(mod);
    if (!affine) continue;
    ++found;
    for (int i = 0; i < 10; ++i) {
      const auto point = random.point();
      const double expected = value_of(mod, root, point);
      const double multiplier = affine->multiplier < 0 ? 1.0 : value_of(mod, affine->multiplier, point);
      const double offset = affine->offset < 0 ? 0.0 : value_of(mod, affine->offset, point);
      const double actual = multiplier * point.score + offset;
      if (!std::isfinite(expected) || !std::isfinite(actual)) continue;  // inf - inf and 0 * inf are not affine
      const double size = std::fabs(multiplier * point.score) + std::fabs(offset) + 1e-300;
      ASSERT_NEAR(actual, expected, 1e-9 * size) << "seed " << k_seed << " round " << round;
    }
  }
  EXPECT_GT(found, 500) << "the test has become vacuous";
}

TEST(LinearInKey, separates_slope_and_intercept_of_alibi) {
  auto mod = score_mod("s + torch.exp2(-((h + 1) * 8.0 / Hq)) * (k - q)");
  const auto bias = affine_in_score(std::as_const(mod))->offset;
  const auto linear = linear_in_key(mod, bias);
  ASSERT_TRUE(linear);
  const ModPoint point{0.0, 0, 1, 30, 7};
  EXPECT_DOUBLE_EQ(value_of(mod, linear->slope, point), 0.0625);
  EXPECT_DOUBLE_EQ(value_of(mod, linear->intercept, point), -0.0625 * 30);
}

TEST(LinearInKey, refuses_the_score_and_what_bends) {
  auto mod = score_mod("s + torch.abs(q - k)");
  EXPECT_FALSE(linear_in_key(mod, mod.root));
  const auto offset = affine_in_score(std::as_const(mod))->offset;
  EXPECT_FALSE(linear_in_key(mod, offset));
}

TEST(LinearInKey, refuses_floats_of_integers_that_may_wrap) {
  auto mod = score_mod("s + (k * 1000 + q)");  // 2^24 * 1000 leaves 32 bits
  EXPECT_FALSE(linear_in_key(mod, affine_in_score(std::as_const(mod))->offset));
}

TEST(LinearInKey, agrees_with_evaluation_on_random_nodes) {
  constexpr std::uint64_t k_seed = 99;
  RandomMods random(k_seed);
  int found = 0;
  for (int round = 0; round < 3000; ++round) {
    auto mod = random.mask();
    const auto count = static_cast<ExprId>(mod.nodes.size());
    for (ExprId node = 0; node < count; ++node) {
      const auto linear = linear_in_key(mod, node);
      if (!linear) continue;
      ++found;
      for (int i = 0; i < 4; ++i) {
        const auto point = random.point();
        const double slope = value_of(mod, linear->slope, point);
        const double intercept = value_of(mod, linear->intercept, point);
        const double expected = value_of(mod, node, point);
        if (mod.nodes[static_cast<std::size_t>(node)].type == ScalarType::integer) {
          const auto exact = static_cast<std::int64_t>(slope) * point.key + static_cast<std::int64_t>(intercept);
          ASSERT_EQ(static_cast<std::int32_t>(exact), static_cast<std::int32_t>(expected)) << k_seed << " " << round;
        } else if (std::isfinite(expected) && std::isfinite(slope) && std::isfinite(intercept)) {
          const double key = static_cast<double>(point.key);
          const double size = std::fabs(slope * key) + std::fabs(intercept) + std::fabs(expected) + 1e-300;
          ASSERT_NEAR(slope * key + intercept, expected, 1e-9 * size) << "seed " << k_seed << " round " << round;
        }
      }
    }
  }
  EXPECT_GT(found, 5000) << "the test has become vacuous";
}

/// The keys the interval allows, against those the mask does, in every row.
void expect_same_rows(ModFunction mod, const ModFunction& original, const RowInterval& interval,
                      const std::string& label) {
  const TileRange rows{{0, k_axes.at("B") - 1}, {0, k_axes.at("Hq") - 1}, {0, k_axes.at("Sq") - 1}, {0, 0}};
  for_each_point(rows, [&](ModPoint point) {
    double first = 0.0;
    double last = static_cast<double>(k_axes.at("Skv") - 1);
    for (const auto node : interval.first) first = std::max(first, value_of(mod, node, point));
    for (const auto node : interval.last) last = std::min(last, value_of(mod, node, point));
    for (point.key = 0; point.key < k_axes.at("Skv"); ++point.key) {
      const double key = static_cast<double>(point.key);
      ASSERT_EQ(evaluate(original, k_axes, point) != 0.0, key >= first && key <= last)
          << label << " at b " << point.batch << " h " << point.head << " q " << point.query << " k " << point.key;
    }
  });
}

TEST(RowInterval, is_proved_for_the_masks_people_use) {
  for (const auto* body : {"q >= k", "k <= q", "~(k > q)", "(q >= k) & (q - k <= W)", "(q >= k) & (k > q - W)",
                           "(k < 8) | (q >= k)", "abs(q - k) <= W", "W > abs(k - q)", "q + Skv - Sq >= k", "k == q",
                           "k < 2 * h + 3", "(q >= k) & (b > 0)", "~((k > q) | (q - k > W))", "(q < 10) | (k < 5)",
                           "k >= 0", "q // 8 == k // 8", "q - k >= -W", "torch.logical_and(q >= k, k >= 4)"}) {
    auto mod = mask(body);
    const auto original = mod;
    const auto interval = row_interval(mod);
    ASSERT_TRUE(interval) << body;
    expect_same_rows(mod, original, *interval, body);
  }
}

TEST(RowInterval, is_not_claimed_for_anything_else) {
  for (const auto* body : {"(k < 4) | (q - k <= W) & (q >= k)", "k % 2 == 0", "q != k", "abs(q - k) > W",
                           "q // 8 == -k // 8 + k", "(k < 5) | (k > 9)", "k * 1000 <= q", "(k + q * 4000 >= 5)"}) {
    auto mod = mask(body);
    EXPECT_FALSE(row_interval(mod)) << body;
  }
}

TEST(RowInterval, agrees_with_brute_force_on_random_masks) {
  constexpr std::uint64_t k_seed = 4711;
  RandomMods random(k_seed);
  int proofs = 0;
  for (int round = 0; round < 3000 && proofs < 400; ++round) {
    auto mod = random.mask();
    const auto original = mod;
    const auto interval = row_interval(mod);
    if (!interval) continue;
    ++proofs;
    expect_same_rows(mod, original, *interval, fmt::format("seed {} round {}", k_seed, round));
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(proofs, 100) << "the test has become vacuous";
}

}  // namespace
}  // namespace kw
