// Extrema with their places: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Extrema : public testing::TestWithParam<OracleCase> {};

TEST_P(Extrema, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Extrema,
    testing::Values(
        OracleCase{"torch.max(x)", "torch.rand(2, 3, 4)", {2}}, OracleCase{"torch.min(x)", "torch.rand(2, 3, 4)", {-2}},
        OracleCase{
            "torch.max(x, 1)", "torch.rand(2, 3, 4)", {1, 1.75, 1.25, 2, 1.5, 1, 1.75, 0.75, 1, 1, 2, 2, 1, 2, 2, 0}},
        OracleCase{"torch.min(x, 2)", "torch.rand(2, 3, 4)", {-2, -1.75, -0.25, -1.5, -2, -1.75, 0, 2, 0, 0, 1, 3}},
        OracleCase{"torch.max(torch.round(x), 0)", "torch.rand(2, 3, 4)", {-2, -1, -0, 1, 2, 2, -1, -0, -0, 1, 2, 2,
                                                                           0,  0,  0,  1, 1, 0, 1,  1,  0,  1, 1, 0}},
        OracleCase{"torch.argmax(x)", "torch.rand(2, 3, 4)", {11}},
        OracleCase{"torch.argmax(torch.round(x), 1)", "torch.rand(2, 3, 4)", {1, 1, 2, 2, 1, 2, 2, 0}},
        OracleCase{"torch.argmin(torch.round(x), -1)", "torch.rand(2, 3, 4)", {0, 2, 0, 0, 1, 3}},
        OracleCase{"torch.argmax(x, 1, keepdim=True)", "torch.rand(2, 3, 4)", {1, 1, 2, 2, 1, 2, 2, 0}},
        OracleCase{"torch.argmin(x)", "torch.rand(2, 3, 4)", {0}},
        OracleCase{"torch.argmax(x, 1)", "torch.randint(0, 3, (3, 5))", {2, 0, 1}},
        OracleCase{"torch.max(x, 0)", "torch.randint(0, 3, (3, 5))", {2, 2, 2, 2, 2, 1, 2, 0, 1, 2}},
        OracleCase{"torch.topk(x, 2)", "torch.rand(2, 5)", {1, 0.25, 1.75, 0.5, 4, 3, 0, 4}},
        OracleCase{"torch.topk(x, 3, dim=0, largest=False)",
                   "torch.rand(5, 2)",
                   {-2, -1.25, -1.75, -1, -0.5, 0.25, 0, 0, 3, 3, 1, 1}},
        OracleCase{"torch.max(torch.log(x), 1)", "torch.rand(2, 3)", {k_nan, 0.5596157879354, 0, 2}},
        OracleCase{"torch.argmin(torch.log(x), 1)", "torch.rand(2, 3)", {0, 0}}));

}  // namespace
}  // namespace kw::program_oracle_test
