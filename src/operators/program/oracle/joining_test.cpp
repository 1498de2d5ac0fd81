// Joined tensors: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Joining : public testing::TestWithParam<OracleCase> {};

TEST_P(Joining, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Joining,
    testing::Values(OracleCase{"torch.cat([x, y], 1)",
                               "torch.rand(2, 3, 2), torch.rand(2, 1, 2)",
                               {-2, -1.25, -0.5, 0.25, 1, 1.75, 0.75, 1.5, -1.75, -1, -0.25, 0.5, 1.25, 2, -2, -1.25}},
                    OracleCase{"torch.cat([x, y, x], -1)",
                               "torch.rand(2, 3), torch.rand(2, 1)",
                               {-2, -1.25, -0.5, 0.75, -2, -1.25, -0.5, 0.25, 1, 1.75, 1.5, 0.25, 1, 1.75}},
                    OracleCase{"torch.stack([x, y], 1)",
                               "torch.rand(2, 3), torch.rand(2, 3)",
                               {-2, -1.25, -0.5, 0.75, 1.5, -2, 0.25, 1, 1.75, -1.25, -0.5, 0.25}},
                    OracleCase{"torch.stack([x, y], -1)",
                               "torch.rand(2, 3), torch.rand(2, 3)",
                               {-2, 0.75, -1.25, 1.5, -0.5, -2, 0.25, -1.25, 1, -0.5, 1.75, 0.25}},
                    OracleCase{"torch.stack([x, y])",
                               "torch.rand(2, 3), torch.rand(2, 3)",
                               {-2, -1.25, -0.5, 0.25, 1, 1.75, 0.75, 1.5, -2, -1.25, -0.5, 0.25}}));

}  // namespace
}  // namespace kw::program_oracle_test
