// Pooling: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Pooling : public testing::TestWithParam<OracleCase> {};

TEST_P(Pooling, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Pooling,
    testing::Values(
        OracleCase{"F.max_pool1d(x, 2)", "torch.rand(2, 2, 5)", {-1.25, 0.25, 1.75, -0.25, 2, -0.75, 1.5, -1.25}},
        OracleCase{"F.max_pool1d(x, 3, stride=2, padding=1, dilation=2)",
                   "torch.rand(1, 2, 7)",
                   {0.25, 1.75, 1.75, 1.25, 1.25, 1.25}},
        OracleCase{"F.max_pool1d(x, 2, ceil_mode=True)",
                   "torch.rand(2, 2, 5)",
                   {-1.25, 0.25, 1, 1.75, -0.25, 0.5, 2, -0.75, 0, 1.5, -1.25, -0.5}},
        OracleCase{"F.max_pool2d(x, (2, 3), stride=(1, 2), padding=(1, 1), ceil_mode=True)",
                   "torch.rand(1, 1, 3, 6)",
                   {-1.25, 0.25, 1.75, 1.75, -1, 0.5, 2, 2, -0.75, 0.75, 2, 2, -0.75, 0.75, 1.5, -2}},
        OracleCase{"F.max_pool2d(torch.round(x), 2, stride=1, return_indices=True)",
                   "torch.rand(1, 2, 3, 3)",
                   {1, 2, 1, 2, 1, 2, 2, 2, 4, 5, 4, 5, 1, 2, 7, 7}},
        OracleCase{"F.max_pool3d(x, 2, padding=1)",
                   "torch.rand(1, 1, 3, 2, 4)",
                   {-2, -0.5, 0.25, 1, 1.75, -1, 1.5, 1.25, 2, 0.25, 1.75, 0.75}},
        OracleCase{"F.avg_pool1d(x, 3, stride=2, padding=1)",
                   "torch.rand(1, 2, 6)",
                   {-1.083333333333, -0.5, 1, -0.9166666666667, -0.25, 1.25}},
        OracleCase{"F.avg_pool1d(x, 3, stride=2, padding=1, count_include_pad=False)",
                   "torch.rand(1, 2, 6)",
                   {-1.625, -0.5, 1, -1.375, -0.25, 1.25}},
        OracleCase{"F.avg_pool1d(x, 3, stride=2, ceil_mode=True)",
                   "torch.rand(1, 2, 6)",
                   {-1.25, 0.25, 1.375, -1, 0.5, 1.625}},
        OracleCase{"F.avg_pool2d(x, 3, stride=2, padding=1, ceil_mode=True)",
                   "torch.rand(1, 1, 4, 6)",
                   {-0.6666666666667, -0.25, 0.75, 0.625, -0.75, 0, 0.5555555555556, -0.2916666666667, -0.2916666666667,
                    0.125, 0.1666666666667, -0.4375}},
        OracleCase{"F.avg_pool2d(x, 3, stride=2, padding=1, ceil_mode=True, count_include_pad=False)",
                   "torch.rand(1, 1, 4, 6)",
                   {-1.5, -0.375, 1.125, 1.875, -1.125, 0, 0.5555555555556, -0.5833333333333, -0.875, 0.25,
                    0.3333333333333, -1.75}},
        OracleCase{"F.avg_pool2d(x, (2, 3), divisor_override=4)",
                   "torch.rand(2, 4, 6)",
                   {-1.6875, 1.6875, -0.9375, 0.3125, -0.1875, 0, 0.5625, -0.3125}},
        OracleCase{"F.avg_pool3d(x, 2, stride=2, padding=(1, 0, 1), ceil_mode=True)",
                   "torch.rand(1, 1, 3, 3, 3)",
                   {-0.21875, 0.125, -0.4375, -0.3125, -0.15625, 0.28125, -0.0625, -0.0625}},
        OracleCase{"F.adaptive_avg_pool1d(x, 3)", "torch.rand(1, 2, 5)", {-1.625, -0.5, 0.625, 0, -1, 0.125}},
        OracleCase{"F.adaptive_avg_pool2d(x, (2, 3))",
                   "torch.rand(1, 2, 5, 4)",
                   {-0.04166666666667, 0, 0.04166666666667, -0.4166666666667, -0.375, 0.375, 0.08333333333333, 0.125,
                    0.1666666666667, 0.4166666666667, -0.25, -0.2083333333333}},
        OracleCase{"F.adaptive_avg_pool2d(x, (None, 3))",
                   "torch.rand(1, 2, 2, 4)",
                   {-1.625, -0.875, -0.125, 1.375, 0, -1.375, 0.125, 0.875, 1.625, -1.125, -0.375, 0.375}},
        OracleCase{"F.adaptive_avg_pool3d(x, (2, 1, 2))",
                   "torch.rand(1, 1, 3, 3, 3)",
                   {-0.25, 0.1458333333333, 0.125, 0.1666666666667}},
        OracleCase{"F.adaptive_max_pool1d(x, 3)", "torch.rand(1, 2, 5)", {-1.25, 0.25, 1, 1.75, -0.25, 0.5}},
        OracleCase{
            "F.adaptive_max_pool2d(x, (2, 3), return_indices=True)",
            "torch.rand(1, 2, 5, 4)",
            {1.75, 1.75, 2, 1.5, 1.25, 2, 2, 1.75, 1.75, 2, 1.5, 1.75, 5, 5, 11, 16, 10, 11, 8, 2, 2, 8, 13, 19}},
        OracleCase{
            "F.adaptive_max_pool3d(x, 2)", "torch.rand(1, 1, 3, 3, 3)", {1.25, 2, 1.5, 1.75, 1.75, 2, 1.75, 1.75}}));

}  // namespace
}  // namespace kw::program_oracle_test
