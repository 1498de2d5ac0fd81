// Captured tensors in mods: each test compares with C++ that reads the same values.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "mod/analysis/analysis.hpp"
#include "mod/frontend/parser.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_heads = 3;
constexpr std::int64_t k_length = 12;
const Axes k_axes = {{"B", 2}, {"Hq", k_heads}, {"Hkv", 1}, {"Sq", k_length}, {"Skv", k_length}, {"D", 8}, {"Dv", 8}};

ModScope scope() {
  return {{{"W", std::int64_t{5}}},
          {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"},
          {{"doc", DType::i32, {"Skv"}, true, 0, 3},
           {"offsets", DType::i32, {"Hkv"}, false, 0, 100},
           {"slopes", DType::f32, {"Hq"}, false, 0, 1},
           {"table", DType::f32, {"Hq", "Skv"}, false, -100, 100},
           {"bias", DType::f32, {"B", "Hq", "Sq", "Skv"}, false, -100, 100},
           {"pad", DType::boolean, {"B", "Skv"}, false, 0, 1},
           {"limit", DType::i32, {}, false, 0, 100}}};
}
double table_at(std::int64_t h, std::int64_t k) {
  return static_cast<double>(h * 100 + k);
}
CapturedTensor filled(std::vector<std::int64_t> extents, const std::function<double(std::int64_t)>& value) {
  std::int64_t count = 1;
  for (const auto extent : extents) count *= extent;
  CapturedTensor tensor{std::move(extents), {}};
  for (std::int64_t i = 0; i < count; ++i) tensor.values.push_back(static_cast<float>(value(i)));
  return tensor;
}
CaptureData data() {
  CaptureData values;
  values["doc"] = filled({k_length}, [](std::int64_t i) {
    const std::int64_t document = i / 4;
    return static_cast<double>(document);
  });
  values["offsets"] = filled({1}, [](std::int64_t) { return 4.0; });
  values["slopes"] = filled({k_heads}, [](std::int64_t h) { return 1.0 / static_cast<double>(h + 1); });
  values["table"] = filled({k_heads, k_length}, [](std::int64_t i) { return table_at(i / k_length, i % k_length); });
  values["bias"] =
      filled({2, k_heads, k_length, k_length}, [](std::int64_t i) { return static_cast<double>(i % 1009); });
  values["pad"] = filled({2, k_length}, [](std::int64_t i) { return i % 3 == 0 ? 0.0 : 1.0; });
  values["limit"] = filled({}, [](std::int64_t) { return 6.0; });
  return values;
}

using Expected = std::function<double(const ModPoint&)>;
/// Compares on a grid of points.
void expect_same(const std::string& text, ModRole role, const Expected& expected) {
  const auto mod = parse_mod(text, role, scope());
  ASSERT_TRUE(mod.has_value()) << text << "\n" << mod.error().to_string();
  const auto values = data();
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t h = 0; h < k_heads; ++h) {
      for (std::int64_t q = 0; q < k_length; q += 3) {
        for (std::int64_t k = 0; k < k_length; ++k) {
          const ModPoint point{0.5, b, h, q, k};
          ASSERT_DOUBLE_EQ(evaluate(*mod, k_axes, point, values), expected(point))
              << text << " at " << b << ", " << h << ", " << q << ", " << k;
        }
      }
    }
  }
}
void score(const std::string& body, const Expected& expected) {
  expect_same("lambda score, b, h, q, k: " + body, ModRole::score_mod, expected);
}
void mask(const std::string& body, const Expected& expected) {
  expect_same("lambda b, h, q, k: " + body, ModRole::mask_mod, expected);
}

TEST(ModCaptures, are_read_by_index) {
  mask("doc[q] == doc[k]", [](const ModPoint& p) { return p.query / 4 == p.key / 4 ? 1.0 : 0.0; });
  score("score + slopes[h] * (k - q)", [](const ModPoint& p) {
    return 0.5 + static_cast<double>(static_cast<float>(1.0 / static_cast<double>(p.head + 1))) *
                     static_cast<double>(p.key - p.query);
  });
  score("score + table[h, k]", [](const ModPoint& p) { return 0.5 + table_at(p.head, p.key); });
  score("score + table[h][k]", [](const ModPoint& p) { return 0.5 + table_at(p.head, p.key); });
  score("score + table[(h, k)]", [](const ModPoint& p) { return 0.5 + table_at(p.head, p.key); });
  score("score + bias[b][h, q][k]", [](const ModPoint& p) {
    return 0.5 + static_cast<double>((((p.batch * k_heads + p.head) * k_length + p.query) * k_length + p.key) % 1009);
  });
  mask("pad[b, k] & (k < limit)",
       [](const ModPoint& p) { return (p.batch * k_length + p.key) % 3 != 0 && p.key < 6 ? 1.0 : 0.0; });
}

TEST(ModCaptures, take_constant_nested_and_computed_indices) {
  score("score + table[1, 2] + table[-1][-2]",
        [](const ModPoint&) { return 0.5 + table_at(1, 2) + table_at(k_heads - 1, k_length - 2); });
  score("score + table[doc[k], (q - k).abs() % 7]",
        [](const ModPoint& p) { return 0.5 + table_at(p.key / 4, std::abs(p.query - p.key) % 7); });
  score("score + table[h, doc[q] * 4 + doc[doc[k]]]",
        [](const ModPoint& p) { return 0.5 + table_at(p.head, p.query / 4 * 4 + p.key / 4 / 4); });
  mask("(q - offsets[0]) >= k", [](const ModPoint& p) { return p.query - 4 >= p.key ? 1.0 : 0.0; });
}

TEST(ModCaptures, are_cut_by_full_slices) {
  score("score + table[:, 3][h] + table[1, :][k] + table[:][h, k] + bias[:, h, :, k][b, q] - bias[b, h, q, k]",
        [](const ModPoint& p) { return 0.5 + table_at(p.head, 3) + table_at(1, p.key) + table_at(p.head, p.key); });
  expect_same(
      "edges = [table[:, n] for n in range(3)]\n"
      "def mod(score, b, h, q, k):\n    for n, edge in enumerate(edges):\n        score = score + edge[h] * n\n"
      "    return score",
      ModRole::score_mod, [](const ModPoint& p) { return 0.5 + table_at(p.head, 1) + 2 * table_at(p.head, 2); });
}

TEST(ModCaptures, stand_in_lists_and_closures) {
  expect_same(
      "tables = [doc, offsets]\n"
      "def make(ids, start):\n    def mod(b, h, q, k):\n        return (ids[q] == ids[k]) & (k >= start[0])\n"
      "    return mod\nmake(*tables)",
      ModRole::mask_mod, [](const ModPoint& p) { return p.query / 4 == p.key / 4 && p.key >= 4 ? 1.0 : 0.0; });
  expect_same(
      "def mod(score, b, h, q, k, extra=None, table=table):\n    if extra is not None:\n        score = score + "
      "extra[h]\n"
      "    return score + table[h, k]",
      ModRole::score_mod, [](const ModPoint& p) { return 0.5 + table_at(p.head, p.key); });
}

TEST(ModCaptures, tell_their_shape_and_type) {
  score("score + table.shape[0] * 100 + table.size(1) + table.size()[0] + len(table[0]) + table.ndim + table.dim()",
        [](const ModPoint&) { return 0.5 + k_heads * 100 + k_length + k_heads + k_length + 2 + 2; });
  score("score + bias[b].shape[-1] + bias[b, h].ndim + len(doc)",
        [](const ModPoint&) { return 0.5 + k_length + 2 + k_length; });
  score("score + pad.to(score.device).int()[b, k] + pad.to(torch.int32)[b][k] + table.to(dtype=doc.dtype)[h, k]",
        [](const ModPoint& p) {
          const double pad = (p.batch * k_length + p.key) % 3 != 0 ? 1.0 : 0.0;
          return 0.5 + 2 * pad + table_at(p.head, p.key);
        });
}

TEST(ModCaptures, become_one_node_per_element) {
  const auto mod = parse_mod("lambda b, h, q, k: (doc[q] == doc[k]) & (doc[q] > 0)", ModRole::mask_mod, scope());
  ASSERT_TRUE(mod.has_value());
  const auto gathers = std::count_if(mod->nodes.begin(), mod->nodes.end(),
                                     [](const ModExpr& node) { return node.op == ExprOp::gather; });
  EXPECT_EQ(gathers, 2);
  EXPECT_EQ(mod->captures.size(), 1U);
}

TEST(ModCaptures, give_way_to_names_of_the_text) {
  const auto mod = parse_mod("table = 3\nlambda score, b, h, q, k: score + table", ModRole::score_mod, scope());
  ASSERT_TRUE(mod.has_value());
  EXPECT_EQ(evaluate(*mod, k_axes, {0.5, 0, 0, 0, 0}), 3.5);
}

}  // namespace
}  // namespace kw
