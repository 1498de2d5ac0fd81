// Functions of two numbers, with broadcasting and the types of integers and booleans: values as PyTorch has them in
// double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Binary : public testing::TestWithParam<OracleCase> {};

TEST_P(Binary, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Binary,
    testing::Values(
        OracleCase{"x + y", "torch.rand(2, 3), torch.rand(3)", {-1.25, 0.25, -2.5, 1, 2.5, -0.25}},
        OracleCase{"x - y", "torch.rand(2, 3), torch.rand(3)", {-2.75, -2.75, 1.5, -0.5, -0.5, 3.75}},
        OracleCase{"torch.add(x, y, alpha=3)", "torch.rand(2, 3), torch.rand(3)", {0.25, 3.25, -6.5, 2.5, 5.5, -4.25}},
        OracleCase{
            "torch.sub(x, y, alpha=0.5)", "torch.rand(2, 3), torch.rand(3)", {-2.375, -2, 0.5, -0.125, 0.25, 2.75}},
        OracleCase{"2 - x", "torch.rand(2, 3), torch.rand(3)", {4, 3.25, 2.5, 1.75, 1, 0.25}},
        OracleCase{"torch.rsub(x, y, alpha=2)", "torch.rand(2, 3), torch.rand(3)", {4.75, 4, -1, 0.25, -0.5, -5.5}},
        OracleCase{"x * y", "torch.rand(2, 3), torch.rand(3)", {-1.5, -1.875, 1, 0.1875, 1.5, -3.5}},
        OracleCase{"x / y",
                   "torch.rand(2, 3), torch.rand(3)",
                   {-2.666666666667, -0.8333333333333, 0.25, 0.3333333333333, 0.6666666666667, -0.875}},
        OracleCase{"torch.div(x, y, rounding_mode='floor')", "torch.rand(2, 3), torch.rand(3)", {-3, -1, 0, 0, 0, -1}},
        OracleCase{"torch.div(x, y, rounding_mode='trunc')", "torch.rand(2, 3), torch.rand(3)", {-2, -0, 0, 0, 0, -0}},
        OracleCase{"x // y", "torch.rand(2, 3), torch.rand(3)", {-3, -1, 0, 0, 0, -1}},
        OracleCase{"x % y", "torch.rand(2, 3), torch.rand(3)", {0.25, 0.25, -0.5, 0.25, 1, -0.25}},
        OracleCase{"torch.fmod(x, y)", "torch.rand(2, 3), torch.rand(3)", {-0.5, -1.25, -0.5, 0.25, 1, 1.75}},
        OracleCase{"x ** 2", "torch.rand(2, 3), torch.rand(3)", {4, 1.5625, 0.25, 0.0625, 1, 3.0625}},
        OracleCase{"x ** 3", "torch.rand(2, 3), torch.rand(3)", {-8, -1.953125, -0.125, 0.015625, 1, 5.359375}},
        OracleCase{"2.0 ** x",
                   "torch.rand(2, 3), torch.rand(3)",
                   {0.25, 0.4204482076269, 0.7071067811865, 1.189207115003, 2, 3.363585661015}},
        OracleCase{"torch.pow(x, y)",
                   "torch.rand(2, 3), torch.rand(3)",
                   {k_nan, k_nan, 4, 0.3535533905933, 1, 0.3265306122449}},
        OracleCase{"torch.maximum(x, y)", "torch.rand(2, 3), torch.rand(3)", {0.75, 1.5, -0.5, 0.75, 1.5, 1.75}},
        OracleCase{"torch.minimum(x, y)", "torch.rand(2, 3), torch.rand(3)", {-2, -1.25, -2, 0.25, 1, -2}},
        OracleCase{"torch.fmax(torch.log(x), y)",
                   "torch.rand(2, 3), torch.rand(3)",
                   {0.75, 1.5, -2, 0.75, 1.5, 0.5596157879354}},
        OracleCase{
            "torch.fmin(torch.log(x), y)", "torch.rand(2, 3), torch.rand(3)", {0.75, 1.5, -2, -1.38629436112, 0, -2}},
        OracleCase{"torch.maximum(torch.log(x), y)",
                   "torch.rand(2, 3), torch.rand(3)",
                   {k_nan, k_nan, k_nan, 0.75, 1.5, 0.5596157879354}},
        OracleCase{
            "torch.atan2(x, y)",
            "torch.rand(2, 3), torch.rand(3)",
            {-1.212025656524, -0.6947382761967, -2.896613990463, 0.3217505543966, 0.5880026035476, 2.422762653968}},
        OracleCase{"torch.hypot(x, y)",
                   "torch.rand(2, 3), torch.rand(3)",
                   {2.136000936329, 1.952562418977, 2.061552812809, 0.7905694150421, 1.802775637732, 2.657536453184}},
        OracleCase{"torch.copysign(x, y)", "torch.rand(2, 3), torch.rand(3)", {2, 1.25, -0.5, 0.25, 1, -1.75}},
        OracleCase{"torch.xlogy(x, y)",
                   "torch.rand(2, 3), torch.rand(3)",
                   {0.5753641449036, -0.5068313851352, k_nan, -0.07192051811295, 0.4054651081082, k_nan}},
        OracleCase{"torch.logaddexp(x * 300, y)", "torch.rand(2, 3), torch.rand(3)", {0.75, 1.5, -2, 75, 300, 525}},
        OracleCase{
            "torch.logaddexp2(x, y)",
            "torch.rand(2, 3), torch.rand(3)",
            {0.9499403848438, 1.699940384844, -0.06324820456018, 1.521553303164, 2.271553303164, 1.853431094175}},
        OracleCase{"torch.heaviside(x, y)", "torch.rand(2, 3), torch.rand(3)", {0, 0, 0, 1, 1, 1}},
        OracleCase{"x == y", "torch.rand(2, 3), torch.rand(3)", {0, 0, 0, 0, 0, 0}},
        OracleCase{"x != y", "torch.rand(2, 3), torch.rand(3)", {1, 1, 1, 1, 1, 1}},
        OracleCase{"x < y", "torch.rand(2, 3), torch.rand(3)", {1, 1, 0, 1, 1, 0}},
        OracleCase{"x <= y", "torch.rand(2, 3), torch.rand(3)", {1, 1, 0, 1, 1, 0}},
        OracleCase{"x > y", "torch.rand(2, 3), torch.rand(3)", {0, 0, 1, 0, 0, 1}},
        OracleCase{"x >= y", "torch.rand(2, 3), torch.rand(3)", {0, 0, 1, 0, 0, 1}},
        OracleCase{"torch.logical_and(x, y)", "torch.rand(2, 3), torch.rand(3)", {1, 1, 1, 1, 1, 1}},
        OracleCase{"torch.logical_or(x, y)", "torch.rand(2, 3), torch.rand(3)", {1, 1, 1, 1, 1, 1}},
        OracleCase{"torch.logical_xor(x, y)", "torch.rand(2, 3), torch.rand(3)", {0, 0, 0, 0, 0, 0}},
        OracleCase{"x + y", "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))", {1, 3, 2, 1, 3, 2}},
        OracleCase{"x // (y - 5)", "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))", {0, -1, -1, 0, -1, -1}},
        OracleCase{"x % (y - 4)", "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))", {0, -1, -2, 0, -1, -2}},
        OracleCase{"torch.div(x - 2, y + 2, rounding_mode='trunc')",
                   "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))",
                   {0, 0, 0, 0, 0, 0}},
        OracleCase{"x / (y + 1)",
                   "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))",
                   {0, 0.3333333333333, 2, 0, 0.3333333333333, 2}},
        OracleCase{"x & y", "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))", {0, 0, 0, 0, 0, 0}},
        OracleCase{"x | y", "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))", {1, 3, 2, 1, 3, 2}},
        OracleCase{"x ^ y", "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))", {1, 3, 2, 1, 3, 2}},
        OracleCase{"x << y", "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))", {0, 4, 2, 0, 4, 2}},
        OracleCase{"(x - 2) >> y", "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))", {-1, -1, 0, -1, -1, 0}},
        OracleCase{"x ** 3", "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))", {0, 1, 8, 0, 1, 8}},
        OracleCase{"torch.fmod(x - 3, y + 2)",
                   "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))",
                   {0, -2, -1, 0, -2, -1}},
        OracleCase{"x.to(torch.uint8) - y.to(torch.uint8)",
                   "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))",
                   {255, 255, 2, 255, 255, 2}},
        OracleCase{"(x * 100).to(torch.int8) * y.to(torch.int8)",
                   "torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (3,))",
                   {0, -56, 0, 0, -56, 0}},
        OracleCase{"x + y", "torch.randint(0, 3, (5,)).bool(), torch.randint(0, 3, (5,)).bool()", {1, 0, 1, 1, 0}},
        OracleCase{"x * y", "torch.randint(0, 3, (5,)).bool(), torch.randint(0, 3, (5,)).bool()", {0, 0, 0, 0, 0}},
        OracleCase{"x & y", "torch.randint(0, 3, (5,)).bool(), torch.randint(0, 3, (5,)).bool()", {0, 0, 0, 0, 0}},
        OracleCase{"x | y", "torch.randint(0, 3, (5,)).bool(), torch.randint(0, 3, (5,)).bool()", {1, 0, 1, 1, 0}},
        OracleCase{"x ^ y", "torch.randint(0, 3, (5,)).bool(), torch.randint(0, 3, (5,)).bool()", {1, 0, 1, 1, 0}}));

}  // namespace
}  // namespace kw::program_oracle_test
