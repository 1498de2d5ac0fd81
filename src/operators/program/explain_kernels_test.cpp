#include "operators/program/explain_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/program/parts.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

using program_test::module_text;
using testing::HasSubstr;

ExplainedKernels explained(const std::string& result, const std::string& inputs) {
  constexpr double k_unlimited = 1e30;
  const auto text =
      program_problem_text({module_text("return " + result, inputs), "m.py", "", "", {}, {k_unlimited, k_unlimited}});
  KW_CHECK(text.has_value(), "{}", text.error().to_string());
  const auto problem = parse_problem(*text, "m.py");
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  auto kernels = explain_kernels(*problem);
  KW_CHECK(kernels.has_value(), "{}", kernels.error().to_string());
  return *std::move(kernels);
}

const ExplainedBound& bound_on(const ExplainedKernels& kernels, const std::string& device) {
  for (const auto& bound : kernels.bounds) {
    if (bound.device == device) return bound;
  }
  ADD_FAILURE() << "no bound on " << device;
  return kernels.bounds.front();
}

TEST(ExplainKernels, names_the_family_and_the_launches_of_each_group) {
  const auto kernels = explained("torch.relu(x @ more[0])", "torch.rand(64, 64), torch.rand(64, 64)");
  ASSERT_EQ(kernels.launches.size(), 2U);
  for (const auto& one : kernels.launches) {
    EXPECT_EQ(one.list.fusions, std::vector<std::string>{"matmul_0 into relu_1"}) << one.target;
    ASSERT_EQ(one.list.groups.size(), 1U) << one.target;
    EXPECT_EQ(one.list.groups[0].family, "contract") << one.target;
    EXPECT_EQ(one.list.groups[0].stages.size(), 1U) << one.target;
  }
  EXPECT_EQ(kernels.launches[0].list.groups[0].launches, 2U) << "one packs, one multiplies";
  const auto text = kernels_text(kernels);
  EXPECT_THAT(text, HasSubstr("stages\n  matmul, line"));
  EXPECT_THAT(text, HasSubstr("fused\n  matmul_0 into relu_1\n"));
  EXPECT_THAT(text, HasSubstr("launches   opencl on this machine's CPU: 2 in 1 groups\n  contract 2  "));
}

/// Families of the only group, and how many stages it has.
std::string families_of(const ExplainedKernels& kernels) {
  std::string text;
  for (const auto& one : kernels.launches) {
    for (const auto& group : one.list.groups) text += fmt::format("{}:{} ", group.family, group.stages.size());
    text += "| ";
  }
  return text;
}

TEST(ExplainKernels, tries_what_contract_refuses_as_rows) {
  EXPECT_EQ(families_of(explained("x @ more[0]", "torch.rand(2, 300), torch.rand(300, 3)")), "lanes:1 | reduce:1 | ");
  EXPECT_EQ(families_of(explained("x @ x", "torch.randint(0, 9, (64, 64))")), "lanes:1 | reduce:1 | ");
  EXPECT_EQ(families_of(explained("x @ more[0]", "torch.rand(64, 64), torch.rand(64, 64)")),
            "contract:1 | contract:1 | ");
}

TEST(ExplainKernels, says_which_limit_binds) {
  // 2 * 4096^3 operations on 3 * 4096^2 floats, and one addition for three floats.
  const auto product = explained("x @ more[0]", "torch.rand(4096, 4096), torch.rand(4096, 4096)");
  const auto sum = explained("x + more[0]", "torch.rand(4096, 4096), torch.rand(4096, 4096)");
  // 989.5 TFLOP/s for f16, half of it for f32; 4.8 TB/s.
  EXPECT_NEAR(bound_on(product, "h200").arithmetic_seconds, 277.8e-6, 1e-6);
  EXPECT_NEAR(bound_on(product, "h200").memory_seconds, 41.9e-6, 1e-6);
  EXPECT_THAT(kernels_text(product), HasSubstr("h200       277.8 us by arithmetic"));
  EXPECT_EQ(bound_on(sum, "h200").arithmetic_seconds, 0.0);
  EXPECT_THAT(kernels_text(sum), HasSubstr("h200       41.94 us by memory"));
}

}  // namespace
}  // namespace kw
