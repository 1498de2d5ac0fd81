// Mods whose parts stand in several files.

#include "mod/frontend/imported_modules.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/testing/memory_files.hpp"
#include "mod/analysis/analysis.hpp"
#include "mod/frontend/file.hpp"

namespace kw {
namespace {

constexpr const char* k_closure =
    "def window(size):\n    def inner(b, h, q, k):\n        return q - k <= size + SLACK\n    return inner\nSLACK = "
    "1\n";

/// Files in the folder "dir", where "dir/main.py" is the one that is named.
class Imports : public ::testing::Test {
 protected:
  void add(const std::string& path, const std::string& text) { files_.all["dir/" + path] = text; }

  Result<FileMod> read(const std::string& text, const std::string& wanted = "f") {
    const ModScope scope = {{{"W", std::int64_t{5}}}, {"B", "Sq", "Skv"}, {{"slopes", DType::f32, {"B"}, false, 0, 1}}};
    add("main.py", text);
    ModuleFiles beside(files_, "dir/main.py");
    auto mod = parse_mod_file(text, wanted, scope, &beside);
    kept_ = beside.kept().size();
    return mod;
  }
  /// A mask's or score's value where b, h, q, k are 1, 2, 7, 10 and the score is 1.5.
  double value(const std::string& text, const std::string& wanted = "f") {
    const auto mod = read(text, wanted);
    EXPECT_TRUE(mod) << text << (mod ? "" : mod.error().to_string());
    if (!mod) return -99.0;
    return evaluate(mod->function, {{"B", 2}, {"Sq", 40}, {"Skv", 50}}, {1.5, 1, 2, 7, 10},
                    {{"slopes", {{2}, {0.25F, 0.5F}}}});
  }
  std::string error(const std::string& text, const std::string& wanted = "f") {
    const auto mod = read(text, wanted);
    return mod ? "no error" : mod.error().to_string();
  }
  static std::string score(const std::string& expression) {
    return "def f(score, b, h, q, k):\n    return " + expression + "\n";
  }

  MemoryFiles files_;
  std::size_t kept_ = 0;
};

TEST_F(Imports, every_form_of_import_finds_a_file_beside) {
  add("helpers.py", "LIMIT = 3\ndef twice(x):\n    return x * 2\n");
  add("pkg/masks.py", "def thrice(x):\n    return x * 3\n");
  add("whole/__init__.py", "FOUR = 4\n");
  EXPECT_EQ(value("from helpers import twice\n" + score("twice(score)")), 3.0);
  EXPECT_EQ(value("from .helpers import twice as t, LIMIT\n" + score("t(score) + LIMIT")), 6.0);
  EXPECT_EQ(value("import helpers\n" + score("helpers.twice(helpers.LIMIT)")), 6.0);
  EXPECT_EQ(value("import helpers as h2\n" + score("h2.twice(score)")), 3.0);
  EXPECT_EQ(value("import pkg.masks as m\n" + score("m.thrice(score)")), 4.5);
  EXPECT_EQ(value("import pkg.masks\n" + score("pkg.masks.thrice(score)")), 4.5);
  EXPECT_EQ(value("from pkg import masks\n" + score("masks.thrice(score)")), 4.5);
  EXPECT_EQ(value("from . import helpers\n" + score("helpers.twice(score)")), 3.0);
  EXPECT_EQ(value("from whole import FOUR\n" + score("score * FOUR")), 6.0);
  EXPECT_EQ(value("def f(score, b, h, q, k):\n    from helpers import twice\n    return twice(score)\n"), 3.0);
}

TEST_F(Imports, the_mod_itself_may_come_from_another_file) {
  add("helpers.py", k_closure);
  EXPECT_EQ(value("from helpers import window\n", "window(2)"), 1.0);
  EXPECT_EQ(value("import helpers\n", "helpers.window(-5)"), 0.0);
  EXPECT_EQ(value("from helpers import window\nf = window(-5)\n"), 0.0);
}

TEST_F(Imports, each_file_has_names_of_its_own) {
  add("helpers.py", "X = 10\ndef own():\n    return X\n");
  EXPECT_EQ(value("from helpers import own\nX = 1\n" + score("own() + X")), 11.0);
  EXPECT_EQ(error("from helpers import own\n" + score("own() + X")),
            "3:20: 'X' is not defined [mod.unknown_name]\n  try: declare it under [tensors.X] or [constants] in "
            "the problem file, or assign it above the function");
  add("helpers.py", "def own():\n    return Y\n");
  EXPECT_NE(error("from helpers import own\nY = 1\n" + score("own()")).find("dir/helpers.py:2:12: 'Y' is not defined"),
            std::string::npos);
}

TEST_F(Imports, names_of_the_problem_win_over_assignments_of_every_file) {
  add("data.py", "import torch\nslopes = torch.load('slopes.pt')\nW = 7\ndef w():\n    return W\n");
  EXPECT_EQ(value("from data import slopes as s\n" + score("s[b]")), 0.5);
  EXPECT_EQ(value("from data import w\n" + score("w()")), 5.0);
}

TEST_F(Imports, imported_files_import_in_their_turn) {
  add("pkg/__init__.py", "from .masks import limit\nfrom . import masks as again, deep\n");
  add("pkg/masks.py",
      "from .deep.values import LIMIT\nfrom ..helpers import one\nimport helpers\n"
      "def limit():\n    return LIMIT + one() + helpers.one()\n");
  add("pkg/deep/values.py", "LIMIT = 40\n");
  add("helpers.py", "def one():\n    return 1\n");
  EXPECT_EQ(value("from pkg import limit\n" + score("limit()")), 42.0);
  EXPECT_EQ(kept_, 4U);
  EXPECT_EQ(value("import pkg\n" + score("pkg.again.limit() + pkg.deep.values.LIMIT")), 82.0);
}

TEST_F(Imports, reads_only_what_is_used) {
  add("broken.py", "def bad(:\nX = 1 / 0\n");
  add("helpers.py", "import broken\nfrom broken import bad\nX = 1 / 0\nY = 2\n");
  EXPECT_EQ(
      value("from helpers import X, Y\nimport broken, nowhere\nfrom nowhere.else_ import z\n" + score("score + Y")),
      3.5);
  EXPECT_EQ(kept_, 1U);
}

TEST_F(Imports, known_libraries_are_never_files) {
  for (const char* library : {"torch", "math", "numpy", "functools", "typing", "os"}) {
    add(std::string(library) + ".py", "def sqrt(x):\n    return -1.0\npi = 0\n");
  }
  EXPECT_EQ(
      value("import torch, math, numpy, os\nfrom math import pi\n" + score("torch.sqrt(score * 0 + 4) + (pi > 3)")),
      3.0);
  EXPECT_EQ(kept_, 0U);
}

TEST_F(Imports, errors_stand_where_they_are) {
  add("pkg/bad.py", "import torch\n\ndef wrong(x):\n    return torch.fft(x)\ndef syntax(x):\n    return x >\n");
  EXPECT_EQ(error("from pkg.bad import wrong\n" + score("wrong(score)")).substr(0, 40),
            "dir/pkg/bad.py:4:17: torch.fft is not am");
  EXPECT_EQ(error("from pkg.bad import syntax\n" + score("syntax(score)")).substr(0, 19), "dir/pkg/bad.py:6:15");
  EXPECT_EQ(error("from pkg.bad import wrang\n" + score("wrang(score)")),
            "3:12: dir/pkg/bad.py defines no 'wrang' [mod.unknown_name]\n  try: 'wrong'?");
  EXPECT_EQ(error("from pkg.bad import wrang\n", "wrang"),
            "1:1: dir/pkg/bad.py defines no 'wrang' [mod.unknown_name]\n  try: 'wrong'?");
}

TEST_F(Imports, a_missing_file_is_named) {
  const std::string advice =
      "\n  try: there is no dir/helpers.py or dir/helpers/__init__.py: put the file there, or paste what the mod needs "
      "of "
      "it above the mod";
  EXPECT_EQ(error("from helpers import twice\n" + score("twice(score)")),
            "3:12: helpers.twice is not supported: its module is not read [mod.unsupported]" + advice);
  EXPECT_EQ(error("from helpers import LIMIT\n" + score("score + LIMIT")),
            "3:18: expected a number, but found a name of a library [mod.type]" + advice);
  EXPECT_EQ(error("from helpers import causal\n", "causal"),
            "1:1: 'helpers.causal' is not read [mod.unsupported]" + advice);
  EXPECT_NE(error("import pkg.masks as m\n" + score("m.twice(score)")).find("no dir/pkg/masks.py or dir/pkg/masks/"),
            std::string::npos);
}

TEST_F(Imports, circles_are_refused) {
  add("a.py", "from b import g\ndef f2(x):\n    return g(x)\nONE = 1\n");
  add("b.py", "from a import ONE\ndef g(x):\n    return x + ONE\n");
  EXPECT_EQ(error("from a import f2\n" + score("f2(score)")),
            "dir/b.py:3:16: files import each other in a circle: dir/b.py -> dir/a.py -> dir/b.py [mod.unsupported]\n"
            "  try: move what both need into a file of its own");
  add("c.py", "from main import X\ndef g(x):\n    return x + X\n");
  EXPECT_EQ(error("from c import g\nX = 1\n" + score("g(score)")).substr(0, 77),
            "dir/c.py:3:16: files import each other in a circle: dir/c.py -> dir/main.py -");
  EXPECT_NE(error("import main\nX = 1\n" + score("main.X")).find("circle: dir/main.py -> dir/main.py"),
            std::string::npos);
}

TEST_F(Imports, nothing_above_the_folder_is_read) {
  files_.all["outside.py"] = "X = 1\n";
  EXPECT_EQ(error("from ..outside import X\n" + score("score + X")),
            "3:20: 'outside.X' leads out of the folder of the file that was named [mod.unsupported]\n"
            "  try: files are read in that folder and below it: put the module there");
  add("pkg/a.py", "from ...outside import X\ndef g(x):\n    return x + X\n");
  EXPECT_NE(error("from pkg.a import g\n" + score("g(score)")).find("leads out of the folder"), std::string::npos);
}

TEST_F(Imports, a_star_says_what_to_write_instead) {
  add("helpers.py", "def twice(x):\n    return x * 2\n");
  EXPECT_EQ(error("from helpers import *\n" + score("twice(score)")),
            "1:1: 'twice' may come from here: which names 'import *' binds is not read [mod.unsupported]\n"
            "  try: write 'from helpers import twice'");
  EXPECT_EQ(value("from helpers import *\nX = 3\n" + score("score + X")), 4.5);
  add("pkg/__init__.py", "from .inner import *\n");
  add("pkg/inner.py", "Z = 3\n");
  EXPECT_EQ(error("from pkg import Z\n" + score("score + Z")),
            "dir/pkg/__init__.py:1:1: 'Z' may come from here: which names 'import *' binds is not read "
            "[mod.unsupported]\n  try: write 'from .inner import Z'");
}

TEST_F(Imports, what_may_change_a_value_is_refused) {
  add("helpers.py", "TABLE = [1, 2]\nW2 = 3\ndef pick(i):\n    return TABLE[i] + W2\n");
  EXPECT_EQ(value("import helpers\n" + score("helpers.pick(1)")), 5.0);
  for (const char* change : {"helpers.W2 = 4\n", "setattr(helpers, 'W2', 4)\n", "helpers.TABLE.append(3)\n",
                             "helpers.TABLE[0] = 3\n", "change(helpers.TABLE)\n"}) {
    EXPECT_NE(error(std::string("import helpers\n") + change + score("helpers.pick(1)")).find("2:"), std::string::npos)
        << change;
    EXPECT_NE(error(std::string("import helpers\nfrom helpers import pick\n") + change + score("pick(1)")).find("3:"),
              std::string::npos)
        << change;
  }
  for (const char* change : {"T.append(3)\n", "T += [3]\n", "T[0] = 3\n"}) {
    EXPECT_NE(error(std::string("from helpers import pick, TABLE as T\n") + change + score("pick(1)")),  //
              "no error")
        << change;
  }
  add("patching.py", "import torch\ntorch.tanh = max\ndef one():\n    return 1\n");
  EXPECT_EQ(error("from patching import one\nimport torch\n" + score("torch.tanh(score) + one()")),
            "dir/patching.py:2:1: this changes torch.tanh, which mods may read [mod.unsupported]\n"
            "  try: call your own function by its own name");
}

TEST_F(Imports, a_name_that_is_also_a_module_is_refused) {
  add("pkg/__init__.py", "masks = 3\n");
  add("pkg/masks.py", "X = 1\n");
  EXPECT_EQ(error("from pkg import masks\n" + score("score + masks")),
            "3:20: dir/pkg/__init__.py gives 'masks' a value, and is also the package of a module of that name "
            "[mod.unsupported]\n  try: rename one of them");
  add("pkg/__init__.py", "from .masks import masks\n");
  add("pkg/masks.py", "def masks(x):\n    return x * 4\n");
  EXPECT_EQ(value("from pkg import masks\n" + score("masks(score)")), 6.0);
}

TEST_F(Imports, holds_its_limits) {
  std::string all;
  std::string sum = "score";
  for (int i = 0; i < 70; ++i) {
    add(fmt::format("m{}.py", i), "X = 1\n");
    all += fmt::format("import m{}\n", i);
    sum += fmt::format(" + m{}.X", i);
  }
  EXPECT_NE(error(all + score(sum)).find("a mod imports from at most 64 files [mod.limit]\n  while importing m64"),
            std::string::npos);
  add("large.py", std::string((1 << 20) + 1, '\n'));
  EXPECT_EQ(error("from large import X\n" + score("score + X")),
            "3:20: dir/large.py is larger than 1048576 bytes [base.too_large]\n  while importing large");
  add("wide.py", "\xFF\xFEX = 1\n");
  EXPECT_EQ(
      error("from wide import X\n" + score("score + X")),
      "dir/wide.py:1:1: the file is not UTF-8 text [mod.syntax]\n  while importing wide\n  try: save it as UTF-8");
  for (const char* name : {"l1", "l2", "l3", "l4", "l5"})
    add(std::string(name) + ".py", "X = 1" + std::string(1 << 20 >> 1, '\n') + std::string(1 << 19, '\n').substr(6));
  EXPECT_NE(error("import l1, l2, l3, l4, l5\n" + score("l1.X + l2.X + l3.X + l4.X + l5.X + score"))
                .find("at most 4194304 bytes together [mod.limit]"),
            std::string::npos);
}

TEST_F(Imports, the_source_names_its_files) {
  add("helpers.py", "import torch\nLIMIT = 3\nOTHER = 4\n");
  const auto mod = read("from helpers import LIMIT\n" + score("score + LIMIT"));
  ASSERT_TRUE(mod) << mod.error().to_string();
  EXPECT_EQ(mod->function.source,
            "# helpers.py\nLIMIT = 3\nfrom helpers import LIMIT\n" + score("score + LIMIT") + "f\n");
}

}  // namespace
}  // namespace kw
