// Numbers that follow from many terms are computed in parts: they are what the same terms give row by row.

#include "operators/program/oracle/partial_folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

struct TwoWays {
  const char* at_once;
  const char* by_rows;
};
void PrintTo(const TwoWays& two, std::ostream* out) {
  *out << two.at_once;
}
constexpr const char* k_inputs = "torch.rand(200, 300), torch.rand(200, 300) + 1, torch.randint(0, 3, (200,))";

class Parts : public testing::TestWithParam<TwoWays> {};

TEST_P(Parts, give_what_rows_give) {
  static_assert(200 * 300 > 2 * program_oracle::k_terms_of_part && 300 < program_oracle::k_terms_of_part);
  const auto [at_once, by_rows] = GetParam();
  const auto program = program_of(std::string(at_once) + ", " + by_rows, k_inputs);
  const auto leaves = leaves_of(program);
  const auto answers = evaluate_graph(program.graph, leaves, program.outputs);
  ASSERT_TRUE(answers.has_value()) << answers.error().to_string();
  ASSERT_EQ((*answers)[0].values.size(), 1U);
  const double expected = (*answers)[1].values.front();
  EXPECT_NEAR((*answers)[0].values.front(), expected, 1e-11 * std::max(1.0, std::fabs(expected)));
  expect_elements_are_those_of_the_whole(program, leaves);
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Parts,
    testing::Values(TwoWays{"torch.sum(x)", "x.sum(1).sum()"},
                    TwoWays{"torch.nansum(torch.log(x + 0.1))", "torch.log(x + 0.1).nansum(1).sum()"},
                    TwoWays{"torch.mean(x)", "x.mean(1).mean()"},
                    TwoWays{"torch.prod(y * 0.001 + 0.9995)", "(y * 0.001 + 0.9995).prod(1).prod()"},
                    TwoWays{"torch.amax(x * y)", "torch.amax(torch.amax(x * y, 1))"},
                    TwoWays{"torch.amin(x * y)", "torch.amin(torch.amin(x * y, 1))"},
                    TwoWays{"torch.any(x * y > 4.4)", "torch.any(torch.any(x * y > 4.4, 1))"},
                    TwoWays{"torch.all(x < 1.9)", "torch.all(torch.all(x < 1.9, 1))"},
                    TwoWays{"torch.norm(x)", "torch.sqrt((x * x).sum(1).sum())"},
                    TwoWays{"torch.norm(x, p=1)", "torch.abs(x).sum(1).sum()"},
                    TwoWays{"torch.norm(x, p=3)", "torch.pow(torch.pow(torch.abs(x), 3).sum(1).sum(), 1 / 3)"},
                    TwoWays{"torch.norm(x, p=0)", "(x != 0).sum(1).sum()"},
                    TwoWays{"torch.norm(x, p=float('inf'))", "torch.amax(torch.amax(torch.abs(x), 1))"},
                    TwoWays{"torch.norm(x, p=float('-inf'))", "torch.amin(torch.amin(torch.abs(x), 1))"},
                    TwoWays{"F.mse_loss(x, y)", "((x - y) * (x - y)).sum(1).sum() / 60000"},
                    TwoWays{"F.l1_loss(x, y, reduction='sum')", "torch.abs(x - y).sum(1).sum()"},
                    TwoWays{"F.kl_div(x, y, reduction='batchmean')", "(y * (torch.log(y) - x)).sum(1).sum() / 200"},
                    TwoWays{"F.cross_entropy(x, more[1])", "F.cross_entropy(x, more[1], reduction='none').mean()"},
                    TwoWays{"F.cross_entropy(x, y, reduction='sum')",
                            "F.cross_entropy(x, y, reduction='none').sum()"}));

}  // namespace
}  // namespace kw::program_oracle_test
