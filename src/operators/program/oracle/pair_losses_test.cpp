// Losses of pairs: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class PairLosses : public testing::TestWithParam<OracleCase> {};

TEST_P(PairLosses, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, PairLosses,
    testing::Values(
        OracleCase{"F.mse_loss(x, y, reduction='mean')", "torch.rand(2, 3), torch.rand(2, 3)", {4.020833333333}},
        OracleCase{"F.l1_loss(x, y, reduction='mean')", "torch.rand(2, 3), torch.rand(2, 3)", {1.916666666667}},
        OracleCase{"F.mse_loss(x, y, reduction='sum')", "torch.rand(2, 3), torch.rand(2, 3)", {24.125}},
        OracleCase{"F.l1_loss(x, y, reduction='sum')", "torch.rand(2, 3), torch.rand(2, 3)", {11.5}},
        OracleCase{"F.mse_loss(x, y, reduction='none')",
                   "torch.rand(2, 3), torch.rand(2, 3)",
                   {7.5625, 7.5625, 2.25, 2.25, 2.25, 2.25}},
        OracleCase{"F.l1_loss(x, y, reduction='none')",
                   "torch.rand(2, 3), torch.rand(2, 3)",
                   {2.75, 2.75, 1.5, 1.5, 1.5, 1.5}},
        OracleCase{"F.smooth_l1_loss(x, y, beta=0.7, reduction='none')",
                   "torch.rand(2, 3), torch.rand(2, 3)",
                   {2.4, 2.4, 1.15, 1.15, 1.15, 1.15}},
        OracleCase{"F.smooth_l1_loss(x, y)", "torch.rand(2, 3), torch.rand(2, 3)", {1.416666666667}},
        OracleCase{"F.huber_loss(x, y, delta=0.7, reduction='none')",
                   "torch.rand(2, 3), torch.rand(2, 3)",
                   {1.68, 1.68, 0.805, 0.805, 0.805, 0.805}},
        OracleCase{"F.huber_loss(x, y)", "torch.rand(2, 3), torch.rand(2, 3)", {1.416666666667}},
        OracleCase{"F.kl_div(x, y, log_target=True)", "torch.rand(2, 3), torch.rand(2, 3)", {2.446300125728}},
        OracleCase{"F.soft_margin_loss(x, torch.sign(y))", "torch.rand(2, 3), torch.rand(2, 3)", {1.067059889067}},
        OracleCase{"F.poisson_nll_loss(x, y.abs(), reduction='none')",
                   "torch.rand(2, 3), torch.rand(2, 3)",
                   {1.635335283237, 2.16150479686, 1.606530659713, 0.9715254166877, 2.218281828459, 5.317102676006}},
        OracleCase{
            "F.poisson_nll_loss(x, y.abs() * 2, full=True)", "torch.rand(2, 3), torch.rand(2, 3)", {3.892384140166}},
        OracleCase{"F.hinge_embedding_loss(x, torch.sign(y - 0.1), margin=0.5, reduction='none')",
                   "torch.rand(2, 3), torch.rand(2, 3)",
                   {-2, -1.25, 1, 0.25, 0, 1.75}},
        OracleCase{"F.hinge_embedding_loss(x, torch.sign(y))", "torch.rand(2, 3), torch.rand(2, 3)", {0.125}},
        OracleCase{
            "F.binary_cross_entropy_with_logits(x, torch.sigmoid(y), reduction='none')",
            "torch.rand(2, 3), torch.rand(2, 3)",
            {1.485285409394, 1.273897176587, 0.5336784451912, 0.7702643851725, 0.9357210187201, 0.9264152738879}},
        OracleCase{"F.binary_cross_entropy_with_logits(x * 400, torch.sigmoid(y))",
                   "torch.rand(2, 3), torch.rand(2, 3)",
                   {268.1934916366}},
        OracleCase{"F.kl_div(x, y)", "torch.rand(2, 3), torch.rand(2, 3) + 2", {-0.1041313324548}},
        OracleCase{
            "F.kl_div(x, y, reduction='batchmean')", "torch.rand(2, 3), torch.rand(2, 3) + 2", {-0.3123939973643}},
        OracleCase{
            "F.kl_div(x, y, reduction='none')",
            "torch.rand(2, 3), torch.rand(2, 3) + 2",
            {1.063023261261, 0.889732036005, -0.1327984309942, -0.3897949770614, -0.7561795145492, -1.29877036939}},
        OracleCase{"F.kl_div(x, y, reduction='sum')", "torch.rand(2, 3), torch.rand(2, 3) + 2", {-0.6247879947287}},
        OracleCase{"F.poisson_nll_loss(x, y, log_input=False, full=True)",
                   "torch.rand(2, 3) + 1, torch.rand(2, 3) + 1",
                   {1.705645338696}},
        OracleCase{"F.binary_cross_entropy(x, y)", "torch.rand(2, 3) + 2, torch.rand(2, 3) + 2", {1.078584291063}},
        OracleCase{"F.binary_cross_entropy(x, y, reduction='none')",
                   "torch.rand(2, 3) + 2, torch.rand(2, 3) + 2",
                   {1.945967309877, 1.295283568694, 0.5175867697502, 0.7613427603687, 0.9093460612847, 1.041979276403}},
        OracleCase{"F.binary_cross_entropy(torch.round(x), y, reduction='none')",
                   "torch.rand(2, 3) + 2, torch.rand(2, 3) + 2",
                   {66.66666666667, 83.33333333333, 5.555555555556, 77.77777777778, 61.11111111111, 44.44444444444}},
        OracleCase{"F.binary_cross_entropy(x, y, more[1], reduction='sum')",
                   "torch.rand(2, 3) + 2, torch.rand(2, 3) + 2, torch.rand(2, 3)",
                   {-3.050437482616}},
        OracleCase{"F.binary_cross_entropy_with_logits(x, y, more[1], pos_weight=more[2])",
                   "torch.rand(2, 3), torch.rand(2, 3) + 2, torch.rand(3), torch.rand(3) + 1",
                   {-0.320718947876}},
        OracleCase{"F.gaussian_nll_loss(x, y, more[1])",
                   "torch.rand(2, 3), torch.rand(2, 3), torch.rand(2, 3) + 1",
                   {3.341428463671}},
        OracleCase{"F.gaussian_nll_loss(x, y, more[1], full=True, eps=0.5, reduction='none')",
                   "torch.rand(2, 3), torch.rand(2, 3), torch.rand(2, 3) + 1",
                   {5.816764163645, 4.338941162144, 1.871671087259, 1.833242862916, 2.822364942925, 2.822364942925}},
        OracleCase{"F.margin_ranking_loss(x, y, torch.sign(more[1]), margin=0.3)",
                   "torch.rand(5), torch.rand(5), torch.rand(5)",
                   {0.42}},
        OracleCase{"F.cosine_embedding_loss(x, y, torch.sign(more[1] + 0.1), margin=0.1, reduction='none')",
                   "torch.rand(4, 3), torch.rand(4, 3), torch.rand(4)",
                   {0, 1.134839972493, 1.564900145491, 0.9321155766698}},
        OracleCase{"F.cosine_embedding_loss(x, y, torch.sign(more[1] + 0.1))",
                   "torch.rand(4, 3), torch.rand(4, 3), torch.rand(4)",
                   {0.9079639236632}},
        OracleCase{"F.triplet_margin_loss(x, y, more[1])",
                   "torch.rand(3, 4), torch.rand(3, 4), torch.rand(3, 4)",
                   {1.254609535153}},
        OracleCase{"F.triplet_margin_loss(x, y, more[1], margin=0.5, p=1.0, swap=True, reduction='none')",
                   "torch.rand(3, 4), torch.rand(3, 4), torch.rand(3, 4)",
                   {4.000004, 2.999996, 0}},
        OracleCase{"F.mse_loss(x, y.expand(2, 3))", "torch.rand(2, 3), torch.rand(3)", {5.322916666667}}));

}  // namespace
}  // namespace kw::program_oracle_test
