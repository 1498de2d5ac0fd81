// Statements at the top level of a file: what can change a value that a mod reads is executed or refused.

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
  ModScope names{{{"DECLARED", std::int64_t{5}}},
                 {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"},
                 {{"document_id", DType::i32, {"Skv"}, true, 0, 100}}};
  names.implied_axes = names.axes;
  return names;
}

/// The value of the name `what` of the file, read by a mod.
double value(const std::string& file, const std::string& what = "W") {
  const auto mod = parse_mod_file(file, "lambda score, b, h, q, k: score * 0 + " + what, scope());
  EXPECT_TRUE(mod.has_value()) << file << "\n" << (mod ? "" : mod.error().to_string());
  return mod ? evaluate(mod->function, k_axes, k_point) : NAN;
}
std::string refusal(const std::string& file, const std::string& what = "W") {
  const auto mod = parse_mod_file(file, "lambda score, b, h, q, k: score * 0 + " + what, scope());
  return mod ? "no error" : mod.error().to_string();
}
bool refused(const std::string& file, const std::string& what = "W") {
  const auto text = refusal(file, what);
  return text.find("[mod.unsupported]") != std::string::npos && text.find('\n') != std::string::npos;
}

TEST(ModFileStatements, conditions_that_python_knows_are_decided) {
  EXPECT_EQ(value("W = 1\nif True:\n    W = 2\n"), 2);
  EXPECT_EQ(value("W = 1\nif False:\n    W = 2\n"), 1);
  EXPECT_EQ(value("FAST = False\nif FAST:\n    W = 1\nelif not FAST:\n    W = 2\nelse:\n    W = 3\n"), 2);
  EXPECT_EQ(value("N = 3\nif N > 5:\n  W = 1\nelif N > 3:\n  W = 2\nelse:\n  if N == 3:\n    W = N\n"), 3);
  EXPECT_EQ(value("W = 1\nif W == 1: W = W + 4; W = W * 2\n"), 10);
  EXPECT_EQ(value("if True:\n\tW = 1\n\tW += 2\n"), 3) << "tabs";
  EXPECT_EQ(value("def f():\n    return 1\nif True:\n    def f():\n        return 2\n", "f()"), 2);
  EXPECT_EQ(value("if True:\n    @staticmethod\n    def f(\n        x=1,\n    ):\n        return x\n", "f()"), 1);
}

TEST(ModFileStatements, conditions_that_nobody_knows_are_refused_when_they_matter) {
  EXPECT_EQ(refusal("import torch\nW = 1\nif torch.cuda.is_available():\n    W = 2\n"),
            "3:4: whether this 'if' gives 'W' another value is not known [mod.unsupported]\n"
            "  try: give 'W' a value under [constants] or [tensors] in the problem file");
  EXPECT_TRUE(refused("import os\nif os.environ:\n    W = 1\nelse:\n    W = 2\n"));
  EXPECT_TRUE(refused("from typing import TYPE_CHECKING\nW = 1\nif TYPE_CHECKING:\n    W = 2\n"));
  EXPECT_TRUE(refused("W = 1\nif __name__ == '__main__':\n    W = 2\n"));
  EXPECT_TRUE(refused("def f():\n    return 1\nif unknown:\n    def f():\n        return 2\n", "f()"));
  EXPECT_TRUE(refused("if unknown:\n    max = None\n", "max(1, 2)"));
  // It is this value, or the program ends with an error.
  EXPECT_EQ(value("if unknown:\n    W = 2\n"), 2);
  EXPECT_EQ(value("if __name__ == '__main__':\n    def f():\n        return 3\n    f()\n", "f()"), 3);
}

TEST(ModFileStatements, tries_are_refused_when_they_matter) {
  EXPECT_TRUE(refused("try:\n    import fast\n    W = 1\nexcept ImportError:\n    W = 2\n"));
  EXPECT_TRUE(refused("W = 1\ntry:\n    W = int('x')\nexcept ValueError:\n    pass\n"));
  EXPECT_TRUE(refused("W = 1\ntry:\n    f()\nexcept ValueError as W:\n    pass\n"));
  EXPECT_TRUE(refused("def f():\n    return 1\ntry:\n    def f():\n        return 2\nexcept E:\n    pass\n", "f()"));
  EXPECT_EQ(value("try:\n    W = 1\nexcept ValueError:\n    raise\nelse:\n    V = 2\nfinally:\n    U = 3\n"), 1);
  EXPECT_EQ(value("W = 1\ntry:\n    f()\nfinally:\n    W = 3\n"), 3);
}

TEST(ModFileStatements, loops_are_executed_or_refused) {
  EXPECT_EQ(value("W = 0\nfor i in range(4):\n    W += i\n"), 6);
  EXPECT_EQ(value("W = 0\nfor W in (3, 4):\n    pass\n"), 4);
  EXPECT_EQ(value("W = 1\nfor i in range(0):\n    W = 2\n"), 1);
  EXPECT_EQ(value("for i in range(3):\n    if i > 1:\n        def f():\n            return i\n", "f()"), 2);
  EXPECT_TRUE(refused("W = 1\nwhile W < 5:\n    W += 1\n"));
  EXPECT_TRUE(refused("W = 1\nwhile True:\n    for i in x:\n        if y:\n            W = 2\n"));
  EXPECT_NE(refusal("W = 1\nfor i in unknown:\n    W = 2\n"), "no error");
}

TEST(ModFileStatements, with_and_match_are_read_or_refused) {
  EXPECT_EQ(value("import torch\nwith torch.no_grad():\n    W = 3\n"), 3);
  EXPECT_TRUE(refused("W = 1\nwith suppress(ValueError):\n    W = int('x')\n"));
  EXPECT_TRUE(refused("W = 1\nwith open('f') as W:\n    pass\n"));
  EXPECT_TRUE(refused("W = 1\nmatch V:\n    case (W, 2):\n        pass\n"));
  EXPECT_TRUE(refused("W = 1\nif (W := 5) > 3:\n    pass\n"));
  EXPECT_TRUE(refused("W = 1\nprint(W := 5)\n"));
  EXPECT_TRUE(refused("W = 1\ndel W\n"));
}

TEST(ModFileStatements, every_way_to_bind_a_name_counts) {
  EXPECT_EQ(value("c = [0]\nW = 1\nW, c[0] = 2, 3\n"), 2);
  EXPECT_NE(refusal("W = 1\nW, c[0] = 2, 3\n"), "no error");
  EXPECT_EQ(value("W = 1\nimport os; W = 2\n"), 2);
  EXPECT_EQ(value("W = 1; V = 2; W = 3\n"), 3);
  EXPECT_TRUE(refused("W = 1\ndef set_it():\n    global W\n    W = 2\nset_it()\n"));
  EXPECT_TRUE(refused("W = 1\nexec(open('configurator.py').read())\n"));
  EXPECT_TRUE(refused("W = 1\ne = exec\ne('W = 2')\n"));
  EXPECT_TRUE(refused("W = 1\nglobals()['W'] = 2\n"));
  EXPECT_TRUE(refused("W = 1\nglobals().update(V=2)\n"));
  EXPECT_TRUE(refused("import sys\nW = 1\nsetattr(sys.modules[__name__], 'W', 2)\n"));
  EXPECT_TRUE(refused("W = 1\nfrom settings import *\n"));
  EXPECT_TRUE(refused("from mine import *\n", "max(1, 2)"));
  EXPECT_EQ(value("from settings import *\nW = 1\n"), 1);
  EXPECT_EQ(value("from typing import *\nW = max(1, 2)\n"), 2);
  EXPECT_EQ(value("W = 1\nfrom torch.nn.functional import *\n", "W + relu(score)"), 2.5);
  EXPECT_EQ(value("W = 1\nprint(globals()['W'], model.eval(), globals().items())\n"), 1);
}

TEST(ModFileStatements, a_long_line_takes_no_longer_than_many_short_ones) {
  std::string line;
  for (int i = 0; i < 200'000; ++i) line += "V=1;";
  EXPECT_EQ(value(line + "W=2\n"), 2);
}

TEST(ModFileStatements, lists_that_may_change_are_refused) {
  for (const std::string change : {"W.append(1)",
                                   "W[0] = 2",
                                   "W[0] += 2",
                                   "del W[0]",
                                   "W.pop()",
                                   "W.sort()",
                                   "W.clear()",
                                   "V = W",
                                   "f(W)",
                                   "W[0], V = 2, 3",
                                   "random.shuffle(W)",
                                   "for W[0] in range(3): pass",
                                   "V = (W, 1)",
                                   "V = W if x else 3",
                                   "V = [W]",
                                   "def f():\n    W.append(2)",
                                   "class A:\n    W.append(2)",
                                   "def f():\n    return W",
                                   "if x:\n    W.append(3)",
                                   "W.extend(x)",
                                   "W.__setitem__(0, 3)",
                                   "A.W = W",
                                   "V = W or 3",
                                   "V = lambda: W"}) {
    EXPECT_TRUE(refused("W = [1, 2]\n" + change + "\n", "W[0]")) << change << refusal("W = [1, 2]\n" + change, "W[0]");
  }
  EXPECT_EQ(refusal("W = [1, 2]\n\nW.append(1)\n", "W[0]"),
            "3:1: the list 'W' may change here [mod.unsupported]\n"
            "  try: make it a tuple, or give its values in the problem file");
  for (const std::string harmless :
       {"print(W, len(W))", "V = W[0]", "V = f(W[1], 2)", "for w in W:\n    print(w)", "V = tuple(W)", "V = [*W, 3]",
        "V = W + [3]", "f(W=3)", "self.W = 5", "if W == [1]: pass", "V = sum(W) + max(W)", "x = W[0:1]",
        "if 1 in W: pass", "def f(W):\n    W.append(3)\n    return W", "V = [w for w in W]", "# W.append(3)",
        "'W.append(3)'", "V = W.copy()", "W += [3]"}) {
    EXPECT_EQ(value("W = [1, 2]\n" + harmless + "\n", "W[0]"), 1) << harmless;
  }
  EXPECT_EQ(value("W = (1, 2)\nf(W)\nV = W\n", "W[0]"), 1) << "a tuple cannot change";
  EXPECT_EQ(value("W = [1]\nW += [3]\n", "W[1]"), 3);
  EXPECT_TRUE(refused("W = V = [1, 2]\nV.append(3)\n", "W[0]"));
  EXPECT_TRUE(refused("V = [1, 2]\nW = (V, 3)\nV.append(3)\n", "W[0][0]"));
  EXPECT_TRUE(refused("W = [[1, 2], [3, 4]]\nV = W[0]\nV[0] = 3\n", "W[0][0]"));
  EXPECT_TRUE(refused("W = [[1, 2], [3, 4]]\nW[0][0] = 3\n", "W[0][0]"));
  EXPECT_EQ(value("W = [[1, 2], [3, 4]]\nV = W[0][1]\n", "W[0][0]"), 1);
}

TEST(ModFileStatements, patched_libraries_are_refused) {
  EXPECT_TRUE(refused("import torch\ntorch.tanh = mine\n", "torch.tanh(score)"));
  EXPECT_TRUE(refused("import torch.nn.functional as F\nF.relu = mine\n", "F.relu(score)"));
  EXPECT_TRUE(refused("import torch\nsetattr(torch, 'tanh', mine)\n", "torch.tanh(score)"));
  EXPECT_EQ(
      value("import torch\ntorch._dynamo.config.cache_size_limit = 1000\ntorch.manual_seed(0)\n", "torch.relu(score)"),
      1.5);
}

TEST(ModFileStatements, decorators_are_executed_or_refused) {
  const std::string doubled = "def doubled(f):\n    def g(*a):\n        return 2 * f(*a)\n    return g\n";
  EXPECT_EQ(value(doubled + "@doubled\ndef f(x):\n    return x\n", "f(3)"), 6);
  EXPECT_EQ(value(doubled + "@doubled\n@doubled\ndef f(x):\n    return x\n", "f(3)"), 12);
  EXPECT_EQ(
      value("def times(n):\n    return lambda f: lambda x: n * f(x)\n@times(5)\ndef f(x):\n    return x\n", "f(3)"),
      15);
  EXPECT_EQ(value("import torch, functools\n@torch.compile(mode='max')\n@functools.lru_cache(None)\n"
                  "@torch.no_grad()\n@functools.partial(torch.compile, dynamic=True)\ndef f(x):\n    return x\n",
                  "f(3)"),
            3);
  EXPECT_EQ(refusal("from mine import scaled\n@scaled(2)\ndef f(x):\n    return x\n", "f(3)"),
            "2:2: what the decorator mine.scaled makes of 'f' is not known [mod.unsupported]\n"
            "  try: leave it out, or paste its definition above the function");
  EXPECT_NE(refusal("@nobody\ndef f(x):\n    return x\n", "f(3)"), "no error");
}

TEST(ModFileStatements, the_files_own_value_wins_over_an_axis_of_the_operator) {
  EXPECT_EQ(value("B = 8\n", "B"), 8);
  EXPECT_EQ(value("", "B"), 2) << "the axis";
  EXPECT_EQ(value("DECLARED = 8\n", "DECLARED"), 5) << "[constants] were declared for the mod";
  EXPECT_EQ(refusal("Skv = keys.shape[2]\n", "Skv"),
            "1:7: 'keys' is not defined [mod.unknown_name]\n"
            "  try: leave the assignment of 'Skv' out, and the name means the problem's axis");
}

TEST(ModFileStatements, the_truth_of_what_a_library_holds_is_not_known) {
  EXPECT_TRUE(refused("import mine\nW = 1 if mine.FLAG else 2\n"));
  EXPECT_TRUE(refused("import mine\nW = 1 if mine.FLAG is None else 2\n"));
  EXPECT_TRUE(refused("W = 1 if torch.cuda.is_available() else 2\n"));
  EXPECT_TRUE(refused("V = 'a' if torch.cuda.is_available() else 'b'\nW = 1 if V == 'a' else 2\n"));
  EXPECT_EQ(value("import torch\nV = None if torch.where else 3\nW = 1 if torch.where is None else 2\n"), 2);
  EXPECT_TRUE(refused("import sys\nW = 1 if sys.platform in ('linux', 'win32') else 2\n"));
}

}  // namespace
}  // namespace kw
