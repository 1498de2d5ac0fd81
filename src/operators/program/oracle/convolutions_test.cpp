// Convolutions: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Convolutions : public testing::TestWithParam<OracleCase> {};

TEST_P(Convolutions, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Convolutions,
    testing::Values(
        OracleCase{"F.conv1d(x, y)",
                   "torch.rand(2, 2, 5), torch.rand(3, 2, 2)",
                   {-4.6875, 3.0625, 2.3125, 1.5625, -0.625, -3,     -1.125, 0.75,  3.4375, 2.625,  0.75, -1.125,
                    0.5625,  -1.25,  3.3125, 2.5625, 3.25,   -3.375, -3.625, -1.75, -3.625, -3.375, 3.25, 1.375}},
        OracleCase{"F.conv1d(x, y, more[1], stride=2, padding=1, dilation=2)",
                   "torch.rand(1, 2, 7), torch.rand(2, 2, 3), torch.rand(2)",
                   {-2.6875, -5.5, 1.25, -1.9375, -4.6875, 2.4375}},
        OracleCase{"F.conv1d(x, y, padding='same')",
                   "torch.rand(1, 2, 5), torch.rand(2, 2, 4)",
                   {-2.9375, -5.4375, -2.1875, -1.0625, 1.9375, 8.9375, 5.375, -1.0625, -2.125, -0.75}},
        OracleCase{"F.conv1d(x, y, padding='valid')",
                   "torch.rand(2, 5), torch.rand(3, 2, 3)",
                   {-3.9375, 0.4375, -0.5, -5.125, -0.6875, -0.5, -6.3125, -1.8125, -0.5}},
        OracleCase{"F.conv2d(x, y, more[1], stride=(2, 1), padding=(1, 2), dilation=(2, 1), groups=2)",
                   "torch.rand(1, 4, 4, 3), torch.rand(2, 2, 2, 3), torch.rand(2)",
                   {-0.3125, -0.0625, -3.25,  -3.875, -0.9375, -1.9375, -3,      1.25, -3.25,  -2.1875,
                    2.6875,  0.1875,  -4.375, -0.875, 1.625,   -0.9375, -4.3125, 11,   0.9375, -2.0625}},
        OracleCase{"F.conv2d(x, y, padding='same', dilation=2)",
                   "torch.rand(1, 1, 3, 4), torch.rand(2, 1, 2, 2)",
                   {-2.1875, 0.1875,  -2.25, 3.5,   -2.5,   -3.3125, -4.0625, -2.875, 2.625,  -1.875,  -0.1875, -1.3125,
                    3.0625,  -2.0625, 0,     -1.75, 0.5625, 2.8125,  4.6875,  1.5,    0.4375, -0.9375, -1.125,  0.875}},
        OracleCase{"F.conv2d(x, y, groups=3)",
                   "torch.rand(1, 3, 3, 3), torch.rand(6, 1, 2, 2)",
                   {-5.125, -5.875, 6.4375, 5.6875,  2.6875, 4.5625, -3.375, -1.5,    -2.125, -4,      3.9375, -0.0625,
                    5.9375, 6.6875, -5.625, -1.6875, -2.375, 6.3125, 0.3125, -2.6875, 3.8125, -0.8125, -2.625, -0.875}},
        OracleCase{"F.conv3d(x, y, stride=2, padding=(1, 0, 1))",
                   "torch.rand(1, 2, 3, 3, 3), torch.rand(2, 2, 2, 3, 2)",
                   {-5.25, -1.625, -9.375, 6.5, 1.75, -10.25, -4.5625, -1.5}},
        OracleCase{"F.conv_transpose1d(x, y)",
                   "torch.rand(1, 2, 3), torch.rand(2, 2, 3)",
                   {-1.25, -2.5, 4.8125, 3.0625, -2.0625, 2.25, 1.5, -1.125, 0, 0.75}},
        OracleCase{"F.conv_transpose1d(x, y, more[1], stride=3, padding=1, output_padding=2, dilation=2)",
                   "torch.rand(1, 2, 3), torch.rand(2, 2, 2), torch.rand(2)",
                   {-0.75, -3.6875, -2.1875, -0.75, -2.375, -2, -0.75, -1.0625, -0.75, 0, 2.9375, 3.5, 0, 3.3125, 2.75,
                    0, 3.6875, 0}},
        OracleCase{"F.conv_transpose2d(x, y, more[1], stride=(2, 1), padding=(1, 0), output_padding=(1, 0), groups=2, "
                   "dilation=(1, 2))",
                   "torch.rand(1, 4, 2, 2), torch.rand(4, 1, 3, 2), torch.rand(2)",
                   {1.5,     -1.3125, 0.75,   -0.9375, -2.125,  -1.375, -4.5625, -1.5625, 3.3125, 0.5,    1.625,
                    -0.0625, -0.0625, -0.625, -1.75,   -1.1875, 2.25,   0.1875,  0.9375,  0,      1.1875, 3.4375,
                    0.8125,  2.125,   -1.875, -3.9375, -0.9375, -1.875, 0,       0.1875,  0.9375, 2.25}},
        OracleCase{"F.conv_transpose2d(x, y, stride=2)",
                   "torch.rand(2, 2, 2), torch.rand(2, 1, 3, 2)",
                   {-0.5,   -1.25,   0.8125, 1.1875, 2.25, 1.5,    -0.5625, -0.1875, -1.375, -3.8125,
                    -0.625, -0.8125, 4.0625, 2.375,  1.25, 0.6875, 0.6875,  -1,      0.125,  -0.4375}},
        OracleCase{"F.conv_transpose3d(x, y, stride=2, padding=1, output_padding=1)",
                   "torch.rand(1, 2, 2, 1, 2), torch.rand(2, 1, 3, 2, 3)",
                   {1, 1.0625, 1.1875, 1.5625, 0.5625, -0.75, 0.9375, 0.75, -0.75, -2.4375, -0.5625, -1.125, -1.3125,
                    -3.1875, -0.75, -1.3125}}));

}  // namespace
}  // namespace kw::program_oracle_test
