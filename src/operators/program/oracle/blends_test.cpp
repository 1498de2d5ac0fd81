// Elementwise functions of three tensors: values as PyTorch has them in double precision, of the numbers of
// testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Blends : public testing::TestWithParam<OracleCase> {};

TEST_P(Blends, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Blends,
    testing::Values(
        OracleCase{"torch.where(x > 0, x, y)", "torch.rand(2, 3), torch.rand(3)", {0.75, 1.5, -2, 0.25, 1, 1.75}},
        OracleCase{"torch.where(x > y, x, -1.0)", "torch.rand(2, 3), torch.rand(3)", {-1, -1, -0.5, -1, -1, 1.75}},
        OracleCase{"torch.lerp(x, y.expand(2, 3), 0.3)",
                   "torch.rand(2, 3), torch.rand(3)",
                   {-1.175, -0.425, -0.95, 0.4, 1.15, 0.625}},
        OracleCase{"torch.lerp(x, y.expand(2, 3), x * x)",
                   "torch.rand(2, 3), torch.rand(3)",
                   {9, 3.046875, -0.875, 0.28125, 1.5, -9.734375}},
        OracleCase{"x.masked_fill(x < y, -9.0)", "torch.rand(2, 3), torch.rand(3)", {-9, -9, -0.5, -9, -9, 1.75}},
        OracleCase{"x.masked_fill(x < y, float('-inf'))",
                   "torch.rand(2, 3), torch.rand(3)",
                   {-k_inf, -k_inf, -0.5, -k_inf, -k_inf, 1.75}},
        OracleCase{"torch.addcmul(x, y, y, value=0.5)",
                   "torch.rand(2, 3), torch.rand(3)",
                   {-1.71875, -0.125, 1.5, 0.53125, 2.125, 3.75}},
        OracleCase{"torch.addcdiv(x, y, y + 3, value=-2)",
                   "torch.rand(2, 3), torch.rand(3)",
                   {-2.4, -1.916666666667, 3.5, -0.15, 0.3333333333333, 5.75}}));

}  // namespace
}  // namespace kw::program_oracle_test
