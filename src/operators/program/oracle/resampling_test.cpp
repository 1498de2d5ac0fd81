// Interpolation: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Resampling : public testing::TestWithParam<OracleCase> {};

TEST_P(Resampling, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Resampling,
    testing::Values(
        OracleCase{"F.interpolate(x, scale_factor=2)",
                   "torch.rand(1, 2, 3)",
                   {-2, -2, -1.25, -1.25, -0.5, -0.5, 0.25, 0.25, 1, 1, 1.75, 1.75}},
        OracleCase{
            "F.interpolate(x, size=5)", "torch.rand(1, 2, 3)", {-2, -2, -1.25, -1.25, -0.5, 0.25, 0.25, 1, 1, 1.75}},
        OracleCase{"F.interpolate(x, size=(4, 5), mode='bicubic')",
                   "torch.rand(1, 1, 3, 3)",
                   {-2.233499023437,  -1.924499023437, -1.411499023438, -0.8984990234375, -0.5894990234375,
                    -0.413064453125,  -0.104064453125, 0.408935546875,  0.921935546875,   1.230935546875,
                    -0.2955107421875, 0.0134892578125, 0.5264892578125, 1.039489257812,   1.348489257813,
                    -1.9655546875,    -1.6565546875,   -1.1435546875,   -0.6305546875,    -0.3215546875}},
        OracleCase{"F.interpolate(x, size=(2, 4), mode='bicubic', align_corners=True)",
                   "torch.rand(1, 2, 3, 3)",
                   {-2, -1.569444444444, -0.9305555555556, -0.5, -1.75, -1.319444444444, -0.6805555555556, -0.25, 0.5,
                    0.9305555555556, 1.569444444444, 2, 0.75, 1.652777777778, 0.4814814814815, -2}},
        OracleCase{"F.interpolate(x, scale_factor=1.5, mode='bicubic')",
                   "torch.rand(1, 1, 2, 3)",
                   {-2.260416666667, -1.890625, -1.272569444444, -0.7899305555556, -0.9401041666667, -0.5703125,
                    0.04774305555556, 0.5303819444444, 0.3802083333333, 0.75, 1.368055555556, 1.850694444444}},
        OracleCase{"F.interpolate(x, size=(2, 5))",
                   "torch.rand(1, 1, 3, 3)",
                   {-2, -2, -1.25, -1.25, -0.5, 0.25, 0.25, 1, 1, 1.75}},
        OracleCase{
            "F.interpolate(x, scale_factor=1.6)", "torch.rand(1, 1, 5)", {-2, -2, -1.25, -1.25, -0.5, 0.25, 0.25, 1}},
        OracleCase{"F.interpolate(x, size=5, mode='nearest-exact')",
                   "torch.rand(1, 2, 3)",
                   {-2, -2, -1.25, -0.5, -0.5, 0.25, 0.25, 1, 1.75, 1.75}},
        OracleCase{"F.interpolate(x, size=5, mode='linear')",
                   "torch.rand(1, 2, 3)",
                   {-2, -1.7, -1.25, -0.8, -0.5, 0.25, 0.55, 1, 1.45, 1.75}},
        OracleCase{"F.interpolate(x, size=5, mode='linear', align_corners=True)",
                   "torch.rand(1, 2, 3)",
                   {-2, -1.625, -1.25, -0.875, -0.5, 0.25, 0.625, 1, 1.375, 1.75}},
        OracleCase{"F.interpolate(x, scale_factor=1.7, mode='linear')",
                   "torch.rand(1, 2, 5)",
                   {-2, -1.713235294118, -1.272058823529, -0.8308823529412, -0.3897058823529, 0.05147058823529,
                    0.4926470588235, 0.9338235294118, 1.75, 0.4117647058824, -1.647058823529, -1.330882352941,
                    -0.8897058823529, -0.4485294117647, -0.00735294117647, 0.4338235294118}},
        OracleCase{
            "F.interpolate(x, scale_factor=2, mode='bilinear')",
            "torch.rand(1, 1, 2, 3)",
            {-2,      -1.8125, -1.4375, -1.0625, -0.6875, -0.5,   -1.4375, -1.25,  -0.875, -0.5,   -0.125, 0.0625,
             -0.3125, -0.125,  0.25,    0.625,   1,       1.1875, 0.25,    0.4375, 0.8125, 1.1875, 1.5625, 1.75}},
        OracleCase{"F.interpolate(x, size=(3, 2), mode='bilinear', align_corners=True)",
                   "torch.rand(1, 1, 4, 5)",
                   {-2, 1, 1.5, 0.25, 0.75, -0.5}},
        OracleCase{"F.interpolate(x, size=(2, 3, 3), mode='trilinear')",
                   "torch.rand(1, 1, 2, 2, 2)",
                   {-2, -1.625, -1.25, -1.25, -0.875, -0.5, -0.5, -0.125, 0.25, 1, 1.375, 1.75, -0.375,
                    1.110223024625e-16, 0.375, -1.75, -1.375, -1}},
        OracleCase{"F.interpolate(x, size=(2, 3), mode='area')",
                   "torch.rand(1, 1, 5, 4)",
                   {-0.04166666666667, 0, 0.04166666666667, -0.4166666666667, -0.375, 0.375}}));

}  // namespace
}  // namespace kw::program_oracle_test
