// Mods that stand inside of a function, a method or a class: FILE.py:outer(args).inner.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "mod/analysis/analysis.hpp"
#include "mod/frontend/file.hpp"

namespace kw {
namespace {

const Axes k_axes = {{"B", 2}, {"Hq", 4}, {"Hkv", 2}, {"Sq", 40}, {"Skv", 50}, {"D", 64}, {"Dv", 64}};
const ModPoint k_point{1.5, 1, 2, 7, 10};  // score, b, h, q, k

ModScope scope() {
  return {{{"DECLARED", std::int64_t{5}}},
          {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"},
          {{"document_id", DType::i32, {"Skv"}, true, 0, 100}}};
}

constexpr const char* k_file = R"(
import torch
W = 100
BIAS = 1000

def outer(width, slack=1, *, extra=0):
    """Makes nothing that it returns."""
    x = torch.randn(2, 3)
    with open("f") as file:
        lines = file.read()
    HALF = width // 2
    if lines:
        DOUBT = 1
    else:
        DOUBT = 2
    def inner(score, b, h, q_idx, kv_idx):
        return score * 0 + W + width + HALF + slack + extra
    def deeper(offset):
        def last(score, b, h, q_idx, kv_idx):
            return score * 0 + offset + HALF
        return last
    def doubtful(score, b, h, q_idx, kv_idx):
        return score + DOUBT
    def needs_x(score, b, h, q_idx, kv_idx):
        return score + x
    def documents(b, h, q_idx, kv_idx):
        return document_id[q_idx] == document_id[kv_idx]
    document_id = make(x)
    return run(inner, x)

def changing(W):
    def mod(score, b, h, q, k):
        return score * 0 + W
    run(mod)
    W = 7
    return run(mod)

class Attention(torch.nn.Module):
    W = 5
    NEAR = W + 1

    def __init__(self, heads):
        self.window = heads

    @staticmethod
    def static(score, b, h, q, k):
        return score * 0 + W

    def method(self, x, scale: float = 2.0):
        def inner(score, b, h, q, k):
            return score * scale
        def of_self(score, b, h, q, k):
            return score * self.window
        return flex_attention(x, score_mod=inner)

    def mask(self, b, h, q, k):
        return q >= k

    def own(self, score, b, h, q, k):
        return score + self.window

    class Inner:
        @staticmethod
        def near(b, h, q, k):
            return q - k < 3

async def coroutine():
    def inner(b, h, q, k):
        return q >= k
)";

Result<FileMod> parse(const std::string& wanted) {
  return parse_mod_file(k_file, wanted, scope());
}
double value(const std::string& wanted) {
  const auto mod = parse(wanted);
  EXPECT_TRUE(mod.has_value()) << wanted << "\n" << (mod ? "" : mod.error().to_string());
  return mod ? evaluate(mod->function, k_axes, k_point) : NAN;
}
std::string refusal(const std::string& wanted) {
  const auto mod = parse(wanted);
  return mod ? "no error" : mod.error().to_string();
}

TEST(NestedNames, a_function_inside_of_a_function) {
  EXPECT_EQ(value("outer(8).inner"), 100 + 8 + 4 + 1);
  EXPECT_EQ(value("outer(width=8, extra=3).inner"), 100 + 8 + 4 + 1 + 3);
  EXPECT_EQ(value("outer(8, 2).inner"), 100 + 8 + 4 + 2);
  EXPECT_EQ(value("outer(8).deeper(5).last"), 5 + 4);
  EXPECT_EQ(value("outer(8).deeper(5)"), 5 + 4) << "called, where the rest of the function cannot be";
  EXPECT_EQ(parse("outer(8).inner")->function.name, "inner");
}

TEST(NestedNames, a_function_inside_of_a_method_or_class) {
  EXPECT_EQ(value("Attention.static"), 100) << "a class's names are not seen by its methods";
  EXPECT_EQ(value("Attention.method.inner"), 3.0);
  EXPECT_EQ(value("Attention.method(scale=4).inner"), 6.0);
  EXPECT_EQ(parse("Attention.mask")->role, ModRole::mask_mod) << "self is no parameter of the mod";
  EXPECT_EQ(parse("Attention.own").has_value(), false);
  EXPECT_EQ(value("and_masks(Attention.Inner.near, noop_mask)"), 1.0);
  EXPECT_EQ(value("lambda score, b, h, q, k: score * 0 + Attention.NEAR"), 6.0);
}

TEST(NestedNames, the_problem_supplies_tensors_that_the_function_would_compute) {
  const auto mod = parse("outer.documents");
  ASSERT_TRUE(mod.has_value()) << mod.error().to_string();
  ASSERT_EQ(mod->function.captures.size(), 1U);
  EXPECT_EQ(mod->function.captures[0].name, "document_id");
}

TEST(NestedNames, a_function_that_returns_early_is_left_there) {
  const std::string file =
      "def outer(mode, x=None):\n    W = 1\n    if x is not None:\n        return x\n    if mode == 1:\n"
      "        def mod(score, b, h, q, k):\n            return score * 0 + W\n        return mod\n"
      "    for i in mode2:\n        return 3\n"
      "    W = 2\n    def mod(score, b, h, q, k):\n        return score * 0 + W\n    return mod\n";
  const auto value_of = [&](const std::string& wanted) {
    const auto mod = parse_mod_file(file, wanted, scope());
    return mod ? fmt::format("{}", evaluate(mod->function, k_axes, k_point)) : mod.error().message;
  };
  EXPECT_EQ(value_of("outer(2).mod"), "2") << "whether the loop returned is not known; but then there is no mod";
  EXPECT_EQ(value_of("outer(1).mod"), "1");
  EXPECT_EQ(value_of("outer(1, 5).mod"), "'outer' defines no 'mod'");
  EXPECT_NE(value_of("outer(unknown=1).mod").find("no parameter"), std::string::npos);
  EXPECT_NE(value_of("outer.mod").find("whether this 'if' gives 'mod' another value is not known"), std::string::npos);
}

TEST(NestedNames, a_declared_tensor_wins_over_a_local_of_a_function_that_makes_a_mod) {
  const std::string file =
      "def make(offsets, n):\n    sizes = [1, 2]\n    document_id = _to_ids(offsets)\n"
      "    def mod(b, h, q, k):\n        return document_id[q] - document_id[k] < n\n    return mod\n"
      "made = make(None, 3)\n";
  for (const std::string wanted : {"make(None, 3)", "made", "lambda b, h, q, k: made(b, h, q, k)"}) {
    const auto mod = parse_mod_file(file, wanted, scope());
    ASSERT_TRUE(mod.has_value()) << wanted << mod.error().to_string();
    ASSERT_EQ(mod->function.captures.size(), 1U);
  }
  const auto error_of = [](const std::string& body) {
    const auto mod = parse_mod_file(
        "def make():\n    sizes = [1, 2]\n" + body + "    return lambda b, h, q, k: document_id[q] < sizes[0]\n",
        "make()", scope());
    return mod ? "no error" : mod.error().to_string();
  };
  EXPECT_EQ(error_of("    document_id = f(3)\n"), "no error");
  EXPECT_NE(error_of("    document_id = f(sizes)\n").find("not executed, and may change 'sizes'"), std::string::npos);
  EXPECT_NE(error_of("    document_id, n = f(3)\n").find("declares 'document_id', but not 'n'"), std::string::npos);
  // In the mod itself, a local is a local.
  const auto own =
      parse_mod_file("def mod(b, h, q, k):\n    document_id = q + 1\n    return document_id > k\n", "mod", scope());
  ASSERT_TRUE(own.has_value()) << own.error().to_string();
  EXPECT_TRUE(own->function.captures.empty());
}

TEST(NestedNames, what_is_not_known_is_refused) {
  EXPECT_EQ(refusal("outer.inner"),
            "6:1: 'width' is a parameter of 'outer', and has no value [mod.unsupported]\n"
            "  try: give it one, as in outer(width=...), or declare it in the problem file");
  EXPECT_EQ(refusal("outer(8).doubtful"),
            "12:8: whether this 'if' gives 'DOUBT' another value is not known [mod.unsupported]\n"
            "  try: give 'DOUBT' a value under [constants] or [tensors] in the problem file");
  EXPECT_NE(refusal("outer(8).needs_x").find("8:14: torch.randn is not supported"), std::string::npos);
  EXPECT_EQ(refusal("changing(3).mod"),
            "35:1: 'W' is assigned again below 'mod', and which value counts is not known [mod.unsupported]\n"
            "  try: give 'W' a value under [constants] or [tensors] in the problem file");
  EXPECT_NE(refusal("Attention.method.of_self").find("'self' is a parameter of 'method'"), std::string::npos);
  EXPECT_EQ(refusal("outer(8).nothing"),
            "6:1: 'outer' defines no 'nothing' [mod.unknown_name]\n  try: name a function inside of it");
  EXPECT_EQ(refusal("outer(8).iner"), "6:1: 'outer' defines no 'iner' [mod.unknown_name]\n  try: 'inner'?");
  EXPECT_NE(refusal("outer(1, 2, 3).inner").find("outer takes 2 arguments, but gets 3"), std::string::npos);
  EXPECT_NE(refusal("outer(other=2).inner").find("outer has no parameter 'other'"), std::string::npos);
  EXPECT_NE(refusal("outer(1, width=2).inner").find("outer gets 'width' twice"), std::string::npos);
  EXPECT_NE(refusal("outer([1, 2]).inner").find("write a tuple"), std::string::npos);
  EXPECT_NE(refusal("Attention(3).mask").find("a class is not made"), std::string::npos);
}

}  // namespace
}  // namespace kw
