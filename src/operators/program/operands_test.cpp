// How the tensors of a module are drawn: by a rule that a device knows too, or as an operator's own function makes
// them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/program/parts.hpp"

namespace kw {
namespace {

using Numbers = DrawRule::Numbers;

Problem problem_of(const std::string& module, const std::string& path) {
  const auto text = program_problem_text({module, path, "", "", {}, {.bytes = 1e9, .steps = 1e9}});
  KW_CHECK(text.has_value(), "{}", text.error().to_string());
  auto problem = parse_problem(*text, path);
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

/// A module with inputs of every kind.
Problem problem_of_kinds() {
  return problem_of(R"(import torch
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
)",
                    "some/kinds.py");
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
  /// As large as the primary has them: N = 64, M = 32.
  [[nodiscard]] InputValues not_drawn() const {
    InputValues operands;
    for (const auto& input : problem_.inputs)
      operands.emplace_back(input.axes.size() == 2 ? std::size_t{64 * 32} : std::size_t{32}, -7.0F);
    return operands;
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
  const InputValues drawn = not_drawn();
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
  const InputValues drawn = not_drawn();
  InputValues operands = drawn;
  Rng rng(5);
  given.shape(problem_, workload, {}, operands, rng, serial_for);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool shaped = is_free_operand(problem_, i) && !given.rule(problem_, workload, i);
    EXPECT_EQ(operands[i] != drawn[i], shaped) << problem_.inputs[i].name;
  }
}

/// Of several parts each, which threads take as they come.
TEST_F(Operands, that_are_computed_of_draws_are_so_on_any_threads) {
  const Problem symmetric = problem_of(R"(import torch
import torch.nn as nn
class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)
N = 600
def get_inputs():
    a = torch.rand(N, N)
    a = (a + a.T) / 2
    b = torch.tril(torch.rand(N, N))
    return [a, b]
)",
                                       "some/symmetric.py");
  const auto drawn_by = [&](const ParallelFor& parallel) {
    InputValues operands(2, std::vector<float>(600 * 600, -7.0F));
    Rng rng(5);
    program_checks().settle(symmetric, symmetric.primary(), operands, rng, parallel);
    return operands;
  };
  const InputValues operands = drawn_by(serial_for);
  EXPECT_EQ(drawn_by([](std::int64_t count, const std::function<void(std::int64_t)>& body) {
              while (count-- > 0) body(count);
            }),
            operands);
  float largest = 0;
  for (std::size_t i = 0; i < 600; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      ASSERT_EQ(operands[0][600 * i + k], operands[0][600 * k + i]) << i << ", " << k;
      ASSERT_EQ(operands[1][600 * k + i], 0.0F) << k << ", " << i;
      largest = std::max({largest, operands[0][600 * i + k], operands[1][600 * i + k]});
    }
  }
  EXPECT_GT(largest, 0.95F);
  EXPECT_LT(largest, 1.0F);
}

}  // namespace
}  // namespace kw
