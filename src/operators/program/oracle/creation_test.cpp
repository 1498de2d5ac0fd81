// Tensors made of numbers: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Creation : public testing::TestWithParam<OracleCase> {};

TEST_P(Creation, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Creation,
    testing::Values(OracleCase{"torch.arange(5)", "torch.rand(1)", {0, 1, 2, 3, 4}},
                    OracleCase{"torch.arange(1, 9, 3)", "torch.rand(1)", {1, 4, 7}},
                    OracleCase{"torch.arange(5, 0, -2)", "torch.rand(1)", {5, 3, 1}},
                    OracleCase{"torch.arange(0.5, 2.0, 0.5)", "torch.rand(1)", {0.5, 1, 1.5}},
                    OracleCase{"torch.linspace(-1, 1, 5)", "torch.rand(1)", {-1, -0.5, 0, 0.5, 1}},
                    OracleCase{
                        "torch.linspace(0.0, 1.0, 4)", "torch.rand(1)", {0, 0.3333333333333, 0.6666666666667, 1}},
                    OracleCase{"torch.linspace(3, 3, 1)", "torch.rand(1)", {3}},
                    OracleCase{"torch.eye(2, 3)", "torch.rand(1)", {1, 0, 0, 0, 1, 0}},
                    OracleCase{"torch.zeros(3)", "torch.rand(1)", {0, 0, 0}},
                    OracleCase{"torch.ones(2, 2)", "torch.rand(1)", {1, 1, 1, 1}},
                    OracleCase{"torch.full((3,), 2.5)", "torch.rand(1)", {2.5, 2.5, 2.5}},
                    OracleCase{"torch.ones_like(x)", "torch.rand(1)", {1}},
                    OracleCase{"torch.full_like(x, 7)", "torch.rand(1)", {7}},
                    OracleCase{"torch.zeros(2, dtype=torch.int64)", "torch.rand(1)", {0, 0}},
                    OracleCase{"torch.tril(torch.ones(3, 3))", "torch.rand(1)", {1, 0, 0, 1, 1, 0, 1, 1, 1}},
                    OracleCase{"torch.cat([torch.zeros(2), torch.arange(3)])", "torch.rand(1)", {0, 0, 0, 1, 2}},
                    OracleCase{"torch.tensor([[1.5, -2.0], [3.0, 4e-3]])", "torch.rand(1)", {1.5, -2, 3, 0.004}},
                    OracleCase{"torch.tensor([True, False])", "torch.rand(1)", {1, 0}}));

}  // namespace
}  // namespace kw::program_oracle_test
