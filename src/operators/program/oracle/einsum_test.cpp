// Einstein's sum: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Einsum : public testing::TestWithParam<OracleCase> {};

TEST_P(Einsum, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Einsum,
    testing::Values(
        OracleCase{"torch.einsum('ij,jk->ik', x, y)",
                   "torch.rand(2, 3), torch.rand(3, 4)",
                   {0, -2.8125, 2.875, 0.0625, -3.375, -1.125, 0.0625, 2.3125}},
        OracleCase{"torch.einsum('ij,jk', x, y)",
                   "torch.rand(2, 3), torch.rand(3, 4)",
                   {0, -2.8125, 2.875, 0.0625, -3.375, -1.125, 0.0625, 2.3125}},
        OracleCase{"torch.einsum('ii->i', x)", "torch.rand(4, 4)", {-2, 1.75, 1.25, 0.75}},
        OracleCase{"torch.einsum('ii', x)", "torch.rand(4, 4)", {1.75}},
        OracleCase{"torch.einsum('bi,bj->b', x, y)", "torch.rand(2, 3), torch.rand(2, 4)", {3.75, 7.5}},
        OracleCase{"torch.einsum('...ij,...jk->...ik', x, y)",
                   "torch.rand(2, 2, 3), torch.rand(3, 4)",
                   {0, -2.8125, 2.875, 0.0625, -3.375, -1.125, 0.0625, 2.3125, -0.375, -2.625, 2.5625, 0.3125, -3.75,
                    -0.9375, -0.25, 2.5625}},
        OracleCase{"torch.einsum('...i,...i->...', x, y)",
                   "torch.rand(2, 3, 4), torch.rand(3, 4)",
                   {-2.6875, -3.5625, 0.625, -3.1875, -3.375, -2.75}},
        OracleCase{"torch.einsum('bijl,lk->bijk', x, y)",
                   "torch.rand(1, 2, 2, 3), torch.rand(3, 4)",
                   {0, -2.8125, 2.875, 0.0625, -3.375, -1.125, 0.0625, 2.3125, -0.375, -2.625, 2.5625, 0.3125, -3.75,
                    -0.9375, -0.25, 2.5625}},
        OracleCase{"torch.einsum('ba,b...', x, y)",
                   "torch.rand(2, 3), torch.rand(2, 2, 2)",
                   {-1.625, -1.4375, -1.25, -2.9375, -1.625, -0.3125, 4.25, 3.5, 2.75, 2.9375, 3.3125, 3.6875}},
        OracleCase{"torch.einsum('i,j,k->kji', x, y, more[1])",
                   "torch.rand(2), torch.rand(3), torch.rand(2)",
                   {1.125, 0.703125, 2.25, 1.40625, -3, -1.875, -0, -0, -0, -0, 0, 0}},
        OracleCase{"torch.einsum('i...->...', x)", "torch.rand(3, 2, 2)", {-1.25, 1, -1, 1.25}},
        OracleCase{"torch.einsum('bhld,bhmd->bhlm', x, y)",
                   "torch.rand(1, 2, 2, 3), torch.rand(1, 2, 3, 3)",
                   {-2.375, 3, -3.3125, -1.8125, -0.375, -1.0625, 1.875, -3.8125, 1.125, 0.1875, 0.125, 1.125}}));

}  // namespace
}  // namespace kw::program_oracle_test
