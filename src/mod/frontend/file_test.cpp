#include "mod/frontend/file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "mod/analysis/analysis.hpp"
#include "mod/expression/text.hpp"

namespace kw {
namespace {

ModScope scope() {
  return {{{"W", std::int64_t{5}}},
          {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"},
          {{"document_id", DType::i32, {"Skv"}, true, 0, 100}}};
}
const Axes k_axes = {{"B", 2}, {"Hq", 4}, {"Hkv", 2}, {"Sq", 40}, {"Skv", 50}, {"D", 64}, {"Dv", 64}};
const ModPoint k_point{1.5, 1, 2, 7, 10};  // score, b, h, q, k

const std::string k_file = R"(#!/usr/bin/env python3
"""Masks.  def causal(b, h, q, k): return 'not this one'
"""
from __future__ import annotations
import math, os as operating_system
from typing import (
    Callable,  # a comment with ( in it
    Optional,
)
import torch
from torch.nn.attention.flex_attention import (and_masks, or_masks, create_block_mask)
from functools import partial

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
config = {"window": [1, 2,
3], "name": 'it\'s "fine"'}
SMALL, (LARGE, *_) = 2, (64, 3)
LIMIT: int = SMALL * LARGE; HALF = LIMIT // 2
COUNT = 1
COUNT = COUNT + 1
COUNT += 5
document_id = make_document_ids(device)
a.b = c[0] = 3

class Model(torch.nn.Module):
    """A class."""

    def forward(self, x):
        async with x as y:
            yield {"a": lambda: y}

    causal = None

@torch.compile(fullgraph=True)
@torch.no_grad()
# between decorators
def causal(
    b, h, q_idx: torch.Tensor, kv_idx,
):
    # outside of the margin
# at the margin
    """Docs with 'quotes' and "more"."""
    return q_idx >= kv_idx

def document(b, h, q_idx, kv_idx):
    return document_id[q_idx] == document_id[kv_idx]

def generate_sliding_window(window_size: int, slack: float = 0):
    """Makes a mask."""
    if window_size < 0:
        raise ValueError(f"bad {window_size}")
    def sliding_window(b, h, q_idx, kv_idx):
        return (q_idx - kv_idx <= window_size + slack) & causal(b, h, q_idx, kv_idx)
    sliding_window.__name__ = f"window_{window_size}"
    return sliding_window

def softcap(score, b, h, q_idx, kv_idx, cap=30.0):
    return cap * torch.tanh(score / cap)

def twice(b, h, q, k):
    return q > k

def twice(b, h, q, k):
    return q < k + later

later = COUNT
bad_value = 1 / 0
def broken(b, h, q, k):
    return q >
try:
    import fast_attention
except ImportError:
    fast_attention = None
with torch.no_grad():
    inside = 3
if __name__ == "__main__":
    print(create_block_mask(causal, 1, 1, 8, 8))
    def hidden(b, h, q, k): return q > k
)";

FileMod parse(const std::string& wanted, const std::string& text = k_file) {
  auto mod = parse_mod_file(text, wanted, scope());
  EXPECT_TRUE(mod.has_value()) << wanted << "\n" << (mod ? "" : mod.error().to_string());
  return mod ? *std::move(mod) : FileMod{};
}
double run(const std::string& wanted) {
  const auto mod = parse(wanted);
  return mod.function.root < 0 ? NAN : evaluate(mod.function, k_axes, k_point);
}
std::string error_of(const std::string& wanted, const std::string& text = k_file) {
  const auto mod = parse_mod_file(text, wanted, scope());
  return mod ? "no error" : mod.error().to_string();
}

TEST(ModFile, takes_a_function_by_name) {
  const auto mod = parse("causal");
  EXPECT_EQ(mod.role, ModRole::mask_mod);
  EXPECT_EQ(mod.function.name, "causal");
  EXPECT_EQ(evaluate(mod.function, k_axes, k_point), 0.0);
  EXPECT_EQ(mod.function.nodes[static_cast<std::size_t>(mod.function.root)].where.line, 44);
}

TEST(ModFile, takes_an_expression_that_makes_the_mod) {
  EXPECT_EQ(parse("generate_sliding_window(256)").function.name, "sliding_window");
  EXPECT_EQ(run("generate_sliding_window(256)"), 0.0);
  EXPECT_EQ(run("or_masks(causal, lambda b, h, q, k: k - q < LIMIT)"), 1.0);
  EXPECT_EQ(run("and_masks(twice, noop_mask)"), 1.0);
  EXPECT_EQ(run("lambda b, h, q, k: (q < k).to(device)"), 1.0);
  EXPECT_EQ(run("lambda score, b, h, q, k: score + HALF + COUNT + LARGE"), 1.5 + 64 + 7 + 64);
}

TEST(ModFile, tells_the_role_by_the_parameters) {
  EXPECT_EQ(parse("softcap").role, ModRole::score_mod) << "a default value does not count";
  EXPECT_EQ(parse("partial(softcap, cap=2.0)").role, ModRole::score_mod);
  EXPECT_DOUBLE_EQ(run("partial(softcap, cap=2.0)"), 2 * std::tanh(0.75));
  EXPECT_EQ(parse("noop_mask").role, ModRole::mask_mod);
}

TEST(ModFile, lets_the_problem_supply_what_the_file_would_compute) {
  const auto mod = parse("document");
  ASSERT_EQ(mod.function.captures.size(), 1U);
  EXPECT_EQ(mod.function.captures[0].name, "document_id");
  EXPECT_EQ(
      parse_mod_file("W = 9\ndef f(b, h, q, k):\n    return q - k < W - 8\n", "f", scope())->function.nodes.size(),
      parse_mod("def f(b, h, q, k):\n    return q - k < 5 - 8\n", ModRole::mask_mod, scope())->nodes.size());
}

TEST(ModFile, takes_the_last_definition) {
  EXPECT_EQ(run("twice"), 1.0);
  EXPECT_EQ(run("lambda score, b, h, q, k: score * 0 + COUNT"), 7.0);
}

TEST(ModFile, keeps_only_the_text_that_was_reached) {
  const auto source = parse("generate_sliding_window(8)").function.source;
  EXPECT_EQ(source.find("class"), std::string::npos);
  EXPECT_EQ(source.find("softcap"), std::string::npos);
  EXPECT_NE(source.find("def causal"), std::string::npos);
  EXPECT_TRUE(source.ends_with("generate_sliding_window(8)\n")) << source;
  for (const std::string wanted : {"generate_sliding_window(8)", "or_masks(causal, twice)", "document"}) {
    const auto once = parse(wanted);
    const auto again = parse_mod(once.function.source, ModRole::mask_mod, scope());
    ASSERT_TRUE(again.has_value()) << once.function.source << again.error().to_string();
    EXPECT_EQ(again->nodes.size(), once.function.nodes.size()) << once.function.source;
    EXPECT_EQ(to_python(*again, again->root, 100000), to_python(once.function, once.function.root, 100000));
  }
}

TEST(ModFile, says_what_the_file_lacks) {
  EXPECT_EQ(error_of("causa"), "the file defines no 'causa' [mod.unknown_name]\n  try: 'causal'?");
  EXPECT_EQ(error_of("sliding_window"),
            "the file defines no 'sliding_window' [mod.unknown_name]\n"
            "  try: name a function of the file, or one inside of another, as in outer(args).inner");
  EXPECT_EQ(error_of("Model"),
            "26:1: the mod needs 'Model', which is a class or a coroutine [mod.unsupported]\n"
            "  try: only functions, imports and assigned values are read from a file");
}

TEST(ModFile, points_errors_at_the_lines_of_the_file) {
  EXPECT_EQ(error_of("broken").substr(0, 57), "70:15: expected a value, but found the end of the line [m");
  EXPECT_EQ(error_of("lambda b, h, q, k: q > bad_value"),
            "68:15: division by zero [mod.type]\n"
            "  try: declare it under [tensors.bad_value] in the problem file");
  EXPECT_EQ(error_of("generate_sliding_window(-1)"),
            "52:9: this 'raise' is reached [mod.unsupported]\n  try: call the function with values that it accepts");
  EXPECT_EQ(error_of("generate_sliding_window()"),
            "49:1: generate_sliding_window lacks its argument 'window_size' [mod.type]");
  EXPECT_EQ(error_of("joined",
                     "import torch\ndef f(b, h, q, k):\n    return 0.5\n"
                     "joined = torch.nn.attention.flex_attention.or_masks(f, f)\n"),
            "4:1: '|' does not apply to floats [mod.type]\n"
            "  try: compare first, with each comparison in parentheses: (a < b) & (c < d)");
  EXPECT_EQ(error_of("f.inner", "def f(w):\n    return w\n").substr(0, 27), "1:1: 'f' defines no 'inner'");
  EXPECT_EQ(error_of("generate_sliding_window(nothing)").substr(0, 48),
            "the mod's name:1:25: 'nothing' is not defined [m");
  EXPECT_EQ(error_of("lambda b, h, q, k: q > config"),
            "16:10: dictionaries and sets are not supported [mod.unsupported]\n"
            "  try: use plain names, or a tuple; or declare it under [tensors.config] in the problem file");
  EXPECT_EQ(error_of("f", "def f(b, h, q, k):\n    return ids[q] > k\nraw = torch.randint(9)\nids = raw // 2\n"),
            "3:12: torch.randint is not supported: every run of a kernel must give the same result [mod.unsupported]\n"
            "  try: leave dropout out of the mod; or declare it under [tensors.ids] in the problem file");
}

TEST(ModFile, refuses_what_is_no_mod) {
  EXPECT_EQ(error_of("generate_sliding_window"),
            "49:5: a mask_mod takes 4 parameters and a score_mod 5, but generate_sliding_window takes 1 "
            "[mod.signature]\n  try: if generate_sliding_window makes the mod, call it, as in "
            "generate_sliding_window(256)");
  EXPECT_EQ(error_of("COUNT"),
            "22:1: a mod is a function of yours, but this is an integer [mod.signature]\n"
            "  try: name a def or a lambda, or call the function that makes the mod");
  EXPECT_EQ(error_of("x = 3"),
            "the mod's name:1:1: this is neither the name of a function nor an expression that makes one "
            "[mod.syntax]\n  try: write a name, or a call such as generate_sliding_window(256)");
  EXPECT_EQ(error_of(""), error_of("x = 3"));
  EXPECT_EQ(error_of("causal("), "the mod's name:1:7: '(' is never closed [mod.syntax]");
}

TEST(ModFile, does_not_take_the_mod_itself_for_a_tensor) {
  EXPECT_EQ(error_of("m", "import torch\nm = torch.randint(3)\n"),
            "2:10: torch.randint is not supported: every run of a kernel must give the same result [mod.unsupported]\n"
            "  try: leave dropout out of the mod");
}

TEST(ModFile, says_what_hides_the_rest_of_the_file) {
  const std::string mod = "def f(b, h, q, k):\n    return q > k\n";
  EXPECT_EQ(error_of("f", "x = 1\nname = \"\"\"abc\n" + mod),
            "2:8: this string is never closed [mod.syntax]\n  try: close it: nothing below it was read");
  EXPECT_EQ(error_of("f", "'\xC3\xA9\\''; x = [1, (2]\n" + mod),
            "1:12: '[' is never closed [mod.syntax]\n  try: close it: nothing below it was read");
  EXPECT_EQ(error_of("f(3)", "x = {  # }\n" + mod).substr(0, 25), "1:5: '{' is never closed ");
  EXPECT_EQ(error_of("f", "x = 'abc\n" + mod), "no error") << "such a string ends with its line";
  EXPECT_EQ(error_of("f", "def f(b, h, q, k):\n    return q > \"k\n"),
            "2:16: this string is never closed [mod.syntax]");
}

TEST(ModFile, reads_what_editors_write) {
  const std::string mod = "def f(b, h, q, k):\n    return q >= k\n";
  EXPECT_EQ(error_of("f", "\xEF\xBB\xBF" + mod), "no error");
  EXPECT_EQ(error_of("f", "x = 3\n\f" + mod + "\f\n\fy = 4\n"), "no error") << "a form feed parts pages";
  EXPECT_EQ(error_of("f", "\f"),
            "the file defines no 'f' [mod.unknown_name]\n"
            "  try: name a function of the file, or one inside of another, as in outer(args).inner");
  EXPECT_EQ(error_of("f", "x = 3\rdef f(b, h, q, k):\r    y = q\r    return y >= k\r"), "no error");
  EXPECT_EQ(error_of("f", "x = 3\r\ndef f(b, h, q, k):\r\n    y = q\r\n    return y >= k\r\n"), "no error");
  const std::string refused = "1:1: the file is not UTF-8 text [mod.syntax]\n  try: save it as UTF-8";
  EXPECT_EQ(error_of("f", "\xFF\xFE" + mod), refused);
  EXPECT_EQ(error_of("f", "\xFE\xFF" + mod), refused);
  EXPECT_EQ(error_of("f", mod + std::string(1, '\0')), refused);
}

TEST(ModFile, holds_its_limits) {
  EXPECT_EQ(error_of("f", std::string((1 << 20) + 1, '\n')),
            "1:1: a file with mods has at most 1048576 bytes [mod.limit]");
  EXPECT_EQ(error_of(std::string(1025, 'f')),
            "the mod's name:1:1: the name of a mod has at most 1024 bytes [mod.limit]");
  const std::string large = "x = (" + std::string(70'000, ' ') + "1)\ndef f(b, h, q, k):\n    return q > x\n";
  EXPECT_EQ(error_of("f", large), "1:1: the mod reaches more than 65536 bytes of the file [mod.limit]");
  std::string chain = "x0 = 1\n";
  for (int i = 1; i < 2000; ++i) chain += fmt::format("x{} = x{} + 1\n", i, i - 1);
  EXPECT_NE(error_of("lambda b, h, q, k: q > x1999", chain).find("[mod.limit]"), std::string::npos);
  EXPECT_NE(error_of("x", "x = x\n").find("'x' is not defined"), std::string::npos);
}

TEST(ModFile, survives_text_that_is_not_python) {
  const std::string byte_order_mark = "\xEF\xBB\xBF";
  for (const std::string& text : std::vector<std::string>{
           "(((((\ndef f(b, h, q, k):\n    return q > k\n", "'''\n", "\"abc\n\\", "\\", "@\n@\n", "def\n", "def (:\n",
           "= = =\n", byte_order_mark + "def g(b, h, q, k):\n  return q > k\n", "  indented\nimport\nfrom x import (\n",
           "x = 99999999999999999999\n"}) {
    EXPECT_NE(error_of("f", text), "no error") << text;
  }
  EXPECT_EQ(error_of("g",
                     "\xEF\xBB\xBF"
                     "def g(b, h, q, k):\r\n  return q > k\r\n"),
            "no error");
}

}  // namespace
}  // namespace kw
