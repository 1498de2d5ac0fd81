// How the tensors of a module are drawn: by a rule that a device knows too, or as an operator's own function makes
// them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/program/parts.hpp"

namespace kw {
namespace {

using Numbers = DrawRule::Numbers;

/// A module with inputs of every kind.
Problem problem_of_kinds() {
  const std::string module = R"(import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(M))
        self.fixed = torch.full((M,), 3.0)
    def forward(self, a, b, c, d, e):
        return (torch.log(a) + b * c + d) * self.weight + self.fixed + e.float()
N = 64
M = 32
def get_inputs():
    return [torch.rand(N, M) * 2 + 1, torch.randn(N, M), torch.randint(0, 5, (N, M)).float(),
            torch.rand(N, M).cumsum(1), torch.randint(0, 9, (N, M))]
)";
  const auto text = program_problem_text({module, "some/kinds.py", "", "", {}, {}});
  KW_CHECK(text.has_value(), "{}", text.error().to_string());
  auto problem = parse_problem(*text, "some/kinds.py");
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

std::size_t input_named(const Problem& problem, std::string_view name) {
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    if (problem.inputs[i].name == name) return i;
  }
  KW_CHECK(false, "there is no input {}", name);
}

class Operands : public ::testing::Test {
 protected:
  [[nodiscard]] std::optional<DrawRule> rule(std::string_view name) const {
    return given_rule(problem_, problem_.primary(), input_named(problem_, name));
  }
  Problem problem_ = problem_of_kinds();
};

TEST_F(Operands, have_rules_where_they_are_drawn_reals) {
  EXPECT_EQ(rule("a"), (DrawRule{.numbers = Numbers::uniform, .scale = 2, .shift = 1, .late_shift = 1}));
  EXPECT_EQ(rule("b"), DrawRule{});
  EXPECT_EQ(rule("c"), std::nullopt) << "whole numbers";
  EXPECT_EQ(rule("d"), std::nullopt) << "what is computed of a draw";
  EXPECT_EQ(rule("e"), std::nullopt) << "integers";
  EXPECT_EQ(rule("weight"), (DrawRule{.numbers = Numbers::uniform, .scale = 1, .shift = 0.5F, .late_shift = 0.5F}))
      << "trained";
  EXPECT_EQ(rule("fixed"), (DrawRule{.scale = 0, .shift = 3, .late_shift = 3}));
}

/// What has no rule gets its values from the operator, and what has one keeps them.
TEST_F(Operands, are_settled_where_they_have_no_rule) {
  const OperatorChecks checks = program_checks();
  const Workload& workload = problem_.primary();
  const InputValues drawn(problem_.inputs.size(), std::vector<float>(64 * 32, -7.0F));
  InputValues operands = drawn;
  Rng rng(5);
  checks.settle(problem_, workload, operands, rng, serial_for);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    EXPECT_EQ(operands[i] != drawn[i], checks.settles(problem_, workload, i)) << problem_.inputs[i].name;
    EXPECT_FALSE(checks.settles(problem_, workload, i) && checks.rule(problem_, workload, i));
  }
  EXPECT_TRUE(checks.settles(problem_, workload, input_named(problem_, "e")));
  EXPECT_TRUE(checks.rule(problem_, workload, input_named(problem_, "weight")));
}

/// Every operand gets its values once: by a rule, from the operator, or as the distribution says.
TEST_F(Operands, of_get_inputs_are_drawn_as_given_by_rule_or_by_shape) {
  const OwnDistribution& given = program_distributions().front();
  ASSERT_EQ(given.name, "as_given");
  const Workload& workload = problem_.primary();
  const InputValues drawn(problem_.inputs.size(), std::vector<float>(64 * 32, -7.0F));
  InputValues operands = drawn;
  Rng rng(5);
  given.shape(problem_, workload, {}, operands, rng, serial_for);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool shaped = is_free_operand(problem_, i) && !given.rule(problem_, workload, i);
    EXPECT_EQ(operands[i] != drawn[i], shaped) << problem_.inputs[i].name;
  }
}

}  // namespace
}  // namespace kw
