// Distances of vectors: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class Distances : public testing::TestWithParam<OracleCase> {};

TEST_P(Distances, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, Distances,
    testing::Values(OracleCase{"F.cosine_similarity(x, y)",
                               "torch.rand(3, 4), torch.rand(3, 4)",
                               {-0.3831352666902, -0.5975223569315, 0.1232784181804}},
                    OracleCase{"F.cosine_similarity(x, y, dim=0)",
                               "torch.rand(3, 4), torch.rand(3, 4)",
                               {-0.3527781305561, -0.4821436570644, -0.213874550894, -0.213874550894}},
                    OracleCase{"F.cosine_similarity(x * 1e-6, y, eps=1e-3)",
                               "torch.rand(3, 4), torch.rand(3, 4)",
                               {-0.0009286585575, -0.001703200768302, 0.0002988071523336}},
                    OracleCase{"F.pairwise_distance(x, y)",
                               "torch.rand(3, 4), torch.rand(3, 4)",
                               {4.430010722335, 4.430010722335, 3.000002}},
                    OracleCase{
                        "F.pairwise_distance(x, y, p=1.0)", "torch.rand(3, 4), torch.rand(3, 4)", {8.5, 8.5, 6.000004}},
                    OracleCase{"F.pairwise_distance(x, y, p=3.0, eps=0.1)",
                               "torch.rand(3, 4), torch.rand(3, 4)",
                               {3.567695814272, 3.567695814272, 2.539841683149}},
                    OracleCase{"F.pairwise_distance(x, y, keepdim=True)",
                               "torch.rand(3, 4), torch.rand(3, 4)",
                               {4.430010722335, 4.430010722335, 3.000002}},
                    OracleCase{"F.cosine_similarity(x, y, dim=-1)",
                               "torch.rand(2, 3, 4), torch.rand(4)",
                               {-0.3831352666902, 0.984961549367, -0.6326186961629, -0.5995437734798, 0.1521187476498,
                                0.0483336876325}}));

}  // namespace
}  // namespace kw::program_oracle_test
