// Fused programs against the same programs as they were, both run by the interpreter of stages.

#include "program/stages/fuse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "program/stages/access.hpp"
#include "program/stages/collapse.hpp"
#include "program/stages/lower.hpp"
#include "program/stages/row_groups.hpp"
#include "program/stages/split.hpp"
#include "program/testing/module_text.hpp"
#include "program/testing/stage_interpreter.hpp"

namespace kw {
namespace {

using program_test::module_text;
using program_test::StageValues;

struct Fusion {
  const char* forward;
  const char* inputs;
  std::size_t stages;  ///< that are left
};

constexpr std::array k_fusions = {
    Fusion{"torch.relu(x * 2 + 1) - x", "torch.randn(3, 4)", 1},
    Fusion{"torch.relu(F.linear(x, y, z)) * 0.5 + x.sum()", "torch.randn(2, 3), torch.randn(4, 3), torch.randn(4)", 2},
    Fusion{"F.softmax(x, dim=1)", "torch.randn(3, 4, 2)", 3},
    Fusion{"F.gelu(x).permute(1, 0).reshape(2, 6).contiguous()", "torch.randn(3, 4)", 1},
    Fusion{"torch.relu(F.conv2d(x, y, z, padding=1)).reshape(2, -1)",
           "torch.randn(2, 4, 3, 3), torch.randn(6, 4, 3, 3), torch.randn(6)", 1},
    Fusion{"F.max_pool2d(torch.relu(F.conv2d(x, y, z)), 2)",
           "torch.randn(2, 4, 6, 6), torch.randn(6, 4, 3, 3), torch.randn(6)", 2},
    Fusion{"F.mish(F.mish(F.linear(x, y, z)))", "torch.randn(2, 3), torch.randn(4, 3), torch.randn(4)", 1},
    Fusion{"F.layer_norm(torch.tanh(x), (4,), y, z)", "torch.randn(3, 4), torch.randn(4), torch.randn(4)", 3},
    Fusion{"torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), torch.cumsum(x, dim=1)), dim=1)",
           "torch.randn(3, 4)", 2},
    Fusion{"torch.cumsum(x.flip(1), dim=1) * 2", "torch.randn(3, 4)", 1},
    Fusion{"torch.argmax(x * y, dim=1) + 1", "torch.randn(3, 4), torch.randn(3, 4)", 1},
    Fusion{"(x.exp() @ y).mean(dim=1)", "torch.randn(3, 4), torch.randn(4, 5)", 3},
    Fusion{"torch.cat([x, y * 2], dim=1).sum(dim=1)", "torch.randn(3, 4), torch.randn(3, 2)", 1},
    Fusion{"F.group_norm(torch.tanh(x), 2, y, z)", "torch.randn(2, 4, 3, 3), torch.randn(4), torch.randn(4)", 3},
    Fusion{"x.mean() + x.std() * torch.amax(x, dim=(0, 2, 1))", "torch.randn(3, 4, 2)", 4},
    Fusion{"F.avg_pool2d(x, 3, stride=2, padding=1).flatten(1) ** 2", "torch.randn(1, 2, 6, 7)", 1},
};

std::vector<double> drawn(const TensorType& type, std::size_t input) {
  std::vector<double> elements(static_cast<std::size_t>(element_count(type.shape).value().value()));
  for (std::size_t k = 0; k < elements.size(); ++k) {
    elements[k] = is_floating(type.dtype) ? 0.8 * std::sin(0.7 * static_cast<double>(k) + static_cast<double>(input))
                                          : static_cast<double>(k * 7 % 4);
  }
  return elements;
}

/// Of every output, in its order.
std::vector<std::vector<double>> outputs_of(const StageProgram& program) {
  StageValues values;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].use == BufferUse::input) values[i] = drawn(program.buffers[i].type, i);
  }
  program_test::run_stages(program, values);
  std::vector<std::vector<double>> outputs;
  for (const auto output : program.outputs) outputs.push_back(values.at(output));
  return outputs;
}

void expect_same(const StageProgram& plain, const StageProgram& fused, const std::string& what) {
  const auto expected = outputs_of(plain);
  const auto actual = outputs_of(fused);
  ASSERT_EQ(expected.size(), actual.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i].size(), actual[i].size()) << what;
    for (std::size_t k = 0; k < expected[i].size(); ++k) {
      ASSERT_NEAR(actual[i][k], expected[i][k], 1e-9 * (1.0 + std::fabs(expected[i][k])))
          << what << ", output " << i << ", element " << k;
    }
  }
}

std::string module_of(const Fusion& fusion) {
  std::size_t inputs = 0;
  const std::string_view all = fusion.inputs;
  for (std::size_t at = 0; (at = all.find("torch.", at)) != std::string_view::npos; ++at) ++inputs;
  std::string body;
  if (inputs > 1) body += "y = more[0]\n";
  if (inputs > 2) body += "z = more[1]\n";
  return module_text(body + "return " + fusion.forward, fusion.inputs);
}

TEST(Fusion, computes_the_same_in_fewer_stages) {
  for (const auto& fusion : k_fusions) {
    const auto program = read_program(module_of(fusion), "m.py");
    ASSERT_TRUE(program) << fusion.forward << ": " << program.error().to_string();
    const auto plain = lower(program->graph, program->outputs);
    ASSERT_TRUE(plain) << fusion.forward;
    const auto result = fused(*plain);
    EXPECT_EQ(result.program.stages.size(), fusion.stages) << fusion.forward << "\n"
                                                           << stages_text(result.program, program->graph);
    EXPECT_EQ(result.fusions.size(), plain->stages.size() - result.program.stages.size());
    expect_same(*plain, result.program, fusion.forward);
  }
}

TEST(CollapsedAxes, leave_every_element_in_its_place) {
  for (const auto& fusion : k_fusions) {
    const auto program = read_program(module_of(fusion), "m.py");
    ASSERT_TRUE(program);
    const auto plain = lower(program->graph, program->outputs);
    ASSERT_TRUE(plain);
    auto collapsed = fused(*plain).program;
    for (auto& stage : collapsed.stages) collapse_axes(stage);
    expect_same(*plain, collapsed, fusion.forward);
  }
}

TEST(CollapsedAxes, are_one_where_all_is_dense) {
  const auto program =
      read_program(module_text("return torch.relu(x) + more[0]", "torch.randn(3, 4, 1, 5), torch.randn(5)"), "m.py");
  ASSERT_TRUE(program);
  auto result = fused(*lower(program->graph, program->outputs));
  collapse_axes(result.program.stages[0]);
  EXPECT_EQ(result.program.stages[0].axes.size(), 2U);
  EXPECT_EQ(result.program.stages[0].axes[0].extent.text(), "12");
}

TEST(SplitReductions, give_the_same_result) {
  for (const auto& fusion : k_fusions) {
    for (const std::int64_t parts : {2, 3, 7, 40}) {
      const auto program = read_program(module_of(fusion), "m.py");
      ASSERT_TRUE(program);
      const auto plain = lower(program->graph, program->outputs);
      ASSERT_TRUE(plain);
      auto split = fused(*plain).program;
      for (std::size_t i = split.stages.size(); i-- > 0;) {
        const auto before = split.stages.size();
        const auto made = split_reduction(split, i, parts);
        EXPECT_EQ(split.stages.size(), before + (made > 1 ? 1 : 0));
        EXPECT_LE(made, 2 * parts);
      }
      expect_same(*plain, split, fusion.forward);
    }
  }
}

/// Stages in another order.
StageProgram reordered(const StageProgram& program, const std::vector<std::vector<std::size_t>>& order) {
  StageProgram result = program;
  result.stages.clear();
  for (const auto& group : order) {
    for (const auto index : group) result.stages.push_back(program.stages[index]);
  }
  return result;
}

TEST(RowGroups, compute_the_same_in_their_order) {
  const RowRules all{[](const Stage&) { return true; }, [](const Stage&, double) { return true; }};
  std::size_t members = 0;
  for (const auto& fusion : k_fusions) {
    const auto program = read_program(module_of(fusion), "m.py");
    ASSERT_TRUE(program);
    const auto plain = lower(program->graph, program->outputs);
    ASSERT_TRUE(plain);
    auto grouped = fused(*plain).program;
    std::vector<std::vector<std::size_t>> lists;
    for (const auto& group : row_groups(grouped, all)) {
      lists.push_back(group.stages);
      members += group.stages.size() - 1;
    }
    expect_same(*plain, reordered(grouped, in_running_order(grouped, lists)), fusion.forward);
  }
  EXPECT_GE(members, 6U);  // softmax, layer norm and group norm are three stages each
}

TEST(Fusion, keeps_a_function_out_of_the_inner_loop_of_a_product) {
  const auto program =
      read_program(module_text("return x.exp() @ more[0]", "torch.randn(30, 40), torch.randn(40, 50)"), "m.py");
  ASSERT_TRUE(program);
  EXPECT_EQ(fused(*lower(program->graph, program->outputs)).program.stages.size(), 2U);
}

// At another binding the axis has several elements, and the smallest of them still is one.
TEST(Fusion, tells_a_single_element_from_an_axis_that_is_one_now) {
  const auto text = "n = 1\n" + module_text("return x + torch.amin(x, 0, True)", "torch.randn(n)");
  const auto program = read_program(text, "m.py");
  ASSERT_TRUE(program) << program.error().to_string();
  const auto result = fused(*lower(program->graph, program->outputs));
  EXPECT_EQ(result.program.stages.size(), 2U) << stages_text(result.program, program->graph);
}

TEST(Fusion, keeps_what_the_module_gives_back) {
  const auto program = read_program(module_text("y = x * 2\nreturn y, torch.relu(y)", "torch.randn(3, 4)"), "m.py");
  ASSERT_TRUE(program);
  const auto plain = lower(program->graph, program->outputs);
  ASSERT_TRUE(plain);
  const auto result = fused(*plain);
  EXPECT_EQ(result.program.stages.size(), 2U);
  expect_same(*plain, result.program, "two outputs");
}

}  // namespace
}  // namespace kw
