#include "verify/checking/asked_roundings.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/required.hpp"
#include "problem/operator.hpp"
#include "problem/workload_costs.hpp"

namespace kw {
namespace {

/// A softmax of 4,100 rows, whose data are not asked as they are drawn.
Problem large_softmax() {
  const std::string module =
      "import torch\nimport torch.nn as nn\nB = 4100\nN = 1000\nclass Model(nn.Module):\n"
      "    def forward(self, x):\n        return torch.softmax(x, -1)\n"
      "def get_inputs():\n    return [torch.randn(B, N)]\n";
  constexpr double k_any = std::numeric_limits<double>::infinity();
  const auto toml = find_operator("program")->format.from_module({module, "softmax.py", "", "", {}, {k_any, k_any}});
  KW_CHECK(toml.has_value(), "{}", toml.error().to_string());
  return parse_problem(*toml, "softmax.py").value();
}

TEST(AskedRoundings, are_allowed_on_a_large_case_where_the_plain_kernel_was_lucky) {
  const Problem problem = large_softmax();
  auto suite = CheckSuite::make(problem, 1, serial_for).value();
  suite.allow_errors(problem, std::vector<std::vector<double>>(suite.cases().size(), {0.0}));
  const CheckCase& one = suite.cases().front();
  const double steps = WorkloadCosts(problem).primary().steps;
  ASSERT_EQ(one.workload, 0U);
  ASSERT_GT(steps, k_most_steps_asked);
  EXPECT_EQ(one.conditioning, 0.0);

  constexpr double k_little = 2e-5;
  const auto asked = with_roundings_asked(problem, one, steps, k_little);
  ASSERT_TRUE(asked);
  EXPECT_GT(asked->conditioning, 0.0);
  EXPECT_GT(asked->limit(0), one.limit(0));
  EXPECT_LE(asked->limit(0), 1e-3);

  EXPECT_FALSE(with_roundings_asked(problem, one, steps, 0.1)) << "so much is never allowed";
  EXPECT_FALSE(with_roundings_asked(problem, one, k_most_steps_asked, k_little)) << "was asked when it was drawn";
  EXPECT_FALSE(with_roundings_asked(problem, one, 2 * k_most_steps_asked_in_doubt, k_little)) << "takes too long";
}

}  // namespace
}  // namespace kw
