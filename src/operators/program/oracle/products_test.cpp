// Matrix products: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Products : public testing::TestWithParam<OracleCase> {};

TEST_P(Products, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Products,
    testing::Values(
        OracleCase{"torch.matmul(x, y)",
                   "torch.rand(2, 3), torch.rand(3, 4)",
                   {0, -2.8125, 2.875, 0.0625, -3.375, -1.125, 0.0625, 2.3125}},
        OracleCase{"torch.matmul(x, y)", "torch.rand(3), torch.rand(3)", {-2.375}},
        OracleCase{"torch.matmul(x, y)",
                   "torch.rand(3), torch.rand(2, 3, 4)",
                   {0, -2.8125, 2.875, 0.0625, -1.875, -4.6875, 1, 3.5}},
        OracleCase{"torch.matmul(x, y)", "torch.rand(2, 2, 3), torch.rand(3)", {-2.375, -1.8125, -2.3125, -1.75}},
        OracleCase{
            "torch.matmul(x, y)",
            "torch.rand(2, 1, 2, 3), torch.rand(3, 3, 2)",
            {1.25,   -1.5625, -2.6875, -0.4375, 0.3125, -2.5,    -1.9375, 0.3125, -0.625,  -3.4375, -1.1875, 1.0625,
             0.8125, -1.4375, -3.125,  -0.3125, 0.0625, -2.1875, -2.1875, 0.625,  -0.6875, -2.9375, -1.25,   1.5625}},
        OracleCase{
            "torch.mm(x, y)", "torch.rand(2, 5), torch.rand(5, 3)", {0.5625, -1.3125, 3.1875, 3.375, 2.8125, -3.0625}},
        OracleCase{"torch.bmm(x, y)",
                   "torch.rand(2, 2, 3), torch.rand(2, 3, 4)",
                   {0, -2.8125, 2.875, 0.0625, -3.375, -1.125, 0.0625, 2.3125, -1.875, -4.125, 1.0625, 3.0625, -1.875,
                    0.9375, 1.625, -0.875}},
        OracleCase{"torch.mv(x, y)", "torch.rand(4, 3), torch.rand(3)", {-2.375, -1.8125, -2.3125, -1.75}},
        OracleCase{"torch.dot(x, y)", "torch.rand(6), torch.rand(6)", {-2.75}},
        OracleCase{"torch.outer(x, y)",
                   "torch.rand(3), torch.rand(4)",
                   {-1.5, -3, 4, 2.5, -0.9375, -1.875, 2.5, 1.5625, -0.375, -0.75, 1, 0.625}},
        OracleCase{"torch.addmm(x, y, more[1], beta=0.5, alpha=2)",
                   "torch.rand(4), torch.rand(3, 2), torch.rand(2, 4)",
                   {-8.125, -4.375, -0.625, 3.125, 7, 2.5, -2, -6.5, -1.25, -1.25, -1.25, -1.25}},
        OracleCase{"torch.baddbmm(x, y, more[1], beta=-1, alpha=0.5)",
                   "torch.rand(2, 1, 3), torch.rand(2, 2, 4), torch.rand(2, 4, 3)",
                   {2.25, 0.59375, -0.53125, 3.65625, -0.40625, -0.21875, -1.53125, -1.09375, -2.78125, 2.34375,
                    -2.28125, -2.65625}},
        OracleCase{"torch.addmm(torch.log(x), y, more[1], beta=0)",
                   "torch.rand(3, 4), torch.rand(3, 2), torch.rand(2, 4)",
                   {-3.5625, -1.875, -0.1875, 1.5, 4, 1.5625, -0.875, -3.3125, -0.125, -0.3125, -0.5, -0.6875}},
        OracleCase{"torch.addmv(x, y, more[1], alpha=3)",
                   "torch.rand(3), torch.rand(3, 2), torch.rand(2)",
                   {-3.6875, 3.25, 0.625}},
        OracleCase{"F.linear(x, y, more[1])",
                   "torch.rand(2, 3, 4), torch.rand(5, 4), torch.rand(5)",
                   {-3.4375, 0.625,  5.75,   -2.9375, -4.1875, 7.375,   -3.5625, -2.8125, 9.625,   -1.3125,
                    -5.1875, 5,      1.375,  -1.1875, -3.75,   -3.9375, 1.875,   4.5,     -2.4375, -4.0625,
                    0.5,     -3.375, 0.1875, 1.625,   -4.375,  -0.375,  -1.1875, -2,      2.5,     4.875}},
        OracleCase{
            "F.linear(x, y)", "torch.rand(3, 4), torch.rand(2, 4)", {-2.6875, 0.625, 8.125, -3.5625, -4.4375, 5}},
        OracleCase{"F.linear(x, y)", "torch.rand(3, 4), torch.rand(4)", {-2.6875, 8.125, -4.4375}},
        OracleCase{"F.linear(x, y)", "torch.rand(4), torch.rand(3, 4)", {-2.6875, 0.625, 5}},
        OracleCase{
            "F.bilinear(x, y, more[1], more[2])",
            "torch.rand(2, 3), torch.rand(2, 4), torch.rand(5, 3, 4), torch.rand(5)",
            {9.171875, 10.734375, 2.734375, -10.046875, -14.0625, -2.671875, -4.28125, -1.640625, 5.515625, 2.578125}},
        OracleCase{"x.t() @ y",
                   "torch.rand(3, 2), torch.rand(3, 4)",
                   {-3, -4.125, 3.25, 2.125, -4.125, -3.5625, 2.3125, 2.875}},
        OracleCase{"x @ y.transpose(-1, -2)",
                   "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (4, 3))",
                   {2, 2, 2, 2, 2, 2, 2, 2}}));

}  // namespace
}  // namespace kw::program_oracle_test
