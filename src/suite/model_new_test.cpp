#include "suite/model_new.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/codegen.hpp"
#include "hardware/device_file.hpp"
#include "problem/operator.hpp"
#include "program/reader/program_reader.hpp"

namespace kw {
namespace {

using testing::HasSubstr;

const std::string k_module = R"(import torch
import torch.nn as nn

N = 8
M = 6

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(M, 4), nn.ReLU())

    def forward(self, xs, scale):
        return self.layers(xs[1]) * scale, torch.argmax(xs[0], dim=1)

def get_inputs():
    return [[torch.rand(N, 3), torch.rand(N, M)], 2.5]

def get_init_inputs():
    return []
)";

struct Exported {
  Problem problem;
  Program program;
  Bundle bundle;
  Result<std::string> text;
};

/// The plain kernel of `module`; the program is that of `program_of`.
Exported exported(const std::string& module, const std::string& program_of) {
  const auto toml = find_operator("program")->format.from_module({module, "m.py", "", "", {}, {1e12, 1e12}});
  KW_CHECK(toml.has_value(), "{}", toml.error().to_string());
  Exported made{parse_problem(*toml, "m.py").value(), read_program(program_of, "m.py").value(), {}, std::string()};
  const auto device = find_device_facts("h200").value();
  made.bundle = emit_bundle(made.problem, "cuda", "plain", device).value();
  const auto candidate = make_candidate(made.bundle).value();
  const Axes& axes = made.problem.primary().axes;
  made.text = model_new_text({module,
                              made.program,
                              made.problem,
                              axes,
                              made.bundle,
                              plan_launches(candidate, made.problem, axes, device).value(),
                              build_definitions(candidate, axes, device).value(),
                              {"Problem m, run r."}});
  return made;
}

TEST(ModelNew, is_the_module_with_another_forward) {
  const auto made = exported(k_module, k_module);
  ASSERT_TRUE(made.text) << made.text.error().to_string();
  const std::string& text = *made.text;
  EXPECT_THAT(text, HasSubstr("# Problem m, run r.\nimport torch\n"));
  EXPECT_THAT(text, HasSubstr("class Model(nn.Module):"));
  EXPECT_THAT(text, HasSubstr("class ModelNew(Model):\n    def forward(self, *args, **kwargs):"));
  EXPECT_THAT(text, HasSubstr("return held.clone() if held.data_ptr() % 16 else held"));
  EXPECT_THAT(text, HasSubstr(R"(_kw_number("scale", given["scale"], 2.5))"));
  EXPECT_THAT(text, HasSubstr(R"(given["xs"][0], torch.float32, (8, 3, ))"));
  EXPECT_THAT(text, HasSubstr(R"(given["xs"][1], torch.float32, (8, 6, ))"));
  EXPECT_THAT(text, HasSubstr(R"(_kw_held(self, "layers.0.weight"), torch.float32, (4, 6, ))"));
  EXPECT_THAT(text, HasSubstr("return (outputs[0].to(torch.float32), outputs[1].to(torch.int64))"));
  EXPECT_THAT(text, HasSubstr(made.bundle.source)) << "kernels stay readable";
  for (const auto& launch : made.bundle.launches)
    EXPECT_THAT(text, HasSubstr("_kw_launch(\"" + launch.kernel + "\", ("));
}

TEST(ModelNew, keeps_whatever_stands_in_a_source) {
  Exported made = exported(k_module, k_module);
  made.bundle.source = "// ''' and \"\n";
  const auto text = model_new_text({k_module,
                                    made.program,
                                    made.problem,
                                    made.problem.primary().axes,
                                    made.bundle,
                                    LaunchPlan{},
                                    {},
                                    {"two\nlines"}});
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_THAT(*text, HasSubstr(R"(_kw_source = "// ''' and \"\n")"));
  EXPECT_THAT(*text, HasSubstr("# two lines\n"));
}

TEST(ModelNew, makes_again_what_forward_makes) {
  std::string module = k_module;
  module.replace(module.find("self.layers(xs[1]) * scale"), 26,
                 "torch.maximum(self.layers(xs[1]), torch.tensor(0.25))");
  auto made = exported(module, module);
  ASSERT_TRUE(made.text) << made.text.error().to_string();
  EXPECT_THAT(*made.text, HasSubstr("torch.full((), 0.25), torch.float32, ()"));
  module.replace(module.find("torch.tensor(0.25)"), 18, "torch.tensor([1.0, 2.0, 3.0, 4.0])");
  made = exported(module, module);
  ASSERT_FALSE(made.text);
  EXPECT_THAT(made.text.error().message, HasSubstr("forward() itself makes the tensor constant_"));
}

TEST(ModelNew, refuses_a_problem_that_is_not_the_modules) {
  std::string other = k_module;
  other.replace(other.find("self.layers = "), 11, "self.others");
  other.replace(other.find("self.layers(xs"), 11, "self.others");
  const auto made = exported(k_module, other);
  ASSERT_FALSE(made.text);
  EXPECT_EQ(made.text.error().code, errc::suite_export);
  EXPECT_EQ(made.text.error().message, "layers_0_weight is no tensor of the module");
}

}  // namespace
}  // namespace kw
