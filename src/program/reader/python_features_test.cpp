// What whole networks are written with: parts of Python, and of libraries, that compute nothing themselves.

#include <gmock/gmock.h>

#include "program/errors.hpp"
#include "program/reader/program_reader.hpp"
#include "program/testing/module_text.hpp"

namespace kw::program_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* k_input = "torch.rand(4, 6)";

std::string shape_with(const std::string& forward, const std::string& init = "pass") {
  return shape_of(forward, k_input, init);
}

/// Lines in front of the class.
Result<Program> with_lines(const std::string& lines, const std::string& forward, const std::string& init = "pass",
                           ProgramMode mode = ProgramMode::train) {
  ProgramOptions options;
  options.mode = mode;
  const auto text = module_text(forward, k_input, init);
  const auto at = text.find("class Model");
  return read_program(text.substr(0, at) + lines + "\n" + text.substr(at), "m.py", options);
}

std::vector<std::string> ops_with(const std::string& lines, const std::string& forward,
                                  const std::string& init = "pass", ProgramMode mode = ProgramMode::train) {
  const auto program = with_lines(lines, forward, init, mode);
  if (!program) return {program.error().to_string()};
  std::vector<std::string> ops;
  for (const auto& node : program->graph.nodes) ops.push_back(node.op);
  return ops;
}

std::string error_with(const std::string& lines, const std::string& forward, const std::string& init = "pass") {
  const auto program = with_lines(lines, forward, init);
  return program ? "it is read" : program.error().to_string();
}

TEST(PythonFeatures, sets_hold_an_item_once) {
  EXPECT_EQ(shape_with("s = {1, 2, 2}\ns.add(3)\nreturn x.reshape(len(s), -1)"), "[3, 8]");
  EXPECT_EQ(shape_with("return x.reshape(len({i % 3 for i in range(9)}), -1)"), "[3, 8]");
  EXPECT_EQ(shape_with("s = ({1, 2, 3} | {4}) - {1} & {2, 3, 9}\nreturn x.reshape(len(s), -1)"), "[2, 12]");
  EXPECT_EQ(shape_with("return x.T if {1, 2} == set([2, 1]) and isinstance({1}, set) else x"), "[6, 4]");
  EXPECT_EQ(shape_with("return x.T if isinstance({1}, list) or 3 in {1, 2} else x"), "[4, 6]");
}

TEST(PythonFeatures, dictionaries_unpack_and_change) {
  EXPECT_EQ(shape_with("d = {'a': 1, **{'a': 2, 'b': 3}}\nreturn x.reshape(d['a'] + d.pop('b') - 2, -1)"), "[3, 8]");
  EXPECT_EQ(shape_with("d = dict(a=1)\nd.update({'b': 2}, c=3)\nreturn x.reshape(len(d), -1)"), "[3, 8]");
  EXPECT_EQ(shape_with("d = {}\nd.setdefault('n', 2)\nd.setdefault('n', 3)\nreturn x.reshape(d['n'], -1)"), "[2, 12]");
  EXPECT_EQ(shape_with("d = {'a': 2, 'b': 3}\ndel d['a']\nreturn x.reshape(d.pop('a', 4) * len(d), -1)"), "[4, 6]");
  EXPECT_THAT(shape_with("return x.reshape({}.pop('a'), -1)"), HasSubstr("pop() of a key that is not in"));
  EXPECT_THAT(shape_with("return {**x}"), HasSubstr("'**' of a tensor"));
}

TEST(PythonFeatures, dictionaries_of_pairs_and_of_names) {
  EXPECT_EQ(shape_with("d = dict(map(lambda p: (p[0][2:], p[1]), {'a_n': 2}.items()))\nreturn x.reshape(d['n'], -1)"),
            "[2, 12]");
  EXPECT_EQ(shape_with("f = lambda n: locals()\nreturn x.reshape(f(3)['n'], -1)"), "[3, 8]");
}

TEST(PythonFeatures, lists_of_integers_are_indices) {
  EXPECT_EQ(shape_with("return x[:, [0, 2]] * x[..., (1, 0)]"), "[4, 2]");
  EXPECT_EQ(shape_with("return x[[0, -1, 2]]"), "[3, 6]");
}

TEST(PythonFeatures, a_list_of_modules_has_places_without_one) {
  EXPECT_THAT(ops_with("", "for m in self.ms:\n    x = m(x) if m is not None else x.exp()\nreturn self.ms[2](x)",
                       "self.ms = nn.ModuleList([nn.ReLU(), None, nn.Tanh()])"),
              ElementsAre("relu", "exp", "tanh", "tanh"));
}

TEST(PythonFeatures, einops_packs_and_multiplies) {
  const std::string lines = "from einops import pack, unpack, einsum";
  EXPECT_THAT(ops_with(lines,
                       "y, shapes = pack([x.reshape(4, 2, 3), x], 'b *')\na, b = unpack(y, shapes, 'b *')\n"
                       "return einsum(a, b, 'b h w, b c -> h w c')"),
              ElementsAre("reshape", "reshape", "reshape", "cat", "split", "reshape", "reshape", "einsum"));
  EXPECT_THAT(error_with(lines, "return pack([x], 'b n')"), HasSubstr("take a pattern with one '*'"));
}

TEST(PythonFeatures, lists_are_sorted_and_changed) {
  EXPECT_EQ(shape_with("a = sorted([(1, 3), (2, 2)], key=lambda p: p[1])\nreturn x.reshape(a[0][0], -1)"), "[2, 12]");
  EXPECT_EQ(shape_with("a = [1, 3, 2]\na.sort(reverse=True)\na.remove(2)\nreturn x.reshape(a[0], -1)"), "[3, 8]");
  EXPECT_EQ(shape_with("i = iter([2, 3])\nnext(i)\nreturn x.reshape(next(i), next(i, -1))"), "[3, 8]");
  EXPECT_THAT(shape_with("return next(iter([]))"), HasSubstr("next() behind the last item"));
  EXPECT_THAT(shape_with("return [1].remove(2)"), HasSubstr("remove() of what is not in the list"));
}

TEST(PythonFeatures, del_takes_away) {
  EXPECT_EQ(shape_with("a, b = 1, 2\ndel a, b\nc = [1, 2, 3]\ndel c[0]\nreturn x.reshape(len(c), -1)"), "[2, 12]");
  EXPECT_EQ(shape_with("return x.T if hasattr(self, 'n') else x", "self.n = 1\ndel self.n"), "[4, 6]");
  EXPECT_THAT(shape_with("a = 1\ndel a\nreturn x * a"), HasSubstr("'a' is not defined"));
  EXPECT_THAT(shape_with("del self.a\nreturn x"), HasSubstr("'del' of what is not there"));
}

TEST(PythonFeatures, an_absent_library_is_not_installed) {
  const std::string attempt =
      "try:\n    import apex\n    has_apex = True\nexcept (ImportError, OSError) as e:\n    has_apex = False\n"
      "finally:\n    n = 2\ntry:\n    import math as m\nexcept ImportError:\n    m = None\nelse:\n    n = 3";
  EXPECT_THAT(ops_with(attempt, "return x.exp() if has_apex else x.reshape(n, -1) * m.pi"),
              ElementsAre("reshape", "mul"));
  EXPECT_THAT(error_with("try:\n    n = 1 / 0\nexcept ZeroDivisionError:\n    n = 1", "return x * n"),
              HasSubstr("divided by zero"));
  EXPECT_THAT(error_with("try:\n    n = 1\nn = 2", "return x"), HasSubstr("expected 'except'"));
}

TEST(PythonFeatures, a_loop_that_is_not_left_has_its_else) {
  EXPECT_EQ(shape_with("for i in range(3):\n    if i == 7: break\nelse:\n    x = x.T\nreturn x"), "[6, 4]");
  EXPECT_EQ(shape_with("for i in range(3):\n    if i == 1: break\nelse:\n    x = x.T\nreturn x"), "[4, 6]");
}

TEST(PythonFeatures, what_is_not_read_matters_where_it_is_used) {
  const std::string lines =
      "import warnings\nimport timm\nfrom somewhere import Base, decorate, config\nwarnings.filterwarnings('ignore')\n"
      "torch.backends.cudnn.benchmark = True\nsettings = {'a': config(url='')}\n"
      "class Other(Base):\n    pass\n@decorate\ndef build(**kwargs):\n    return Other()\n";
  EXPECT_THAT(ops_with(lines, "return x.exp()"), ElementsAre("exp"));
  EXPECT_THAT(error_with(lines, "return settings"), HasSubstr("config comes from a library that is not read"));
  EXPECT_THAT(error_with(lines, "return Other()(x)"), HasSubstr("a class cannot be based on unread:somewhere.Base"));
  EXPECT_THAT(error_with(lines, "return build()"), HasSubstr("the decorator 'decorate' is not read"));
  EXPECT_THAT(error_with(lines, "return x if torch.backends.cudnn.is_available() else x + 1"),
              HasSubstr("what a library that is not read says cannot be known"));
}

TEST(PythonFeatures, functions_of_autograd_are_their_forward) {
  const std::string lines =
      "class Swish(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, i):\n"
      "        ctx.save_for_backward(i)\n        return i * torch.sigmoid(i)\n"
      "    @staticmethod\n    def backward(ctx, g):\n        return g * ctx.saved_tensors[0]\n";
  EXPECT_THAT(ops_with(lines, "return Swish.apply(x)"), ElementsAre("sigmoid", "mul"));
}

TEST(PythonFeatures, partial_and_reduce) {
  const std::string lines = "from functools import partial, reduce";
  EXPECT_THAT(ops_with(lines, "return self.n(x)", "self.n = partial(nn.LayerNorm, eps=1e-6)(6)"),
              ElementsAre("layer_norm"));
  EXPECT_THAT(ops_with(lines, "return reduce(lambda a, b: a * b, [x, x, x])"), ElementsAre("mul", "mul"));
}

TEST(PythonFeatures, layers_of_timm) {
  const std::string lines =
      "from timm.models.layers import DropPath, to_2tuple, trunc_normal_, Mlp\nfrom timm.layers import make_divisible";
  const std::string init =
      "self.mlp = Mlp(6, to_2tuple(12)[1], drop=0.0)\ntrunc_normal_(self.mlp.fc1.weight, std=.02)\n"
      "self.path = DropPath(0.1)\nself.n = make_divisible(37)";
  EXPECT_THAT(ops_with(lines, "return self.path(self.mlp(x)) * self.n", init, ProgramMode::eval),
              ElementsAre("linear", "gelu", "dropout", "linear", "dropout", "mul"));
  EXPECT_THAT(ops_with(lines, "return self.path(x)", init), ElementsAre("ones", "dropout", "mul"));
}

TEST(PythonFeatures, a_part_of_a_tensor_changes_the_tensor) {
  EXPECT_EQ(shape_with("y = x.clone()\nz = y[1:3]\nz[0] = 0\nz.mul_(2)\nreturn y"), "[4, 6]");
  EXPECT_EQ(shape_with("y = x.clone()\ny[..., 1].div_(2).sub_(1)\ny[0][1:2].zero_()\nreturn y"), "[4, 6]");
  EXPECT_THAT(ops_with("", "y = x.clone()\nz = y[1]\ny.mul_(2)\nreturn z"),
              ElementsAre("clone", "select", "mul", "select"));
  EXPECT_EQ(shape_with("y = x.clone()\na, b = y[:2], y[2:]\na.mul_(2)\nb.mul_(3)\nreturn a + b"), "[2, 6]");
  EXPECT_THAT(shape_with("y = x.clone()\nz = y.T\ny[1].mul_(2)\nreturn z"), HasSubstr("changed in place"));
}

TEST(PythonFeatures, modules_that_evaluate_stay_so) {
  const auto training = [](const std::string& init, ProgramMode mode) {
    const auto program = with_lines("", "return self.bn(x)", "self.bn = nn.BatchNorm1d(6)\n" + init, mode);
    for (const auto& argument : program->graph.nodes[0].arguments) {
      if (argument.name == "training") return std::get<bool>(argument.value);
    }
    return false;
  };
  EXPECT_TRUE(training("", ProgramMode::train));
  EXPECT_FALSE(training("self.bn.eval()", ProgramMode::train));
  EXPECT_TRUE(training("self.eval()\nself.train()", ProgramMode::train));
  EXPECT_FALSE(training("self.train(False)", ProgramMode::train));
  EXPECT_FALSE(training("", ProgramMode::eval));
  const std::string own =
      "class Own(nn.Module):\n    def train(self, mode=True):\n        super().train(mode)\n"
      "        self.kept = not mode\n    def forward(self, x):\n        return x.exp() if self.kept else x\n";
  EXPECT_THAT(ops_with(own, "return self.own(x)", "self.own = Own()", ProgramMode::eval), ElementsAre("exp"));
  EXPECT_THAT(error_with("", "return x", "self.a = self\nself.b = self\nself.eval()"), HasSubstr("[program.limit]"));
}

TEST(PythonFeatures, tensors_of_types_and_limits) {
  EXPECT_THAT(ops_with("", "return x.masked_fill(x > 1, -torch.finfo(x.dtype).max) + torch.Tensor([1, 2, 3])[0]"),
              ElementsAre("gt", "masked_fill", "to", "select", "add"));
  EXPECT_EQ(shape_with("return x * self.w", "self.w = nn.Parameter(torch.Tensor(4, 1))\nnn.init.trunc_normal_(self.w)"),
            "[4, 6]");
  EXPECT_EQ(shape_with("return x.reshape(torch.iinfo(torch.int8).max - 123, -1)"), "[4, 6]");
  EXPECT_EQ(shape_with("return self.m.a(x)", "self.m = nn.Module()\nself.m.a = nn.Linear(6, 2)"), "[4, 2]");
  EXPECT_EQ(shape_with("return self.__getattr__('a1')(x)", "self.__setattr__('a%d' % 1, nn.Linear(6, 2))"), "[4, 2]");
}

TEST(PythonFeatures, softmax_without_an_axis_takes_pytorchs) {
  const auto axis = [](const std::string& input) {
    const auto program = read_program(module_text("return F.softmax(x)", input, "pass"), "m.py", {});
    return std::get<Extent>(program->graph.nodes[0].arguments[1].value).value();
  };
  EXPECT_EQ(axis("torch.rand(4)"), 0);
  EXPECT_EQ(axis("torch.rand(4, 2)"), 1);
  EXPECT_EQ(axis("torch.rand(4, 2, 3)"), 0);
  EXPECT_EQ(axis("torch.rand(4, 2, 3, 5)"), 1);
}

}  // namespace
}  // namespace kw::program_test
