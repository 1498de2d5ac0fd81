// Reductions over axes: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Reductions : public testing::TestWithParam<OracleCase> {};

TEST_P(Reductions, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Reductions,
    testing::Values(
        OracleCase{"torch.sum(x)", "torch.rand(2, 3, 4)", {-2.5}},
        OracleCase{"torch.sum(x, 1, dtype=torch.int32)", "torch.rand(2, 3, 4)", {-1, 0, 0, 1, 0, -1, 0, -1}},
        OracleCase{"torch.sum(x, 1)", "torch.rand(2, 3, 4)", {-1.25, 1, -1, 1.25, 0.25, -1.75, 0.5, -1.5}},
        OracleCase{"torch.sum(x, dim=(0, 2), keepdim=True)", "torch.rand(2, 3, 4)", {-5, -2.25, 4.75}},
        OracleCase{"x.sum(-1)", "torch.rand(2, 3, 4)", {-3.5, 0, 3.5, -1.5, -2.25, 1.25}},
        OracleCase{
            "torch.nansum(torch.log(x), 1)",
            "torch.rand(2, 3, 4)",
            {0, -0.1335313926245, 0.2231435513142, -0.6931471805599, -0.9808292530117, 0, -k_inf, -0.2876820724518}},
        OracleCase{
            "torch.prod(x, 1)", "torch.rand(2, 3, 4)", {0.5, -1.09375, 1.09375, -0.5, -0.5625, 1.5, -0, 0.65625}},
        OracleCase{"torch.prod(x)", "torch.rand(2, 3, 4)", {0}},
        OracleCase{"torch.mean(x, dim=(1, 2))", "torch.rand(2, 3, 4)", {0, -0.2083333333333}},
        OracleCase{"torch.mean(x)", "torch.rand(2, 3, 4)", {-0.1041666666667}},
        OracleCase{"torch.amax(x, dim=(0, 2))", "torch.rand(2, 3, 4)", {0.75, 1.75, 2}},
        OracleCase{"torch.amin(x, 1)", "torch.rand(2, 3, 4)", {-2, -1.25, -1.75, -1, -1.5, -2, -1.25, -1.75}},
        OracleCase{"torch.any(x > 1.5, 2)", "torch.rand(2, 3, 4)", {0, 1, 1, 0, 0, 1}},
        OracleCase{"torch.all(x > -1, 0)", "torch.rand(2, 3, 4)", {0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0}},
        OracleCase{"torch.logsumexp(x, (0, 1))",
                   "torch.rand(2, 3, 4)",
                   {2.263975497432, 2.399331732233, 2.425842453465, 2.479748835819}},
        OracleCase{"torch.logsumexp(x * 500, 2, keepdim=True)", "torch.rand(2, 3, 4)", {125, 875, 1000, 375, 750, 875}},
        OracleCase{"torch.norm(x)", "torch.rand(2, 3, 4)", {6.204836822995}},
        OracleCase{"torch.norm(x, p=1, dim=1)", "torch.rand(2, 3, 4)", {3.25, 3.5, 3.5, 3.25, 3.25, 3.75, 3, 3}},
        OracleCase{
            "torch.norm(x, p=3, dim=(0, 2))", "torch.rand(2, 3, 4)", {2.427943073555, 2.969009672577, 2.794723267778}},
        OracleCase{
            "torch.norm(x, p=float('inf'), dim=1)", "torch.rand(2, 3, 4)", {2, 1.75, 1.75, 2, 1.5, 2, 1.75, 1.75}},
        OracleCase{"torch.norm(x, p=0, dim=1)", "torch.rand(2, 3, 4)", {3, 3, 3, 3, 3, 3, 2, 3}},
        OracleCase{"torch.linalg.vector_norm(x, 2, dim=1)",
                   "torch.rand(2, 3, 4)",
                   {2.25, 2.207940216582, 2.207940216582, 2.25, 2.136000936329, 2.358495283014, 2.150581316761,
                    1.968501968503}},
        OracleCase{
            "torch.linalg.vector_norm(x, float('-inf'), dim=2)", "torch.rand(2, 3, 4)", {0.25, 1, 0.25, 0, 0.5, 0.25}},
        OracleCase{"torch.var(x, 1)",
                   "torch.rand(2, 3, 4)",
                   {2.270833333333, 2.270833333333, 2.270833333333, 2.270833333333, 2.270833333333, 2.270833333333,
                    2.270833333333, 1.5625}},
        OracleCase{
            "torch.var(x, dim=(0, 2), unbiased=False)", "torch.rand(2, 3, 4)", {0.765625, 1.9443359375, 1.2802734375}},
        OracleCase{"torch.std(x, dim=2)",
                   "torch.rand(2, 3, 4)",
                   {0.9682458365519, 1.645701471511, 0.9682458365519, 0.9682458365519, 1.505199322349, 1.505199322349}},
        OracleCase{"torch.std(x, 1, correction=0)",
                   "torch.rand(2, 3, 4)",
                   {1.230401921686, 1.230401921686, 1.230401921686, 1.230401921686, 1.230401921686, 1.230401921686,
                    1.230401921686, 1.02062072616}},
        OracleCase{"torch.var_mean(x, (1, 2))",
                   "torch.rand(2, 3, 4)",
                   {1.806818181818, 1.645833333333, -2.775557561563e-17, -0.2083333333333}},
        OracleCase{"torch.std_mean(x, 2, unbiased=False)",
                   "torch.rand(2, 3, 4)",
                   {0.8385254915624, 1.425219281374, 0.8385254915624, 0.8385254915624, 1.303540850913, 1.303540850913,
                    -0.875, -5.551115123126e-17, 0.875, -0.375, -0.5625, 0.3125}},
        OracleCase{
            "torch.var(x[:, :1], 1)", "torch.rand(2, 3, 4)", {k_nan, k_nan, k_nan, k_nan, k_nan, k_nan, k_nan, k_nan}},
        OracleCase{"torch.sum(x, 0)", "torch.randint(0, 3, (3, 4))", {3, 3, 3, 3}},
        OracleCase{"torch.prod(x + 1, 1)", "torch.randint(0, 3, (3, 4))", {6, 12, 18}},
        OracleCase{"torch.any(x)", "torch.randint(0, 3, (3, 4))", {1}},
        OracleCase{"torch.all(x)", "torch.randint(0, 3, (3, 4))", {0}},
        OracleCase{"torch.sum(x > 0)", "torch.randint(0, 3, (3, 4))", {8}}));

}  // namespace
}  // namespace kw::program_oracle_test
