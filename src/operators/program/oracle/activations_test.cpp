// Activations: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Activations : public testing::TestWithParam<OracleCase> {};

TEST_P(Activations, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Activations,
    testing::Values(
        OracleCase{"torch.sigmoid(x)",
                   "torch.rand(7)",
                   {0.1192029220221, 0.2227001388253, 0.3775406687981, 0.5621765008858, 0.73105857863, 0.8519528019683,
                    0.1480471980317}},
        OracleCase{"torch.tanh(x)",
                   "torch.rand(7)",
                   {-0.9640275800758, -0.8482836399575, -0.46211715726, 0.2449186624037, 0.7615941559558,
                    0.9413755384973, -0.9413755384973}},
        OracleCase{"F.relu(x)", "torch.rand(7)", {0, 0, 0, 0.25, 1, 1.75, 0}},
        OracleCase{"F.relu6(x * 5)", "torch.rand(7)", {0, 0, 0, 1.25, 5, 6, 0}},
        OracleCase{"F.leaky_relu(x)", "torch.rand(7)", {-0.02, -0.0125, -0.005, 0.25, 1, 1.75, -0.0175}},
        OracleCase{"F.leaky_relu(x, 0.2)", "torch.rand(7)", {-0.4, -0.25, -0.1, 0.25, 1, 1.75, -0.35}},
        OracleCase{"F.elu(x, 0.7)",
                   "torch.rand(7)",
                   {-0.6052653017344, -0.4994466421979, -0.2754285382012, 0.25, 1, 1.75, -0.5783582395847}},
        OracleCase{"F.selu(x)",
                   "torch.rand(7)",
                   {-1.520166468596, -1.254395446338, -0.6917581878029, 0.2626752468389, 1.050700987355, 1.838726727872,
                    -1.452587485411}},
        OracleCase{"F.celu(x, 1.5)",
                   "torch.rand(7)",
                   {-1.104604292826, -0.8481026872394, -0.4252030341393, 0.25, 1, 1.75, -1.032895164128}},
        OracleCase{"F.gelu(x)",
                   "torch.rand(7)",
                   {-0.04550026389636, -0.1320622170836, -0.154268769363, 0.1496765814207, 0.8413447460685,
                    1.679896475488, -0.07010352451168}},
        OracleCase{"F.gelu(x, approximate='tanh')",
                   "torch.rand(7)",
                   {-0.04540230591222, -0.1322857970303, -0.1542859901749, 0.1496753507017, 0.8411919906083,
                    1.679795382341, -0.07020461765875}},
        OracleCase{"F.silu(x)",
                   "torch.rand(7)",
                   {-0.2384058440442, -0.2783751735316, -0.1887703343991, 0.1405441252214, 0.73105857863,
                    1.490917403445, -0.2590825965555}},
        OracleCase{"F.mish(x)",
                   "torch.rand(7)",
                   {-0.2525014826957, -0.3084139611415, -0.2207437746517, 0.1695724096638, 0.8650983882673,
                    1.674932424132, -0.2780172591725}},
        OracleCase{"F.hardtanh(x, -0.4, 1.1)", "torch.rand(7)", {-0.4, -0.4, -0.4, 0.25, 1, 1.1, -0.4}},
        OracleCase{"F.hardswish(x * 2)",
                   "torch.rand(7)",
                   {-0, -0.2083333333333, -0.3333333333333, 0.2916666666667, 1.666666666667, 3.5, -0}},
        OracleCase{"F.hardsigmoid(x * 2)",
                   "torch.rand(7)",
                   {0, 0.08333333333333, 0.3333333333333, 0.5833333333333, 0.8333333333333, 1, 0}},
        OracleCase{"F.softplus(x)",
                   "torch.rand(7)",
                   {0.126928011043, 0.2519290813454, 0.4740769841801, 0.8259394198788, 1.313261687518, 1.910224150438,
                    0.1602241504381}},
        OracleCase{"F.softplus(x, 2.0, 1.5)",
                   "torch.rand(7)",
                   {0.009074963958905, 0.03944486714627, 0.1566308437591, 0.4870384920901, 1, 1.75, 0.01487520913631}},
        OracleCase{"F.softsign(x)",
                   "torch.rand(7)",
                   {-0.6666666666667, -0.5555555555556, -0.3333333333333, 0.2, 0.5, 0.6363636363636, -0.6363636363636}},
        OracleCase{"F.softshrink(x, 0.6)", "torch.rand(7)", {-1.4, -0.65, 0, 0, 0.4, 1.15, -1.15}},
        OracleCase{"F.hardshrink(x, 1.0)", "torch.rand(7)", {-2, -1.25, 0, 0, 0, 1.75, -1.75}},
        OracleCase{"F.tanhshrink(x)",
                   "torch.rand(7)",
                   {-1.035972419924, -0.4017163600425, -0.03788284273999, 0.005081337596291, 0.2384058440442,
                    0.8086244615027, -0.8086244615027}},
        OracleCase{"F.threshold(x, 0.25, -7.0)", "torch.rand(7)", {-7, -7, -7, -7, 1, 1.75, -7}},
        OracleCase{"F.logsigmoid(x * 30)",
                   "torch.rand(7)",
                   {-60, -37.5, -15.0000003059, -0.0005529314753608, -9.35762296884e-14, -1.58321428616e-23, -52.5}},
        OracleCase{"F.rrelu(x, 0.1, 0.5)", "torch.rand(7)", {-0.6, -0.375, -0.15, 0.25, 1, 1.75, -0.525}},
        OracleCase{"F.dropout(x, 0.3, training=False)", "torch.rand(7)", {-2, -1.25, -0.5, 0.25, 1, 1.75, -1.75}},
        OracleCase{"F.prelu(x, y)",
                   "torch.rand(2, 3, 2), torch.rand(3)",
                   {-1.5, -0.9375, -0.75, 0.25, 1, 1.75, -1.3125, -0.75, -0.375, 0.5, 1.25, 2}},
        OracleCase{"F.prelu(x, y)", "torch.rand(2, 3), torch.rand(1)", {-1.5, -0.9375, -0.375, 0.25, 1, 1.75}},
        OracleCase{
            "F.glu(x)", "torch.rand(2, 4)", {-0.7550813375963, -0.7027206261072, 0.1480471980317, 0.4706474873975}},
        OracleCase{
            "F.glu(x, 0)", "torch.rand(4, 2)", {-1.46211715726, -1.06494100246, -0.07402359901584, 0.0672353553425}},
        OracleCase{"F.glu(x, 1)",
                   "torch.rand(2, 4, 2)",
                   {-1.46211715726, -1.06494100246, -0.07402359901584, 0.0672353553425, -0.04560638095159,
                    0.1604106504123, 0.625, 1.358357398351}}));

}  // namespace
}  // namespace kw::program_oracle_test
