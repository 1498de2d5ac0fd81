// What of Python runs at trace time: loops, containers, functions and the functions of functions. Each test compares
// with what Python computes.

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "mod/analysis/analysis.hpp"
#include "mod/expression/text.hpp"
#include "mod/frontend/call_table.hpp"
#include "mod/frontend/parser.hpp"

namespace kw {
namespace {

const ModScope k_scope{{{"W", std::int64_t{5}}, {"SLOPE", 0.25}}, {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"}, {}};
const Axes k_axes = {{"B", 2}, {"Hq", 4}, {"Hkv", 2}, {"Sq", 40}, {"Skv", 50}, {"D", 64}, {"Dv", 64}};
const ModPoint k_point{1.5, 1, 2, 7, 10};  // score, b, h, q, k

double run(const std::string& text, ModRole role = ModRole::score_mod) {
  const auto mod = parse_mod(text, role, k_scope);
  EXPECT_TRUE(mod.has_value()) << text << "\n" << (mod ? "" : mod.error().to_string());
  return mod ? evaluate(*mod, k_axes, k_point) : NAN;
}
/// A score_mod whose body is one expression.
double expression(const std::string& body) {
  return run("lambda score, b, h, q, k: " + body);
}
/// The value of a Python expression that needs no kernel.
double constant(const std::string& body) {
  return expression("score * 0 + (" + body + ")");
}
bool condition(const std::string& body) {
  return run("lambda b, h, q, k: " + body, ModRole::mask_mod) != 0.0;
}
/// A score_mod of several lines; the last returns.
double body(const std::string& lines) {
  std::string text = "def mod(s, b, h, q, k):\n";
  std::size_t at = 0;
  while (at < lines.size()) {
    const auto end = lines.find('\n', at);
    text += "    " + lines.substr(at, end - at) + "\n";
    at = end == std::string::npos ? lines.size() : end + 1;
  }
  return run(text);
}

TEST(ModLoops, are_written_out) {
  EXPECT_EQ(body("for i in range(4):\n    s = s + i * q\nreturn s"), 1.5 + 6 * 7);
  EXPECT_EQ(body("for i, (a, c) in enumerate(zip((q, k), [10, 20])):\n    s += a * c + i\nreturn s"),
            1.5 + 70 + 200 + 1);
  EXPECT_EQ(body("for i in range(10):\n    if i == 3:\n        return s + i\nreturn s"), 4.5);
  EXPECT_EQ(body("for i in ():\n    s = q\nreturn s"), 1.5);
  EXPECT_EQ(body("for i in reversed(range(1, 8, 3)):\n    s = s * 2 + i\nreturn s - 12"), 1.5 * 8 + 28 + 8 + 1 - 12);
  EXPECT_EQ(body("for i in range(3): s += i\nreturn s + i"), 1.5 + 3 + 2) << "the name outlives its loop";
}

TEST(ModLists, grow_and_change) {
  EXPECT_EQ(body("xs = []\nfor i in range(3):\n    xs.append(q * i)\nreturn s + sum(xs)"), 1.5 + 21);
  EXPECT_EQ(body("xs = [1, 2, 3]\nxs[1] = q\nxs[-1] += 4\nreturn s + xs[0] + xs[1] + xs[2]"), 1.5 + 1 + 7 + 7);
  EXPECT_EQ(body("xs = [1]\nxs.extend((2, q))\nxs.insert(0, 30)\nxs.insert(9, 40)\nreturn s + len(xs) + xs[0] + xs[4]"),
            1.5 + 5 + 30 + 40);
  EXPECT_EQ(body("xs = [1, 2, 3]\ny = xs.pop()\nz = xs.pop(0)\nreturn s + y * 10 + z + len(xs)"), 1.5 + 30 + 1 + 1);
  EXPECT_EQ(body("xs = []\nxs.append((q, k))\n(a, c), = xs\nreturn s + a * 100 + c"), 1.5 + 710);
}

TEST(ModLists, are_shared_by_their_names) {
  EXPECT_EQ(body("a = [1]\nb = a\nb.append(2)\nreturn s + len(a)"), 3.5);
  EXPECT_EQ(body("a = [1]\nb = a\nb += (2, 3)\nreturn s + len(a)"), 4.5) << "+= lets a list grow where it is";
  EXPECT_EQ(body("a = [1]\nb = a\nb = b + [2]\nreturn s + len(a)"), 2.5);
  EXPECT_EQ(body("a = [1]\nb = a.copy()\nc = list(a)\nd = a[:]\na.append(2)\nreturn s + len(b) + len(c) + len(d)"),
            4.5);
  EXPECT_EQ(body("def add(to, x):\n    to.append(x)\nxs = []\nadd(xs, q)\nadd(xs, k)\nreturn s + sum(xs)"), 1.5 + 17);
  EXPECT_EQ(body("def f(x, seen=[]):\n    seen.append(x)\n    return len(seen)\nf(1)\nreturn s + f(2)"), 3.5);
  EXPECT_EQ(body("rows = [[0, 0] for i in range(2)]\nrows[1][0] = q\nreturn s + rows[1][0] + rows[0][0]"), 8.5);
  EXPECT_EQ(body("a = (1, 2)\nb = a\nb += (3,)\nreturn s + len(a)"), 3.5);
}

TEST(ModLists, may_change_while_they_are_taken_apart) {
  EXPECT_EQ(
      body("xs = [1, 2, 3]\ny = [0]\ny[len([xs.pop(), xs.pop(), xs.pop()]) - 3], a, c = xs\nreturn s + y[0] + a + c"),
      7.5);
  EXPECT_EQ(body("xs = [1, 2]\nxs[xs.pop() - 2] = 30\nreturn s + xs[0] + len(xs)"), 32.5);
  EXPECT_EQ(body("xs = [1, 2]\nxs.extend(xs)\nxs += xs\nreturn s + len(xs)"), 9.5);
}

TEST(ModLists, are_seen_by_the_loop_that_runs_over_them) {
  EXPECT_EQ(body("xs = [1, 2]\nfor x in xs:\n    if len(xs) < 6:\n        xs.append(x + 2)\nreturn s + sum(xs)"),
            1.5 + 1 + 2 + 3 + 4 + 5 + 6);
  EXPECT_EQ(body("xs = [1, 2, 3]\nfor i in range(2):\n    xs[i + 1] = xs[i] * 10\nreturn s + xs[2]"), 101.5);
}

TEST(ModLoops, bind_late_like_python) {
  EXPECT_EQ(body("fs = [lambda x: x + i for i in range(3)]\nreturn s + fs[0](0) + fs[1](0)"), 1.5 + 2 + 2);
  EXPECT_EQ(body("fs = [lambda x, i=i: x + i for i in range(3)]\nreturn s + fs[0](0) * 10 + fs[1](0)"), 1.5 + 1);
}

TEST(ModComprehensions, nest_and_filter) {
  EXPECT_EQ(constant("sum([i * j for i in range(4) for j in range(i) if j % 2 == 1 if i > 1])"), 2 + 3);
  EXPECT_EQ(constant("sum(x for x, _ in ((1, 2), (3, 4)))"), 4.0);
  EXPECT_EQ(constant("len([x for x in range(10) if x not in (2, 3)])"), 8.0);
  EXPECT_EQ(constant("sum(tuple(a - b for a, b in zip((5, 6), [1, 2, 3])))"), 8.0);
  EXPECT_EQ(body("i = 7\nt = [i for i in range(3)]\nreturn s + i"), 8.5) << "its names are its own";
  EXPECT_TRUE(condition("all(i < 3 for i in range(3)) and not any(i > 3 for i in range(3))"));
}

TEST(ModContainers, nest_spread_and_slice) {
  EXPECT_EQ(constant("((1, (2, 3)), 4)[0][1][1]"), 3.0);
  EXPECT_EQ(constant("[1, 2, 3][-1] * 100 + (1, 2, 3, 4)[1:3][0] * 10 + len([1, 2, 3][:-1])"), 300 + 20 + 2);
  EXPECT_EQ(constant("len((1, 2) + (3,)) + len([0] * 4) + len((*range(3), 9)) + len([1, 2, 3][-9:9])"), 14.0);
  EXPECT_EQ(constant("(1 if (1, [2]) == (1, [2]) else 0) + (10 if (1, 2) != [1, 2] else 0)"), 11.0);
  EXPECT_EQ(body("first, *rest, last = [1, 2, 3, 4]\nreturn s + first * 100 + len(rest) * 10 + last"), 1.5 + 124);
  EXPECT_EQ(body("(x, [y, z]), w = (q, (k, 1)), 2\nreturn s + x * 1000 + y * 100 + z * 10 + w"), 1.5 + 8012);
  EXPECT_EQ(body("x = y = q + 1\nreturn s + x + y"), 17.5);
  EXPECT_EQ(body("x = [1]\nx += [2]\nreturn s + len(x)"), 3.5);
  EXPECT_EQ(body("x: int\ny: 'tuple[int, ...]' = (1, 2)\nreturn s + len(y)"), 3.5);
}

TEST(ModChoices, compare_what_python_knows) {
  EXPECT_TRUE(condition("(q > 0) if 'causal' == 'causal' else (q < 0)"));
  EXPECT_TRUE(condition("(q > 0) if 3 in (1, 2, 3) and 4 not in [1] else (q < 0)"));
  EXPECT_TRUE(condition("(q > 0) if (None in (None,)) and True is True else (q < 0)"));
  EXPECT_TRUE(condition("(q > 0) if [0] and not () else (q < 0)"));
  EXPECT_TRUE(condition("(q > 0) if torch.float32 == torch.float32 and None != 3 else (q < 0)"));
}

TEST(ModFunctions, take_defaults_keywords_and_stars) {
  EXPECT_EQ(
      body("def f(a, c=10, *, d=100):\n    return a + c + d\nreturn s + f(1) + f(1, 2) + f(1, d=3) + f(c=1, a=2)"),
      1.5 + 111 + 103 + 14 + 103);
  EXPECT_EQ(body("def f(a, *rest, last=5):\n    return a + sum(rest) * 10 + last\nxs = (2, 3)\nreturn s + f(1, *xs) + "
                 "f(*xs, last=0)"),
            1.5 + 56 + 32);
  EXPECT_EQ(body("def f(a, /, b):\n    return a - b\nreturn s + f(*[5], b=2)"), 4.5);
  EXPECT_EQ(run("SCALE = 3\ndef mod(s, b, h, q, k, scale=SCALE, *, shift=0.5):\n    return s * scale + shift"), 5.0);
  EXPECT_EQ(body("n = 1\ndef f(x=n):\n    return x\nn = 2\nreturn s + f()"), 2.5) << "defaults are of the definition";
}

TEST(ModFunctions, apply_partially) {
  const std::string cap =
      "from functools import partial\nimport functools\n"
      "def soft(cap, score, b, h, q, k):\n    return cap * torch.tanh(score / cap)\n"
      "def named(score, b, h, q, k, cap):\n    return cap * torch.tanh(score / cap)\n";
  EXPECT_DOUBLE_EQ(run(cap + "mod = partial(soft, 30.0)\n"), 30 * std::tanh(1.5 / 30));
  EXPECT_DOUBLE_EQ(run(cap + "functools.partial(named, cap=20.0)\n"), 20 * std::tanh(1.5 / 20));
  EXPECT_DOUBLE_EQ(run(cap + "mod = partial(partial(named, cap=20.0), cap=10.0)\n"), 10 * std::tanh(1.5 / 10));
  EXPECT_EQ(body("import functools\nadd = functools.partial(lambda a, c, d=0: a * 100 + c * 10 + d, 1, d=3)\n"
                 "return s + add(2) + add(2, d=4)"),
            1.5 + 123 + 124);
}

TEST(ModFunctions, reduce_map_and_sort) {
  EXPECT_TRUE(
      run("from functools import reduce\nimport operator as op\n"
          "def mod(b, h, q, k):\n    return reduce(op.and_, [q < k, h == 2, b > 0])",
          ModRole::mask_mod));
  EXPECT_EQ(constant("functools.reduce(lambda a, c: a * 10 + c, (1, 2, 3), 9)"), 9123.0);
  EXPECT_EQ(constant("sum(map(lambda a, c: a * c, (1, 2), (3, 4)))"), 11.0);
  EXPECT_EQ(constant("sorted([3, 1, 2])[0] + sorted((3, 1, 2), reverse=True)[0] * 10"), 31.0);
  EXPECT_EQ(constant("operator.floordiv(-7, 2) + operator.neg(3) + operator.lshift(1, 4)"), -4.0 - 3 + 16);
  EXPECT_EQ(constant("max([3, 9, 4]) + min((3, 2)) + list(range(5))[2] + tuple([1, 7])[1]"), 9.0 + 2 + 2 + 7);
  EXPECT_EQ(expression("sum([score, q, k]) + sum((q, k), 100)"), 1.5 + 17 + 117);
}

TEST(ModFunctions, compute_with_python_numbers) {
  EXPECT_EQ(constant("math.gcd(12, 18, 8) + math.prod((2, 3, 4)) + math.isqrt(99)"), 2.0 + 24 + 9);
  EXPECT_EQ(constant("math.log(8, 2) + round(2.5) + round(3.5)"), 3.0 + 2 + 4);
  EXPECT_EQ(constant("sum(enumerate((5, 6), 3)[1])"), 10.0);
  EXPECT_TRUE(condition("(q > 0) if callable(abs) and callable(lambda: 1) and not callable(3) else (q < 0)"));
}

TEST(ModChecks, are_harmless_where_they_do_not_run) {
  EXPECT_EQ(run("def make(w):\n    if w < 0:\n        raise ValueError(f\"bad {w}\") from None\n    assert w > 0, 'w'\n"
                "    def mod(s, b, h, q, k):\n        return s + w\n    mod.__name__ = f\"mod_{w}\"\n    return mod\n"
                "make(3)"),
            4.5);
}

TEST(ModTorch, makes_single_values) {
  EXPECT_TRUE(condition("q.new_ones((), dtype=torch.bool) & ~q.new_zeros((), dtype=torch.bool)"));
  EXPECT_EQ(expression("score.new_full((), 2) + torch.tensor(3) + torch.tensor(0.5, dtype=torch.float32)"), 5.5);
  EXPECT_EQ(expression("torch.zeros_like(score) + torch.ones_like(q) + torch.full_like(k, 2.75)"), 3.0);
  EXPECT_EQ(expression("score.to(q.device) + q.to('cuda', torch.float32).type_as(k)"), 8.5);
  EXPECT_EQ(expression("torch.where(q > k, score, torch.finfo(torch.float32).min)"),
            -static_cast<double>(3.4028234663852886e38F));
  EXPECT_EQ(expression("torch.finfo(torch.float16).min + 0 * score"), -65504.0);
  EXPECT_EQ(expression("torch.finfo(torch.half).max + 0 * score"), 65504.0);
  EXPECT_EQ(expression("torch.finfo(torch.bfloat16).min + 0 * score"), -3.3895313892515355e38);
  EXPECT_EQ(expression("torch.finfo(score.dtype).eps + 0 * score"), std::ldexp(1.0, -23));
}

TEST(ModTorch, knows_activations) {
  const auto erf_gelu = 0.5 * 1.5 * (1 + std::erf(1.5 / std::sqrt(2.0)));
  EXPECT_DOUBLE_EQ(expression("torch.nn.functional.gelu(score)"), erf_gelu);
  EXPECT_NEAR(expression("F.gelu(score, approximate='tanh')"), erf_gelu, 1e-3);
  EXPECT_DOUBLE_EQ(expression("F.leaky_relu(-score, 0.5) + F.leaky_relu(score)"), -0.75 + 1.5);
  EXPECT_DOUBLE_EQ(expression("F.elu(-score, alpha=2.0)"), 2 * (std::exp(-1.5) - 1));
  EXPECT_DOUBLE_EQ(expression("F.softplus(score)"), std::log(1 + std::exp(1.5)));
  EXPECT_DOUBLE_EQ(expression("F.softplus(score * 20, beta=2)"), 30.0);
  EXPECT_DOUBLE_EQ(expression("F.hardtanh(score) + F.relu6(score * 5) + F.hardsigmoid(-score)"), 1 + 6 + 0.25);
  EXPECT_DOUBLE_EQ(expression("F.softsign(score) + torch.erf(score)"), 0.6 + std::erf(1.5));
  EXPECT_DOUBLE_EQ(expression("torch.ops.approx.tanh(score)"), std::tanh(1.5));
  EXPECT_DOUBLE_EQ(expression("torch.sign(-score) + torch.sign(q) * 10 + torch.trunc(-score) * 100"), -1 + 10 - 100);
  EXPECT_DOUBLE_EQ(expression("torch.log1p(score) + torch.expm1(score) + torch.reciprocal(q)"),
                   std::log(2.5) + std::exp(1.5) - 1 + 1.0 / 7);
  EXPECT_TRUE(condition("~torch.isinf(q) & torch.isfinite(q)"));
  EXPECT_EQ(expression("torch.where(torch.isinf(score * math.inf), 1.0, 0.0)"), 1.0);
}

TEST(ModMasks, join_functions) {
  const std::string masks =
      "from torch.nn.attention.flex_attention import and_masks as both, or_masks\n"
      "from torch.nn.attention import flex_attention as fa\n"
      "causal = lambda b, h, q, k: q >= k\ndef near(b, h, q, k):\n    return abs(q - k) <= 3\n";
  EXPECT_EQ(run(masks + "both(causal, near)", ModRole::mask_mod), 0.0);
  EXPECT_EQ(run(masks + "mod = or_masks(causal, near, fa.noop_mask)", ModRole::mask_mod), 1.0);
  EXPECT_EQ(run(masks + "mod = fa.or_masks(causal, both(near, near))", ModRole::mask_mod), 1.0);
  EXPECT_EQ(run(masks + "mod = fa.noop_mask", ModRole::mask_mod), 1.0);
  EXPECT_EQ(run(masks + "both()", ModRole::mask_mod), 1.0);
  EXPECT_EQ(run(masks + "or_masks()", ModRole::mask_mod), 0.0);
}

TEST(ModRefusedCalls, say_why_and_what_to_do_instead) {
  for (const auto& refused : refused_calls()) {
    const std::string path(refused.path);
    const auto mod = parse_mod("lambda score, b, h, q, k: " + path + "(score)", ModRole::score_mod, k_scope);
    ASSERT_FALSE(mod.has_value()) << path;
    EXPECT_EQ(mod.error().code.name, errc::mod_unsupported.name);
    EXPECT_EQ(mod.error().message, fmt::format("{} is not supported: {}", path, refused.why));
    EXPECT_EQ(mod.error().hint, refused.hint);
  }
}

TEST(ModRefusedCalls, are_not_among_those_that_work) {
  for (const auto& row : call_table()) EXPECT_EQ(refused_call(row.path), nullptr) << row.path;
}

TEST(ModCallTable, has_one_row_for_each_function) {
  std::set<std::string_view> paths;
  for (const auto& row : call_table()) EXPECT_TRUE(paths.insert(row.path).second) << row.path;
}

TEST(ModLimits, hold_against_values_that_grow) {
  const auto code = [](const std::string& lines) {
    const auto mod = parse_mod("def mod(b, h, q, k):\n" + lines + "    return q > k\n", ModRole::mask_mod, k_scope);
    return mod ? std::string("no error") : std::string(mod.error().code.name);
  };
  EXPECT_EQ(code("    t = (1, 2)\n    for i in range(60):\n        t = t + t\n"), "mod.limit");
  EXPECT_EQ(code("    t = 0\n    for i in range(9000):\n        t = (t,)\n"), "mod.limit");
  EXPECT_EQ(code("    t = 0\n    for i in range(9000):\n        t = lambda x=t: x\n"), "mod.limit");
  EXPECT_EQ(code("    t = noop_mask\n    for i in range(9000):\n        t = and_masks(t, t)\n"), "mod.limit");
  EXPECT_EQ(code("    t = noop_mask\n    for i in range(9000):\n        t = functools.partial(t, 1)\n"), "mod.limit");
  EXPECT_EQ(code("    t = (1,)\n    for i in range(90):\n        t = (t, t)\n    x = t == (t[0], t[1])\n"),
            "mod.limit");
  EXPECT_EQ(code("    t = range(10 ** 9)\n"), "mod.limit");
  EXPECT_EQ(code("    t = [0] * 10 ** 9\n"), "mod.limit");
  EXPECT_EQ(code("    t = [range(9000) for i in range(9000)]\n"), "mod.limit");
  EXPECT_EQ(code("    for i in range(9000):\n        for j in range(9000):\n            pass\n"), "mod.limit");
  EXPECT_EQ(code("    for i in range(9000):\n        for j in ():\n            pass\n"), "no error");
}

TEST(ModRounding, takes_halves_to_the_even_neighbour) {
  // 1.5 is the score
  EXPECT_EQ(expression("torch.round(score)"), 2.0);
  EXPECT_EQ(expression("(score + 1.0).round()"), 2.0);
  EXPECT_EQ(expression("torch.round(-score - 1.0)"), -2.0);
  EXPECT_EQ(expression("torch.round(score * 0.1234 + 0.1, decimals=2)"), 0.29);
  EXPECT_EQ(expression("torch.round(score * 100, decimals=-2)"), 200.0);
  EXPECT_EQ(expression("score + torch.round(q)"), 8.5);
  EXPECT_EQ(constant("round(Hq / 8) + round(Hq * 3 / 8)"), 0.0 + 2.0);
}

TEST(ModRounding, divides_as_asked) {
  EXPECT_EQ(expression("score * 0 + torch.div(-q, 2)"), -3.5);
  EXPECT_EQ(expression("score * 0 + torch.div(-q, 2, rounding_mode='floor')"), -4.0);
  EXPECT_EQ(expression("score * 0 + torch.div(-q, 2, rounding_mode=\"trunc\")"), -3.0);
  EXPECT_EQ(expression("score * 0 + torch.div(q, -2, rounding_mode='trunc')"), -3.0);
  EXPECT_EQ(expression("score * 0 + torch.div(-k, -5, rounding_mode='trunc')"), 2.0);
  EXPECT_EQ(expression("torch.div(-score, 1.0, rounding_mode='trunc')"), -1.0);
  EXPECT_EQ(expression("torch.div(-score, 1.0, rounding_mode='floor')"), -2.0);
}

TEST(ModRounding, keeps_the_sign_of_the_dividend_in_fmod) {
  for (const int divisor : {3, -3, 2, -2, 8, -8, 1, 7, -7}) {
    for (const int sign : {1, -1}) {
      const auto text = fmt::format("score * 0 + torch.fmod({} * q, {})", sign, divisor);
      EXPECT_EQ(expression(text), std::fmod(sign * 7, divisor)) << text;
    }
  }
  EXPECT_EQ(expression("torch.fmod(-score, 1.0)"), -0.5);
  EXPECT_EQ(expression("score.fmod(-0.4)"), std::fmod(1.5, -0.4));
  EXPECT_EQ(constant("math.fmod(-7, 3)"), -1.0);
}

TEST(ModFunctions, know_sines) {
  EXPECT_EQ(expression("score.cos() + torch.sin(score)"), std::cos(1.5) + std::sin(1.5));
  EXPECT_EQ(expression("torch.tan(score)"), std::sin(1.5) / std::cos(1.5));
  EXPECT_EQ(constant("math.sin(2) + math.cos(Hq)"), std::sin(2.0) + std::cos(4.0));
}

TEST(ModShapes, are_empty_for_single_values) {
  EXPECT_EQ(expression("score.unsqueeze(0).squeeze(-1).unsqueeze(dim=1).squeeze() + score.numel()"), 2.5);
  EXPECT_EQ(expression("score + h.new_zeros(h.shape) + q.new_ones(q.size(), dtype=torch.float32)"), 2.5);
  EXPECT_EQ(expression("score + score.ndim + score.dim() + len(q.shape)"), 1.5);
}

TEST(ModAutograd, is_its_forward) {
  const std::string old_style =
      "class Cap(torch.autograd.Function):\n"
      "    \"\"\"Doc.\"\"\"\n"
      "    generate_vmap_rule = True\n"
      "    @staticmethod\n"
      "    def forward(ctx, x, by=2.0):\n"
      "        ctx.save_for_backward(x)\n"
      "        ctx.by = by\n"
      "        return x * by\n"
      "    @staticmethod\n"
      "    def backward(ctx, grad):\n"
      "        with something: pass\n"
      "        return {grad: 1}\n"
      "cap = Cap.apply\n"
      "def mod(s, b, h, q, k):\n"
      "    return cap(s) + Cap.apply(q, 10)\n";
  EXPECT_EQ(run(old_style), 3.0 + 70.0);
  const std::string new_style =
      "from torch.autograd import Function\n"
      "class Tanh(Function):\n"
      "    @staticmethod\n"
      "    def forward(x):\n"
      "        return torch.ops.approx.tanh(x)\n"
      "    @staticmethod\n"
      "    def setup_context(ctx, inputs, output):\n"
      "        ctx.save_for_backward(output)\n"
      "    @staticmethod\n"
      "    def vmap(info, in_dims, x):\n"
      "        return torch.tanh(x), 0\n"
      "mod = lambda s, b, h, q, k: Tanh.apply(s)\n";
  EXPECT_EQ(run(new_style), std::tanh(1.5));
}

ModFunction fixed(const std::string& text) {
  const ModScope scope{
      {}, {"Hq", "Sq", "Skv", "N"}, {{"t", DType::f32, {"N"}}, {"u", DType::f32, {"Skv"}}}, {{"N", 3}}};
  auto mod = parse_mod(text, ModRole::score_mod, scope);
  EXPECT_TRUE(mod.has_value()) << text << "\n" << (mod ? "" : mod.error().to_string());
  return mod ? *std::move(mod) : ModFunction{};
}

TEST(ModExtents, are_numbers_where_they_are_fixed) {
  for (const std::string extent : {"t.shape[0]", "len(t)", "t.size(0)", "N", "t.numel()", "N // 2 + 2"}) {
    const auto mod =
        fixed("def mod(s, b, h, q, k):\n    for i in range(" + extent + "):\n        s = s + i\n    return s\n");
    EXPECT_EQ(to_python(mod, mod.root), "score + 1 + 2") << extent;
  }
  EXPECT_EQ(to_python(fixed("lambda s, b, h, q, k: s if N > 2 else q"), 0), "score");
  const auto traced = fixed("lambda s, b, h, q, k: s + N");
  EXPECT_EQ(to_python(traced, traced.root), "score + N") << "elsewhere an axis stays an axis";
  const auto refused = parse_mod("lambda s, b, h, q, k: s + sum(range(Skv))", ModRole::score_mod, k_scope);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "range cannot depend on an axis: one mod serves every workload");
}

TEST(ModAssertions, on_axes_are_kept_for_the_workloads) {
  const auto mod = fixed(
      "def mod(s, b, h, q, k):\n"
      "    assert Skv % 8 == 0 and N == 3, 'whole tiles'\n"
      "    assert Skv % 8 == 0\n"
      "    return s\n");
  ASSERT_EQ(mod.assertions.size(), 1U);
  EXPECT_EQ(mod.assertions.front().text, "whole tiles");
  ModFunction condition;
  condition.nodes = mod.assertions.front().nodes;
  EXPECT_EQ(to_python(condition, static_cast<ExprId>(condition.nodes.size() - 1)), "Skv % 8 == 0");
  EXPECT_EQ(mod.nodes.size(), 1U) << "the assertion is no part of the value";
}

}  // namespace
}  // namespace kw
