#include "program/reader/program_reader.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "program/errors.hpp"
#include "program/testing/module_text.hpp"

namespace kw::program_test {
namespace {

using testing::ElementsAre;

Program read(const std::string& text, const ProgramOptions& options = {}) {
  auto program = read_program(text, "m.py", options);
  if (!program) ADD_FAILURE() << program.error().to_string();
  return program ? *std::move(program) : Program{};
}

std::vector<std::string> names(const Program& program, ParameterKind kind) {
  std::vector<std::string> found;
  for (const auto& one : program.parameters) {
    if (one.kind == kind) found.push_back(one.name);
  }
  return found;
}

std::vector<std::string> ops(const Program& program) {
  std::vector<std::string> found;
  for (const auto& node : program.graph.nodes) found.push_back(node.op);
  return found;
}

const TensorType& output(const Program& program) {
  return program.graph.values[program.outputs.front()].type;
}

ElementType dtype_of(const std::string& expression, const std::string& input) {
  return output(read(module_text("return " + expression, input))).dtype;
}

TEST(ProgramReader, parameters_are_named_as_in_state_dict) {
  const auto program = read(module_text("return self.bn(self.conv(x)) * self.scale", "torch.rand(2, 3, 8, 8)",
                                        "self.conv = nn.Conv2d(3, 4, 3)\n"
                                        "self.bn = nn.BatchNorm2d(4)\n"
                                        "self.scale = nn.Parameter(torch.ones(4, 1, 1) * 2)\n"
                                        "self.register_buffer('kept', torch.zeros(1))\n"
                                        "self.register_buffer('lost', torch.zeros(1), persistent=False)"));
  EXPECT_THAT(names(program, ParameterKind::parameter),
              ElementsAre("scale", "conv.weight", "conv.bias", "bn.weight", "bn.bias"));
  EXPECT_THAT(names(program, ParameterKind::buffer),
              ElementsAre("kept", "bn.running_mean", "bn.running_var", "bn.num_batches_tracked"));
  EXPECT_THAT(names(program, ParameterKind::unsaved), ElementsAre("lost"));
  EXPECT_EQ(program.parameters[0].distribution->text(), "constant(2)");
}

TEST(ProgramReader, parameters_have_the_type_that_a_module_is_given) {
  const auto type_after = [](const std::string& init) {
    const auto program = read(module_text("return self.fc(x.to(self.fc.weight.dtype))", "torch.rand(2, 3)", init));
    for (const auto& one : program.parameters) EXPECT_EQ(one.type.dtype, output(program).dtype) << one.name;
    EXPECT_EQ(program.parameters[0].distribution->text(), "uniform[-0.57735027,0.57735027)") << init;
    return output(program).dtype;
  };
  EXPECT_EQ(type_after("self.fc = nn.Linear(3, 4)"), ElementType::float32);
  EXPECT_EQ(type_after("self.fc = nn.Linear(3, 4, dtype=torch.float16)"), ElementType::float16);
  EXPECT_EQ(type_after("self.fc = nn.Linear(3, 4).bfloat16()"), ElementType::bfloat16);
  EXPECT_EQ(type_after("self.fc = nn.Linear(3, 4)\nself.half()"), ElementType::float16);
  EXPECT_EQ(type_after("self.fc = nn.Linear(3, 4).to('cuda', torch.bfloat16)"), ElementType::bfloat16);
  EXPECT_EQ(type_after("self.fc = nn.Linear(3, 4).half().to('cuda').float()"), ElementType::float32);
}

TEST(ProgramReader, refuses_types_that_parameters_cannot_have) {
  const auto refusal = [](const std::string& body, const std::string& init) {
    const auto program = read_program(module_text(body, "torch.rand(2, 3)", init), "m.py");
    return program ? std::string("read") : program.error().to_string();
  };
  EXPECT_THAT(refusal("return self.fc(x)", "self.fc = nn.Linear(3, 4, dtype=torch.int32)"),
              testing::HasSubstr("nn.Linear with parameters that are not floating [program.type]"));
  EXPECT_THAT(refusal("return self.fc.half()(x.half())", "self.fc = nn.Linear(3, 4)"),
              testing::HasSubstr("half() of a module in forward() [program.unsupported]"));
}

TEST(ProgramReader, a_key_that_a_dictionary_has_gets_the_later_value) {
  for (const char* made :
       {"dict({'n': 4, 'm': 1}, n=8)", "{'n': 4, 'n': 8}", "{key: 4 + 4 * i for i, key in enumerate(['n', 'n'])}",
        "OrderedDict([('n', 4), ('n', 8)])"}) {
    const auto program = read("from collections import OrderedDict\n" +
                              module_text("return self.a(x)", "torch.rand(2, 4)",
                                          std::string("sizes = ") + made + "\nself.a = nn.Linear(4, sizes['n'])"));
    EXPECT_EQ(output(program).shape[1].value(), 8) << made;
  }
}

TEST(ProgramReader, a_shared_parameter_has_two_names_and_one_value) {
  const auto program = read(module_text("return self.b(self.a(x))", "torch.rand(2, 4)",
                                        "self.a = nn.Linear(4, 4, bias=False)\n"
                                        "self.b = nn.Linear(4, 4, bias=False)\nself.b.weight = self.a.weight"));
  EXPECT_THAT(names(program, ParameterKind::parameter), ElementsAre("a.weight", "b.weight"));
  EXPECT_EQ(program.parameters[0].source, program.parameters[1].source);
}

TEST(ProgramReader, initialisation_is_what_init_chose) {
  const auto program = read(module_text("return self.fc(x)", "torch.rand(2, 4)",
                                        "self.fc = nn.Linear(4, 12)\nnn.init.xavier_uniform_(self.fc.weight)\n"
                                        "self.fc.bias.data.fill_(0.5)"));
  EXPECT_EQ(program.parameters[0].distribution->text(), "uniform[-0.61237244,0.61237244)");
  EXPECT_EQ(program.parameters[1].distribution->text(), "constant(0.5)");
}

TEST(ProgramReader, integers_of_the_file_are_axes_and_others_follow) {
  const std::string file = "N = 4\nsizes = (3, 5)\nM = N * 2\nflag = True\nhalf = 0.5\n" +
                           module_text("return x", "torch.rand(N, M, *sizes)");
  const auto program = read(file);
  EXPECT_EQ(shape_text(output(program).shape), "[N, 2*N, sizes_0, sizes_1]");
  EXPECT_EQ(program.axes.size(), 3U);
  EXPECT_EQ(values_of(output(read(file, {"Model", {{"N", 7}}})).shape), (std::vector<std::int64_t>{7, 14, 3, 5}));
  const auto changed = read(file, {"Model", {{"M", 11}, {"sizes_1", 2}}});
  EXPECT_EQ(values_of(output(changed).shape), (std::vector<std::int64_t>{4, 11, 3, 2}));
  EXPECT_EQ(read_program(file, "m.py", {"Model", {{"K", 1}}}).error().code, errc::program_axis);
}

/// Python's `/` makes real numbers, which int() and the like cut off.
TEST(ProgramReader, integers_that_were_divided_follow_from_axes_too) {
  const auto size = [](const std::string& number) {
    const auto program = read("N = 6\nH = 10\nW = 7\n" +
                              module_text("return x.new_zeros(" + number + ")", "torch.rand(N, 4 * H, 3 * W)"));
    return shape_text(output(program).shape);
  };
  EXPECT_EQ(size("int(x.shape[0] * H / 5)"), "[(H*N)/5]");
  EXPECT_EQ(size("int(x.shape[1] / 4)"), "[H]");
  EXPECT_EQ(size("int(x.shape[1] / (H / 5))"), "[20]");
  EXPECT_EQ(size("int(x.shape[0] * 4 * H / (56 / 7 / 2))"), "[H*N]");
  EXPECT_EQ(size("int(x.shape[0] * 1.5)"), "[9]");
  EXPECT_EQ(size("int(x.shape[0] * 2.0 + 1)"), "[2*N + 1]");
  EXPECT_EQ(size("math.floor(x.shape[2] / 2)"), "[(3*W)/2]");
  EXPECT_EQ(size("math.ceil(x.shape[2] / 3)"), "[W]");
  EXPECT_EQ(size("math.ceil(x.shape[2] / 2)"), "[11]");
  EXPECT_EQ(size("round(float(H) * 3)"), "[3*H]");
  EXPECT_EQ(size("round(H / 4)"), "[2]");
  EXPECT_EQ(size("int((H // 4.0) * 2)"), "[2*(H/4)]");
  EXPECT_EQ(size("20 + int(-H / 4)"), "[18]");
  EXPECT_EQ(size("20 + math.floor(-H / 4)"), "[((0 - H)/4) + 20]");
}

TEST(ProgramReader, mode_decides_what_dropout_and_batch_norm_do) {
  const auto text = module_text("return self.bn(self.drop(x)) if self.training else self.bn(self.drop(x)) + 1",
                                "torch.rand(2, 4)", "self.drop = nn.Dropout(0.5)\nself.bn = nn.BatchNorm1d(4)");
  const auto train = read(text);
  EXPECT_TRUE(train.is_random());
  EXPECT_TRUE(std::get<bool>(train.graph.nodes[1].find("training")->value));
  const auto eval = read(text, {"Model", {}, ProgramMode::eval});
  EXPECT_FALSE(eval.is_random());
  EXPECT_FALSE(std::get<bool>(eval.graph.nodes[1].find("training")->value));
  EXPECT_THAT(ops(eval), ElementsAre("dropout", "batch_norm1d", "add"));
}

TEST(ProgramReader, inputs_say_how_they_are_drawn) {
  const auto program = read(module_text("return x * more[1] + more[2]",
                                        "torch.rand(2, 3) * 4 - 2, torch.randint(0, 2, (3,)).bool(), 0.25, "
                                        "torch.rand(2, 3).softmax(dim=-1), torch.randn(3) / 2"));
  ASSERT_EQ(program.inputs.size(), 5U);
  EXPECT_EQ(program.inputs[0].distribution->text(), "uniform[-2,2)");
  EXPECT_EQ(program.inputs[1].distribution->text(), "randint[0,2)");
  EXPECT_EQ(program.inputs[1].type->dtype, ElementType::boolean);
  EXPECT_FALSE(program.inputs[2].type);
  EXPECT_EQ(program.inputs[2].number, 0.25);
  EXPECT_FALSE(program.inputs[3].distribution);
  EXPECT_EQ(program.inputs[4].distribution->text(), "normal(0,0.5)");
}

TEST(ProgramReader, literal_keeps_all_of_its_numbers) {
  const auto program =
      read(module_text("return x + torch.tensor([[0.123456789, 1e-30] * 20, [True, -3] * 20])", "torch.rand(40)"));
  const auto text = std::get<std::string>(program.sources.nodes.back().find("values")->value);
  EXPECT_EQ(std::count(text.begin(), text.end(), ','), 79) << text;
  EXPECT_TRUE(text.starts_with("[[0.123456789, 1e-30, 0.123456789")) << text;
  EXPECT_TRUE(text.ends_with(", 1, -3]]")) << text;
}

TEST(ProgramReader, types_are_promoted_as_pytorch_does) {
  EXPECT_EQ(dtype_of("x + 1", "torch.zeros(2, dtype=torch.int32)"), ElementType::int32);
  EXPECT_EQ(dtype_of("x + 1.5", "torch.zeros(2, dtype=torch.int32)"), ElementType::float32);
  EXPECT_EQ(dtype_of("x + torch.tensor(1.5)", "torch.zeros(2, dtype=torch.float16)"), ElementType::float16);
  EXPECT_EQ(dtype_of("x + torch.ones(1)", "torch.zeros(2, dtype=torch.float16)"), ElementType::float32);
  EXPECT_EQ(dtype_of("x.half() + x.bfloat16()", "torch.zeros(2)"), ElementType::float32);
  EXPECT_EQ(dtype_of("x / 2", "torch.zeros(2, dtype=torch.long)"), ElementType::float32);
  EXPECT_EQ(dtype_of("x.sum()", "torch.zeros(2, dtype=torch.bool)"), ElementType::int64);
  EXPECT_EQ(dtype_of("(x > 0) & (x < 2)", "torch.zeros(2)"), ElementType::boolean);
  EXPECT_EQ(dtype_of("True * x", "torch.zeros(2, dtype=torch.uint8)"), ElementType::uint8);
}

TEST(ProgramReader, a_change_in_place_is_seen_by_every_name) {
  const auto program = read(module_text("y = x\nx += 1\nreturn y * 2", "torch.rand(2)"));
  EXPECT_THAT(ops(program), ElementsAre("add", "mul"));
  const auto relu = read(module_text("y = x * 1\nF.relu(y, inplace=True)\nreturn y", "torch.rand(2)"));
  EXPECT_EQ(relu.outputs.front(), relu.graph.nodes.back().outputs.front());
}

TEST(ProgramReader, numbers_on_the_left_keep_their_side) {
  const auto program = read(module_text("return 1 - x, 2 ** x, 1 / x, 3 * x", "torch.rand(2)"));
  EXPECT_THAT(ops(program), ElementsAre("rsub", "pow", "div", "mul"));
  EXPECT_TRUE(std::holds_alternative<Extent>(program.graph.nodes[1].arguments[0].value));
  EXPECT_TRUE(std::holds_alternative<ValueRef>(program.graph.nodes[3].arguments[0].value));
}

TEST(ProgramReader, python_is_followed_while_it_is_constant) {
  const auto program =
      read(module_text("n = 0\n"
                       "while True:\n"
                       "    n += 1\n"
                       "    if n == 2:\n"
                       "        continue\n"
                       "    if not 0 < n < 5:\n"
                       "        break\n"
                       "    x = x + n\n"
                       "table = {f'k{i}': i for i in range(3)}\n"
                       "first, *rest = [v for k, v in table.items() if k != 'k0']\n"
                       "return x * (first + len(rest))",
                       "torch.rand(2)"));
  EXPECT_THAT(ops(program), ElementsAre("add", "add", "add", "mul"));
  EXPECT_EQ(std::get<Extent>(program.graph.nodes[3].arguments[1].value).value(), 2);
}

}  // namespace
}  // namespace kw::program_test
