#include "mod/frontend/parser.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "mod/analysis/analysis.hpp"

namespace kw {
namespace {

const ModScope k_scope{{{"W", std::int64_t{5}}, {"SLOPE", 0.25}}, {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"}};
const Axes k_axes = {{"B", 2}, {"Hq", 4}, {"Hkv", 2}, {"Sq", 40}, {"Skv", 50}, {"D", 64}, {"Dv", 64}};
const ModPoint k_point{1.5, 1, 2, 7, 10};  // score, b, h, q, k

ModFunction parse(const std::string& text, ModRole role = ModRole::score_mod) {
  auto mod = parse_mod(text, role, k_scope);
  EXPECT_TRUE(mod.has_value()) << text << "\n" << (mod ? "" : mod.error().to_string());
  return mod ? *std::move(mod) : ModFunction{};
}
double run(const std::string& text, ModRole role = ModRole::score_mod) {
  const auto mod = parse(text, role);
  return mod.root < 0 ? NAN : evaluate(mod, k_axes, k_point);
}
/// A score_mod whose body is one expression.
double expression(const std::string& body) {
  return run("lambda score, b, h, q, k: " + body);
}
bool condition(const std::string& body) {
  return run("lambda b, h, q, k: " + body, ModRole::mask_mod) != 0.0;
}

TEST(ModParser, reads_the_published_relative_position_function_verbatim) {
  const auto mod = parse("def relative_positional(score, b, h, q_idx, kv_idx):\n    return score + (q_idx - kv_idx)");
  EXPECT_EQ(mod.name, "relative_positional");
  EXPECT_EQ(evaluate(mod, k_axes, k_point), 1.5 - 3.0);
  EXPECT_EQ(mod.nodes[static_cast<std::size_t>(mod.root)].type, ScalarType::real);
}

TEST(ModParser, keeps_the_source_as_it_was_written) {
  const std::string text = "# mine\nlambda b, h, q, k: q >= k  # yes\n";
  EXPECT_EQ(parse(text, ModRole::mask_mod).source, text);
}

TEST(ModParser, takes_the_last_function_and_inlines_the_others) {
  EXPECT_EQ(run("import torch\nfrom math import log2 as lg\n\nBASE = lg(8.0)\n\n"
                "def slope(head: int) -> float:\n    \"\"\"Doc.\"\"\"\n    return BASE * head\n\n"
                "@torch.compile\ndef mod(score: torch.Tensor, b, h, q, k):\n    bias = slope(h); other = bias + 1\n"
                "    return score + other\n"),
            1.5 + 3.0 * 2 + 1);
}

TEST(ModParser, makes_mods_in_factories) {
  EXPECT_EQ(run("def make(w):\n    def mod(b, h, q, k):\n        return q - k <= w\n    mod.__name__ = 'm'\n"
                "    return mod\n\nwindow = make(-4)\n",
                ModRole::mask_mod),
            0.0);
  EXPECT_EQ(run("def make(w):\n    return lambda b, h, q, k: q - k <= w\n\nmake(-3)\n", ModRole::mask_mod), 1.0);
}

TEST(ModParser, follows_branches_on_python_values) {
  EXPECT_EQ(run("def mod(s, b, h, q, k):\n    if W > 4 and not W == 6:\n        x = 1\n    elif W > 3:\n        x = 2\n"
                "    else:\n        x = 3\n    return s + (x if SLOPE < 1 else 9)\n"),
            2.5);
}

TEST(ModParser, chains_comparisons_of_python_values) {
  EXPECT_EQ(expression("score if 0 < 2 < 3 >= 3 else 0.0"), 1.5);
  EXPECT_EQ(expression("score if 0 < 2 < 2 < q else 0.0"), 0.0) << "ends before q is asked";
  EXPECT_EQ(expression("score if h is None or 0 <= 1 != 2 else 0.0"), 1.5);
}

TEST(ModParser, takes_keywords_that_nobody_gives) {
  EXPECT_EQ(run("def m(score, b, h, q, k, **options):\n"
                "    return score * 2 if 'scale' in options or options else score\n"),
            1.5);
}

TEST(ModParser, unpacks_tuples_and_updates_names) {
  EXPECT_EQ(run("def mod(s, b, h, q, k):\n    x, y = q, k\n    x += 1\n    pair = (x, y)\n"
                "    return s + pair[0] * 100 + pair[1]\n"),
            1.5 + 800 + 10);
}

TEST(ModParser, accepts_text_indented_as_a_whole_and_joined_lines) {
  EXPECT_EQ(run("    def mod(s, b, h, q, k):\n        return (s +\n  q\n)\n"), 8.5);
  EXPECT_EQ(run("def mod(s, b, h, q, k):\r\n\treturn s + \\\r\n      q\r\n"), 8.5);
}

TEST(ModParser, floors_like_python) {
  EXPECT_EQ(expression("score * 0 + (q - k) // 2"), -2.0);
  EXPECT_EQ(expression("score * 0 + (q - k) % 2"), 1.0);
  EXPECT_EQ(expression("score * 0 + (k - q) % -2"), -1.0);
  EXPECT_EQ(expression("(q - k - 0.5) // 2"), -2.0);
  EXPECT_EQ(expression("(q - k - 0.5) % 2"), 0.5);
  EXPECT_EQ(expression("score * 0 + (-7 // 2) + (-7 % 3) * 10"), -4.0 + 20.0);
  EXPECT_EQ(expression("score * 0 + 7.0 // 0.1"), 69.0);
}

TEST(ModParser, groups_operators_like_python) {
  EXPECT_EQ(expression("score * 0 + -2 ** 2"), -4.0);
  EXPECT_EQ(expression("score * 0 + 2 ** -1"), 0.5);
  EXPECT_EQ(expression("score * 0 + 2 ** 3 ** 2"), 512.0);
  EXPECT_EQ(expression("score * 0 + (1 << 2 + 1)"), 8.0);
  EXPECT_EQ(expression("score * 0 + (1 | 6 ^ 3 & 5)"), 7.0);
  EXPECT_EQ(expression("score * 0 + ~k"), -11.0);
  EXPECT_EQ(expression("score - q - k"), 1.5 - 17);
  EXPECT_EQ(expression("score * 0 + 0x10 + 0b11 + 0o7 + 1_000 + 1e1 + .5"), 16 + 3 + 7 + 1000 + 10 + 0.5);
}

TEST(ModParser, promotes_boolean_to_integer_to_float) {
  EXPECT_EQ(expression("score + (q < k)"), 2.5);
  EXPECT_EQ(expression("score * 0 + (q < k) * 3 + k / 4"), 5.5);
  EXPECT_EQ(expression("score * 0 + (q < k).int() + (q < k).float()"), 2.0);
  EXPECT_TRUE(condition("(q < k) == (h > 0)"));
  EXPECT_TRUE(condition("(q < k) != False"));
  EXPECT_TRUE(condition("(q > k) < (q < k)"));
}

TEST(ModParser, knows_the_functions_mods_use) {
  EXPECT_EQ(expression("torch.where(q >= k, score, -torch.inf)"), -INFINITY);
  EXPECT_EQ(expression("torch.where(q < k, score, float('-inf'))"), 1.5);
  EXPECT_EQ(expression("score + abs(q - k) + torch.abs(q - k) + (q - k).abs()"), 10.5);
  EXPECT_EQ(expression("score * 0 + torch.clamp(q - k, min=-2) + (k - q).clamp(0, 1) + torch.clamp(k, max=3)"), 2.0);
  EXPECT_EQ(expression("score * 0 + torch.minimum(q, k) + torch.maximum(q, k) + torch.max(q, k)"), 27.0);
  EXPECT_EQ(expression("2 * torch.tanh(score / 2)"), 2 * std::tanh(0.75));
  EXPECT_EQ(expression("score.exp()"), std::exp(1.5));
  EXPECT_EQ(expression("torch.exp2(score) + torch.log(score) + torch.log2(score)"),
            std::exp2(1.5) + std::log(1.5) + std::log2(1.5));
  EXPECT_EQ(expression("torch.sigmoid(score)"), 1 / (1 + std::exp(-1.5)));
  EXPECT_EQ(expression("torch.sqrt(score) * torch.rsqrt(score)"), std::sqrt(1.5) * (1 / std::sqrt(1.5)));
  EXPECT_EQ(expression("torch.floor(score) + torch.ceil(score) + torch.floor(q)"), 1 + 2 + 7);
  EXPECT_EQ(expression("F.relu(-score) + torch.nn.functional.silu(score)"), 1.5 * (1 / (1 + std::exp(-1.5))));
  EXPECT_EQ(expression("score.to(torch.int32) + (q / 2).to(dtype=torch.int64) + q.to(score.dtype)"), 1 + 3 + 7);
  EXPECT_EQ(expression("score.to('cuda') + torch.square(q) + torch.pow(q, 2)"), 1.5 + 98);
  EXPECT_TRUE(condition("torch.logical_and(q < k, torch.logical_not(q > k)) & torch.logical_or(q > k, h == 2)"));
}

TEST(ModParser, computes_python_numbers_at_once) {
  const auto mod =
      parse("lambda s, b, h, q, k: s * math.log2(math.e) * math.sqrt(16) + math.floor(2.5) + max(1, W, 2)");
  const auto constants = std::count_if(mod.nodes.begin(), mod.nodes.end(),
                                       [](const ModExpr& node) { return node.op == ExprOp::constant; });
  EXPECT_EQ(constants, 4) << "log2(e), 4, 2 and 5";
  EXPECT_DOUBLE_EQ(evaluate(mod, k_axes, k_point), 1.5 * std::log2(std::exp(1.0)) * 4 + 2 + 5);
}

TEST(ModParser, lets_axes_stand_where_python_numbers_do) {
  EXPECT_EQ(expression("score + Hq // 3 + min(Sq, Skv) + math.log2(D) + int(Skv / 4)"), 1.5 + 1 + 40 + 6 + 12);
}

TEST(ModParser, makes_equal_nodes_one) {
  const auto mod = parse("lambda s, b, h, q, k: s * (q - k) + (q - k) * s * 1.0 + 0");
  const auto subtractions = std::count_if(mod.nodes.begin(), mod.nodes.end(),
                                          [](const ModExpr& node) { return node.op == ExprOp::subtract; });
  EXPECT_EQ(subtractions, 1);
}

TEST(ModParser, gives_every_node_operands_of_the_type_it_asks_for) {
  const auto mod =
      parse("lambda s, b, h, q, k: torch.where((q < s) | (q == k), h * s, b // 2) + ((q > k) + k) ** 2 + (q & 3 << b)");
  for (const auto& node : mod.nodes) {
    const auto type = [&](std::size_t i) { return mod.nodes[static_cast<std::size_t>(node.args[i])].type; };
    if (node.op >= ExprOp::less && node.op <= ExprOp::not_equal) {
      EXPECT_EQ(type(0), type(1));
      EXPECT_NE(type(0), ScalarType::boolean) << "comparisons of booleans become logic";
    } else if (node.op == ExprOp::select) {
      EXPECT_EQ(type(0), ScalarType::boolean);
      EXPECT_TRUE(type(1) == node.type && type(2) == node.type);
    } else if (node.op < ExprOp::to_real) {
      for (std::size_t i = 0; i < node.args.size(); ++i) EXPECT_EQ(type(i), node.type);
    }
  }
}

TEST(ModParser, puts_operands_before_the_nodes_that_use_them) {
  const auto mod = parse("lambda s, b, h, q, k: s + (q - k) * (h + 1)");
  for (std::size_t i = 0; i < mod.nodes.size(); ++i) {
    for (const auto arg : mod.nodes[i].args) EXPECT_LT(arg, static_cast<ExprId>(i));
  }
  EXPECT_EQ(static_cast<std::size_t>(mod.root), mod.nodes.size() - 1) << "nothing is left over";
}

std::string error_of(const std::string& text, ModRole role = ModRole::mask_mod) {
  const auto mod = parse_mod(text, role, k_scope);
  return mod ? "no error" : mod.error().to_string();
}

std::string repeated(const std::string& part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

TEST(ModParserLimits, hold_against_text_that_is_large_or_deep) {
  const std::string head = "lambda b, h, q, k: ";
  const auto code = [&](const std::string& text) {
    const auto mod = parse_mod(text, ModRole::mask_mod, k_scope);
    return mod ? std::string("no error") : std::string(mod.error().code.name);
  };
  EXPECT_EQ(error_of(std::string(70'000, ' ')), "1:1: a mask_mod has at most 65536 bytes of text [mod.limit]");
  EXPECT_EQ(code(head + repeated("(", 30'000)), "mod.syntax") << "never closed";
  EXPECT_EQ(code(head + repeated("(", 30'000) + "q" + repeated(")", 30'000)), "mod.limit");
  EXPECT_EQ(code(head + repeated("-", 60'000) + "q"), "mod.limit");
  EXPECT_EQ(code(head + repeated("~", 60'000) + "q"), "mod.limit");
  EXPECT_EQ(code(head + repeated("not ", 15'000) + "q"), "mod.limit");
  EXPECT_EQ(code(head + repeated("2 ** ", 12'000) + "q"), "mod.limit");
  EXPECT_EQ(code(head + repeated("q + ", 15'000) + "q"), "mod.limit");
  EXPECT_EQ(code(head + "q" + repeated(".abs()", 10'000)), "mod.limit");
  EXPECT_EQ(code(head + "q" + repeated("[0]", 10'000)), "mod.limit");
  EXPECT_EQ(code(repeated("lambda: ", 8'000) + "1"), "mod.limit");
  EXPECT_EQ(code(repeated("if W:\n", 1) + repeated(" x=1\n", 1) + repeated("elif W:\n x=1\n", 4'000)), "mod.limit");
}

TEST(ModParserLimits, hold_against_text_that_grows_when_it_is_run) {
  std::string doubling = "def f0(x):\n    return x + x\n";
  for (int i = 1; i < 40; ++i) {
    doubling += fmt::format("def f{0}(x):\n    return f{1}(x) - f{1}(x + 1)\n", i, i - 1);
  }
  EXPECT_NE(error_of(doubling + "lambda b, h, q, k: f39(q) > 0").find("mod.limit"), std::string::npos);
  EXPECT_NE(error_of("def f(b, h, q, k):\n    return f(b, h, q, k)\n").find("mod.limit"), std::string::npos);
  std::string many = "def f(s, b, h, q, k):\n";
  for (int i = 0; i < 4'000; ++i) many += fmt::format("  s=s*k+{}\n", i);
  EXPECT_NE(error_of(many + "  return s\n", ModRole::score_mod).find("mod.limit"), std::string::npos);
}

TEST(ModParserLimits, allow_a_chain_of_thousands_of_operations) {
  std::string text = "def f(s, b, h, q, k):\n";
  for (int i = 0; i < 3'000; ++i) text += "  s=s+k\n";
  const auto mod = parse(text + "  return s\n");
  EXPECT_GT(mod.nodes.size(), 3'000U);
  EXPECT_EQ(evaluate(mod, k_axes, k_point), 1.5 + 30'000);
  auto copy = mod;
  EXPECT_TRUE(affine_in_score(copy).has_value());
}

}  // namespace
}  // namespace kw
