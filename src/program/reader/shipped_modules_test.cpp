#include "program/reader/shipped_modules.hpp"

#include <gmock/gmock.h>

#include "program/testing/module_text.hpp"

namespace kw::program_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Program read(const std::string& text) {
  auto program = read_program(text, "m.py", {});
  if (!program) ADD_FAILURE() << program.error().to_string();
  return program ? *std::move(program) : Program{};
}

std::vector<std::string> parameters(const std::string& forward, const std::string& inputs, const std::string& init) {
  std::vector<std::string> found;
  for (const auto& one : read(module_text(forward, inputs, init)).parameters)
    found.push_back(fmt::format("{} {}", one.name, shape_text(one.type.shape)));
  return found;
}

TEST(ShippedModules, have_the_parameters_of_state_dict) {
  EXPECT_THAT(
      parameters("return self.m(x)[0]", "torch.rand(4, 2, 3)", "self.m = nn.LSTM(3, 5, proj_size=2, num_layers=2)"),
      ElementsAre("m.weight_ih_l0 [20, 3]", "m.weight_hh_l0 [20, 2]", "m.bias_ih_l0 [20]", "m.bias_hh_l0 [20]",
                  "m.weight_hr_l0 [2, 5]", "m.weight_ih_l1 [20, 2]", "m.weight_hh_l1 [20, 2]", "m.bias_ih_l1 [20]",
                  "m.bias_hh_l1 [20]", "m.weight_hr_l1 [2, 5]"));
  EXPECT_THAT(
      parameters("return self.m(x)[0]", "torch.rand(4, 2, 3)", "self.m = nn.GRU(3, 5, bias=False, bidirectional=True)"),
      ElementsAre("m.weight_ih_l0 [15, 3]", "m.weight_hh_l0 [15, 5]", "m.weight_ih_l0_reverse [15, 3]",
                  "m.weight_hh_l0_reverse [15, 5]"));
  EXPECT_THAT(parameters("return self.m(x, more[0], more[0])[0]", "torch.rand(4, 2, 6), torch.rand(5, 2, 3)",
                         "self.m = nn.MultiheadAttention(6, 2, kdim=3, vdim=3)"),
              ElementsAre("m.q_proj_weight [6, 6]", "m.k_proj_weight [6, 3]", "m.v_proj_weight [6, 3]",
                          "m.in_proj_bias [18]", "m.out_proj.weight [6, 6]", "m.out_proj.bias [6]"));
}

TEST(ShippedModules, copies_of_a_layer_have_parameters_of_their_own) {
  const auto program = read(module_text("return self.m(x)", "torch.rand(3, 2, 4)",
                                        "layer = nn.TransformerEncoderLayer(4, 2, 3, dropout=0.0)\n"
                                        "self.m = nn.TransformerEncoder(layer, 2)"));
  ASSERT_EQ(program.parameters.size(), 24U);
  const auto& first = program.parameters[0];
  const auto& second = program.parameters[12];
  EXPECT_EQ(first.name, "m.layers.0.self_attn.in_proj_weight");
  EXPECT_EQ(second.name, "m.layers.1.self_attn.in_proj_weight");
  EXPECT_NE(first.value, second.value);
  EXPECT_EQ(first.distribution->text(), second.distribution->text());
}

TEST(ShippedModules, have_the_type_that_they_are_given) {
  const auto program = read(module_text("return self.m(x)[0]", "torch.rand(4, 2, 3, dtype=torch.float16)",
                                        "self.m = nn.LSTM(3, 5, dtype=torch.float16)"));
  EXPECT_EQ(program.graph.values[program.outputs[0]].type.dtype, ElementType::float16);
}

TEST(ShippedModules, nodes_have_the_place_of_the_call) {
  const auto text = module_text("return self.m(x)[0]", "torch.rand(2, 2, 3)", "self.m = nn.RNN(3, 5)");
  const auto program = read(text);
  const auto own = read(module_text("return self.m(x)[0]", "torch.rand(2, 2, 3)", "self.m = nn.Linear(3, 5)"));
  for (const auto& node : program.graph.nodes) {
    if (node.op == "select") continue;  // the file's own [0]
    EXPECT_EQ(node.where.line, own.graph.nodes[0].where.line) << node.op;
    EXPECT_EQ(node.module, "m") << node.op;
  }
}

TEST(ShippedModules, are_all_named_once_and_parse) {
  std::vector<std::string> names;
  for (const auto& one : shipped_names()) names.push_back(one.path);
  EXPECT_GT(names.size(), 30U);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(find_shipped("torch.nn._Layers"), nullptr);
}

TEST(ReadAssignment, gives_a_new_tensor) {
  const auto shape = [](const std::string& body) { return shape_of(body, "torch.rand(4, 6), torch.rand(4, 6)"); };
  EXPECT_EQ(shape("x = x.clone()\nx[1] = 0\nreturn x"), "[4, 6]");
  EXPECT_EQ(shape("x = x.clone()\nx[..., 1::2] = x[:, :3].clone()\nreturn x"), "[4, 6]");
  EXPECT_EQ(shape("x = x.clone()\nx[..., 1::2] = x[:, ::2]\nx[2:] = x[:2]\nx[0] = x[0]\nreturn x"), "[4, 6]");
  EXPECT_THAT(shape("x = x.clone()\nx[..., 1::2] = x[:, :3]\nreturn x"), HasSubstr("what may overlap it"));
  EXPECT_THAT(shape("x = x.clone()\nx[1:].copy_(x[:-1])\nreturn x"), HasSubstr("what may overlap it"));
  EXPECT_THAT(shape("x = x.clone()\nz = x.T\nx[1] = 0\nreturn z"), HasSubstr("changed in place"));
  EXPECT_THAT(shape("x[9] = 0\nreturn x"), HasSubstr("out of range"));
  EXPECT_EQ(shape("x = x.clone()\nx[[0, 2], [1, 1]] = 0\nreturn x"), "[4, 6]");
  EXPECT_THAT(shape("z = x[None].clone()\nz[torch.tensor([0]), :, torch.tensor([1])] = 0\nreturn z"),
              HasSubstr("where they stand side by side"));
  EXPECT_THAT(shape("z = x[None].clone()\nz[0, :, torch.tensor([1])] = x[:1]\nreturn z"),
              HasSubstr("where they stand side by side"));
  EXPECT_THAT(shape("x = x.clone()\nx[x > 0, torch.tensor([1])] = 0\nreturn x"),
              HasSubstr("one mask is assigned to, and no other tensor beside it"));
  EXPECT_THAT(shape("x = x.clone()\nx[x > 0] = x[0]\nreturn x"), HasSubstr("use torch.where for others"));
  EXPECT_THAT(shape("return x.index_put((x > 0,), x)"), HasSubstr("tensors of integers stand side by side"));
}

TEST(KnownNumbers, of_no_parameter_and_of_nothing_in_forward) {
  EXPECT_THAT(shape_of("return x * self.n", "torch.rand(4, 6)", "self.n = nn.Parameter(torch.ones(1)).item()"),
              HasSubstr("item is refused"));
  EXPECT_THAT(shape_of("return x * self.n.item()", "torch.rand(4, 6)", "self.n = torch.ones(1)"),
              HasSubstr("item is refused"));
}

TEST(ReadSorting, of_rows_that_are_not_too_long) {
  EXPECT_EQ(shape_of("return x.sort(descending=True).values", "torch.rand(2, 4096)"), "[2, 4096]");
  EXPECT_THAT(shape_of("return x.sort()[0]", "torch.rand(2, 4097)"),
              HasSubstr("rows of at most 4096 elements are sorted, and of others at most 64 are chosen"));
  EXPECT_EQ(shape_of("return x.topk(64)[1]", "torch.rand(2, 4097)"), "[2, 64]");
  EXPECT_THAT(shape_of("return x.quantile(x.mean())", "torch.rand(2, 6)"), HasSubstr("one number from 0 to 1"));
  EXPECT_THAT(shape_of("return x.scatter_reduce(0, x.long(), x, 'min')", "torch.rand(2, 6)"),
              HasSubstr("write 'sum', 'prod', 'mean', 'amax', 'amin'"));
}

TEST(ReadInterpolation, says_what_it_does_not_do) {
  const auto refusal = [](const std::string& rest) {
    return shape_of("return F.interpolate(x, " + rest + ")", "torch.rand(1, 2, 6, 6)");
  };
  EXPECT_THAT(refusal("size=3, mode='bilinear', antialias=True"), HasSubstr("F.interpolate with antialias"));
  EXPECT_THAT(refusal("scale_factor=1.4, recompute_scale_factor=True"), HasSubstr("try: give the size"));
  EXPECT_THAT(refusal("size=3, mode='lanczos'"), HasSubstr("'bicubic' or 'area'"));
}

TEST(DeepCopy, of_what_is_held_twice_and_of_what_is_too_deep) {
  EXPECT_EQ(shape_of("return x * self.a[0] + self.a[1]", "torch.rand(4, 6)",
                     "import copy\nw = nn.Parameter(torch.ones(6))\nself.w = copy.deepcopy([w, w])[0]\n"
                     "self.a = copy.deepcopy({'k': (2, 3)})['k']"),
            "[4, 6]");
  EXPECT_THAT(shape_of("return x", "torch.rand(4, 6)",
                       "import copy\nd = []\nfor i in range(5000):\n    d = [d]\ncopy.deepcopy(d)"),
              HasSubstr("deepcopy() of more than 300 values in one another"));
}

TEST(ReadTexts, split_join_and_compare) {
  EXPECT_EQ(shape_of("parts = ' 4-5 '.strip().split('-')\nreturn x.view(int(len(parts)), -1)", "torch.rand(4, 6)"),
            "[2, 12]");
  EXPECT_EQ(shape_of("n = len('-'.join(['a', 'b']).replace('a', 'xyz').upper())\nreturn x.view(n - 1, -1)",
                     "torch.rand(4, 6)"),
            "[4, 6]");
  EXPECT_EQ(shape_of("return x if 'conv2d'.startswith('conv') and '12'.isdigit() else x.T", "torch.rand(4, 6)"),
            "[4, 6]");
}

TEST(KnownNumbers, of_tensors_before_forward) {
  EXPECT_EQ(
      shape_of("return x[:, : self.n]", "torch.rand(4, 6)",
               "self.n = int([v.item() for v in torch.linspace(0, 4, 3)][1] + torch.arange(1, 9, 2)[1].item() / 3)"),
      "[4, 3]");
}

}  // namespace
}  // namespace kw::program_test
