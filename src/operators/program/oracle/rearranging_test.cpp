// Copies, rotations, triangles, padding, patches and pixels: values as PyTorch has them in double precision, of the
// numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Rearranging : public testing::TestWithParam<OracleCase> {};

TEST_P(Rearranging, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Rearranging,
    testing::Values(
        OracleCase{
            "x.repeat(2, 1, 2)", "torch.rand(2, 3)", {-2, -1.25, -0.5, -2, -1.25, -0.5, 0.25, 1, 1.75, 0.25, 1, 1.75,
                                                      -2, -1.25, -0.5, -2, -1.25, -0.5, 0.25, 1, 1.75, 0.25, 1, 1.75}},
        OracleCase{"torch.tile(x, (2,))",
                   "torch.rand(2, 3)",
                   {-2, -1.25, -0.5, -2, -1.25, -0.5, 0.25, 1, 1.75, 0.25, 1, 1.75}},
        OracleCase{"x.repeat_interleave(2, 1)",
                   "torch.rand(2, 3, 2)",
                   {-2,    -1.25, -2,    -1.25, -0.5,  0.25, -0.5,  0.25, 1,    1.75, 1,    1.75,
                    -1.75, -1,    -1.75, -1,    -0.25, 0.5,  -0.25, 0.5,  1.25, 2,    1.25, 2}},
        OracleCase{"x.repeat_interleave(3)",
                   "torch.rand(2, 3)",
                   {-2, -2, -2, -1.25, -1.25, -1.25, -0.5, -0.5, -0.5, 0.25, 0.25, 0.25, 1, 1, 1, 1.75, 1.75, 1.75}},
        OracleCase{"torch.roll(x, 2)", "torch.rand(2, 5)", {-0.25, 0.5, -2, -1.25, -0.5, 0.25, 1, 1.75, -1.75, -1}},
        OracleCase{"torch.roll(x, (1, -2), (0, 1))",
                   "torch.rand(3, 5)",
                   {-1.5, -0.75, 0, 1.25, 2, -0.5, 0.25, 1, -2, -1.25, -1, -0.25, 0.5, 1.75, -1.75}},
        OracleCase{"torch.roll(x, -1, 1)",
                   "torch.rand(3, 5)",
                   {-1.25, -0.5, 0.25, 1, -2, -1.75, -1, -0.25, 0.5, 1.75, 2, -1.5, -0.75, 0, 1.25}},
        OracleCase{"torch.tril(x)", "torch.rand(2, 3, 4)", {-2,   0, 0, 0, 1,   1.75, 0, 0, -0.25, 0.5, 1.25, 0,
                                                            -1.5, 0, 0, 0, 1.5, -2,   0, 0, 0.25,  1,   1.75, 0}},
        OracleCase{"torch.triu(x, 1)", "torch.rand(3, 4)", {0, -1.25, -0.5, 0.25, 0, 0, -1.75, -1, 0, 0, 0, 2}},
        OracleCase{"torch.tril(x, -1)", "torch.rand(4, 3)", {0, 0, 0, 0.25, 0, 0, -1.75, -1, 0, 0.5, 1.25, 2}},
        OracleCase{"F.pad(x, (1, 2))", "torch.rand(2, 3)", {0, -2, -1.25, -0.5, 0, 0, 0, 0.25, 1, 1.75, 0, 0}},
        OracleCase{"F.pad(x, (1, 0, 2, 1), value=0.5)", "torch.rand(2, 3)", {0.5, 0.5,  0.5, 0.5,   0.5,  0.5, 0.5,
                                                                             0.5, 0.5,  -2,  -1.25, -0.5, 0.5, 0.25,
                                                                             1,   1.75, 0.5, 0.5,   0.5,  0.5}},
        OracleCase{"F.pad(x, (-1, 1, 0, -1))", "torch.rand(3, 4)", {-1.25, -0.5, 0.25, 0, 1.75, -1.75, -1, 0}},
        OracleCase{"F.pad(x, (2, 1), mode='reflect')",
                   "torch.rand(1, 2, 4)",
                   {-0.5, -1.25, -2, -1.25, -0.5, 0.25, -0.5, -1.75, 1.75, 1, 1.75, -1.75, -1, -1.75}},
        OracleCase{"F.pad(x, (1, 2, 1, 0), mode='replicate')",
                   "torch.rand(1, 1, 3, 3)",
                   {-2,   -2,   -1.25, -0.5, -0.5, -0.5, -2,    -2,    -1.25, -0.5,  -0.5,  -0.5,
                    0.25, 0.25, 1,     1.75, 1.75, 1.75, -1.75, -1.75, -1,    -0.25, -0.25, -0.25}},
        OracleCase{"F.pad(x, (2, 3), mode='circular')",
                   "torch.rand(1, 2, 4)",
                   {-0.5, 0.25, -2, -1.25, -0.5, 0.25, -2, -1.25, -0.5, -1.75, -1, 1, 1.75, -1.75, -1, 1, 1.75, -1.75}},
        OracleCase{"F.pixel_shuffle(x, 2)",
                   "torch.rand(1, 8, 2, 1)",
                   {-2, -0.5, 1, -1.75, -1.25, 0.25, 1.75, -1, -0.25, 1.25, -1.5, 0, 0.5, 2, -0.75, 0.75}},
        OracleCase{"F.pixel_unshuffle(x, 2)",
                   "torch.rand(1, 2, 4, 2)",
                   {-2, 1, -1.25, 1.75, -0.5, -1.75, 0.25, -1, -0.25, -1.5, 0.5, -0.75, 1.25, 0, 2, 0.75}},
        OracleCase{"F.unfold(x, (2, 3), dilation=(1, 2), padding=(1, 2), stride=(2, 1))",
                   "torch.rand(1, 1, 2, 3)",
                   {0, 0, 0,  0, 0, 0.25, 0,  0,     0,    0.25, 1, 1.75, 0,    0, 0, 1.75, 0, 0,
                    0, 0, -2, 0, 0, 0,    -2, -1.25, -0.5, 0,    0, 0,    -0.5, 0, 0, 0,    0, 0}},
        OracleCase{"F.fold(x, (3, 4), (2, 3), padding=(1, 1), stride=(2, 1))",
                   "torch.rand(1, 6, 8)",
                   {0.5, 0.25, -1.75, -1.5, 0.25, -2.25, 0, 2.5, -2, 0.75, 3, 0.25}},
        OracleCase{
            "F.fold(x, 4, 2, stride=2)",
            "torch.rand(2, 4, 4)",
            {-2,  1,    -1.25, 1.75, -0.25, -1.5, 0.5,   -0.75, -0.5,  -1.75, 0.25, -1,    1.25, 0,     2,    0.75,
             1.5, 0.25, -2,    1,    -1,    2,    -0.25, -1.5,  -1.25, 1.75,  -0.5, -1.75, 0.5,  -0.75, 1.25, 0}},
        OracleCase{"F.fold(x, (4, 5), 2, dilation=2, padding=1)",
                   "torch.rand(4, 20)",
                   {-1.75, -1.25, 0.25, 1.75, 2, 1, -2, 1, 4, 0, 0, -4, -1, 2, -1, -2, -1.75, -0.25, 1.25, 1.75}},
        OracleCase{"F.unfold(x, 2)",
                   "torch.rand(1, 2, 3, 3)",
                   {-2,   -1.25, 0.25,  1,    -1.25, -0.5,  1, 1.75, 0.25,  1,    -1.75, -1,    1, 1.75, -1, -0.25, 0.5,
                    1.25, -1.5,  -0.75, 1.25, 2,     -0.75, 0, -1.5, -0.75, 0.75, 1.5,   -0.75, 0, 1.5,  -2}}));

}  // namespace
}  // namespace kw::program_oracle_test
