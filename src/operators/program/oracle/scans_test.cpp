// Running sums, products and extrema: values as PyTorch has them in double precision, of the numbers of
// testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Scans : public testing::TestWithParam<OracleCase> {};

TEST_P(Scans, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Scans,
    testing::Values(
        OracleCase{"torch.cumsum(x, 1)", "torch.rand(2, 3, 4)", {-2,    -1.25, -0.5,  0.25, -1,   0.5,   -2.25, -0.75,
                                                                 -1.25, 1,     -1,    1.25, -1.5, -0.75, 0,     0.75,
                                                                 0,     -2.75, -1.25, 0.25, 0.25, -1.75, 0.5,   -1.5}},
        OracleCase{"torch.cumsum(x, 1, dtype=torch.int64)",
                   "torch.rand(2, 3, 4)",
                   {-2, -1, 0, 0, -1, 0, -1, -1, -1, 0, 0, 1, -1, 0, 0, 0, 0, -2, -1, 0, 0, -1, 0, -1}},
        OracleCase{"torch.cumsum(x, -1)",
                   "torch.rand(2, 3, 4)",
                   {-2,   -3.25, -3.75, -3.5, 1,   2.75, 1,     0,     -0.25, 0.25, 1.5, 3.5,
                    -1.5, -2.25, -2.25, -1.5, 1.5, -0.5, -1.75, -2.25, 0.25,  1.25, 3,   1.25}},
        OracleCase{"torch.cumprod(x, 0)",
                   "torch.rand(2, 3, 4)",
                   {-2, -1.25,  -0.5, 0.25,   1,   1.75, -1.75,  -1,  -0.25,   0.5, 1.25,   2,
                    3,  0.9375, -0,   0.1875, 1.5, -3.5, 2.1875, 0.5, -0.0625, 0.5, 2.1875, -3.5}},
        OracleCase{"torch.logcumsumexp(x * 200, 2)",
                   "torch.rand(2, 3, 4)",
                   {-400, -250, -100, 50,  200, 350, 350, 350, -50, 100, 250, 400, -300, -150, 7.175095973164e-66,
                    150,  300,  300,  300, 300, 50,  200, 350, 350}},
        OracleCase{"torch.logcumsumexp(x, 1)",
                   "torch.rand(2, 3, 4)",
                   {-2,
                    -1.25,
                    -0.5,
                    0.25,
                    1.048587351574,
                    1.798587351574,
                    -0.2480709186546,
                    0.5019290813454,
                    1.289898513252,
                    2.039898513252,
                    1.451765469284,
                    2.201765469284,
                    -1.5,
                    -0.75,
                    0,
                    0.75,
                    1.548587351574,
                    -0.4980709186546,
                    0.2519290813454,
                    1.001929081345,
                    1.789898513252,
                    1.201765469284,
                    1.951765469284,
                    1.063780863337}},
        OracleCase{"torch.cumsum(x.flip(2), 2).flip(2)",
                   "torch.rand(2, 3, 4)",
                   {-3.5, -1.5, -0.25, 0.25, 0,     -1,    -2.75, -1,   3.5,  3.75, 3.25, 2,
                    -1.5, 0,    0.75,  0.75, -2.25, -3.75, -1.75, -0.5, 1.25, 1,    0,    -1.75}},
        OracleCase{"torch.cummax(torch.round(x), 1)",
                   "torch.rand(3, 5)",
                   {-2, -1, -0, 0, 1, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}},
        OracleCase{"torch.cummin(torch.round(x), 0)", "torch.rand(4, 4)", {-2, -1, -0, 0,  -2, -1, -2, -1, -2, -1, -2,
                                                                           -1, -2, -1, -2, -1, 0,  0,  0,  0,  0,  0,
                                                                           1,  1,  0,  0,  1,  1,  3,  3,  1,  1}},
        OracleCase{"torch.cumsum(x, 0)", "torch.randint(0, 3, (3, 4))", {0, 1, 2, 0, 1, 3, 2, 1, 3, 3, 3, 3}},
        OracleCase{"torch.cumsum(x, 1)", "torch.randint(0, 3, (3, 4)).bool()", {1, 1, 1, 2, 0, 0, 1, 1, 0, 1, 1, 1}}));

}  // namespace
}  // namespace kw::program_oracle_test
