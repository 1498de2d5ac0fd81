// Elements named by indices: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Indexing : public testing::TestWithParam<OracleCase> {};

TEST_P(Indexing, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Indexing,
    testing::Values(
        OracleCase{"torch.gather(x, 1, y)",
                   "torch.rand(3, 4), torch.randint(0, 3, (2, 3))",
                   {-1.25, -0.5, -2, 1.75, -1.75, 1}},
        OracleCase{"torch.gather(x, 0, y)",
                   "torch.rand(3, 4), torch.randint(0, 3, (5, 2))",
                   {1, 0.5, -2, 1.75, -0.25, -1.25, 1, 0.5, -2, 1.75}},
        OracleCase{"torch.index_select(x, 1, y)",
                   "torch.rand(3, 4), torch.randint(0, 3, (5,))",
                   {-1.25, -0.5, -2, -1.25, -0.5, 1.75, -1.75, 1, 1.75, -1.75, 0.5, 1.25, -0.25, 0.5, 1.25}},
        OracleCase{"torch.index_select(x, 0, y)",
                   "torch.rand(3, 2, 2), torch.randint(0, 3, (2,))",
                   {1, 1.75, -1.75, -1, -0.25, 0.5, 1.25, 2}},
        OracleCase{"torch.take_along_dim(x, y, 1)",
                   "torch.rand(2, 4), torch.randint(0, 3, (2, 3))",
                   {-1.25, -0.5, -2, 1.75, -1.75, 1}},
        OracleCase{"x.scatter(1, y, more[1])",
                   "torch.rand(3, 4), torch.randint(0, 3, (2, 3)), torch.rand(3, 3)",
                   {0.75, -0.75, 0, 0.25, -1.25, 1.5, -2, -1, -0.25, 0.5, 1.25, 2}},
        OracleCase{"x.scatter(0, y, 9.0)",
                   "torch.rand(3, 4), torch.randint(0, 3, (1, 4))",
                   {-2, -1.25, 9, 0.25, 9, 1.75, -1.75, 9, -0.25, 9, 1.25, 2}},
        OracleCase{"x.scatter_add(1, y, more[1])",
                   "torch.rand(3, 4), torch.randint(0, 3, (2, 3)), torch.rand(3, 3)",
                   {-1.25, -2, -0.5, 0.25, -0.25, 3.25, -3.75, -1, -0.25, 0.5, 1.25, 2}},
        OracleCase{"x.scatter_reduce(1, y, more[1], 'sum')",
                   "torch.rand(2, 4), torch.randint(0, 3, (2, 4)), torch.rand(2, 4)",
                   {-1.25, -0.5, -0.5, 0.25, -0.25, 1.25, -3.5, -1}},
        OracleCase{"x.scatter_reduce(1, y, more[1], 'prod', include_self=False)",
                   "torch.rand(2, 4), torch.randint(0, 3, (2, 4)), torch.rand(2, 4)",
                   {0.75, -1.125, 0, 0.25, -1.25, -0.5, -0.5, -1}},
        OracleCase{"x.scatter_reduce(1, y, more[1], 'mean')",
                   "torch.rand(2, 4), torch.randint(0, 3, (2, 4)), torch.rand(2, 4)",
                   {-0.625, -0.1666666666667, -0.25, 0.25, -0.125, 0.625, -1.166666666667, -1}},
        OracleCase{"x.scatter_reduce(1, y, more[1], reduce='mean', include_self=False)",
                   "torch.rand(2, 4), torch.randint(0, 3, (2, 4)), torch.rand(2, 4)",
                   {0.75, 0.375, 0, 0.25, -1.25, -0.5, -0.875, -1}},
        OracleCase{"x.scatter_reduce(1, y, more[1], 'amax')",
                   "torch.rand(2, 4), torch.randint(0, 3, (2, 4)), torch.rand(2, 4)",
                   {0.75, 1.5, 0, 0.25, 1, 1.75, 0.25, -1}},
        OracleCase{"x.scatter_reduce(1, y, more[1], 'amin', include_self=False)",
                   "torch.rand(2, 4), torch.randint(0, 3, (2, 4)), torch.rand(2, 4)",
                   {0.75, -0.75, 0, 0.25, -1.25, -0.5, -2, -1}},
        OracleCase{"x.scatter(1, y, more[1], reduce='add')",
                   "torch.rand(2, 4), torch.randint(0, 3, (2, 4)), torch.rand(2, 4)",
                   {-1.25, -0.5, -0.5, 0.25, -0.25, 1.25, -3.5, -1}},
        OracleCase{"x.scatter(1, y, more[1], reduce='multiply')",
                   "torch.rand(2, 4), torch.randint(0, 3, (2, 4)), torch.rand(2, 4)",
                   {-1.5, 1.40625, -0, 0.25, -1.25, -0.875, 0.875, -1}},
        OracleCase{"x.scatter_reduce(0, y, more[1], 'mean', include_self=False)",
                   "torch.rand(3, 4), torch.randint(0, 3, (2, 3)), torch.rand(2, 3)",
                   {-2, -1.25, -0.25, 0.25, 0.375, 1.75, -1.75, -1, -0.25, -1, 1.25, 2}},
        OracleCase{"x[y]",
                   "torch.rand(3, 4), torch.randint(0, 3, (2, 3))",
                   {1, 1.75, -1.75, -1, -0.25, 0.5, 1.25, 2, -2, -1.25, -0.5, 0.25,
                    1, 1.75, -1.75, -1, -0.25, 0.5, 1.25, 2, -2, -1.25, -0.5, 0.25}},
        OracleCase{"x[:, y]", "torch.rand(3, 4), torch.randint(0, 3, (2,))", {-1.25, -0.5, 1.75, -1.75, 0.5, 1.25}},
        OracleCase{"x[y, more[1]]",
                   "torch.rand(3, 4), torch.randint(0, 3, (2, 1)), torch.randint(0, 3, (3,))",
                   {-1.75, 1, 1.75, 1.25, -0.25, 0.5}},
        OracleCase{"x[:, y - 3]", "torch.rand(2, 4), torch.randint(0, 3, (3,))", {-0.5, 0.25, -1.25, -1.75, -1, 1.75}},
        OracleCase{"x[:, y, more[1]]",
                   "torch.rand(2, 3, 4), torch.randint(0, 3, (3,)), torch.randint(0, 3, (3,))",
                   {-1.75, -0.25, -1.25, -1.25, 0.25, -0.75}},
        OracleCase{"F.embedding(y, x)",
                   "torch.rand(3, 4), torch.randint(0, 3, (2, 2))",
                   {1, 1.75, -1.75, -1, -0.25, 0.5, 1.25, 2, -2, -1.25, -0.5, 0.25, 1, 1.75, -1.75, -1}},
        OracleCase{
            "F.embedding(y, x, max_norm=2.0)",
            "torch.rand(3, 4), torch.randint(0, 3, (3,))",
            {0.7016463908302, 1.227881183953, -1.227881183953, -0.7016463908302, -0.2062842407411, 0.4125684814822,
             1.031421203706, 1.650273925929, -1.650273925929, -1.031421203706, -0.4125684814822, 0.2062842407411}},
        OracleCase{"F.one_hot(x, 4)", "torch.randint(0, 3, (2, 3))", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0,
                                                                      1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}}));

}  // namespace
}  // namespace kw::program_oracle_test
