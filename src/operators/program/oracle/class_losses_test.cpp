// Losses of classes: values as PyTorch has them in double precision, of the numbers of testing/oracle_case.hpp.

#include <gtest/gtest.h>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

class ClassLosses : public testing::TestWithParam<OracleCase> {};

TEST_P(ClassLosses, answer_is_that_of_pytorch) {
  expect_answer(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, ClassLosses,
    testing::Values(
        OracleCase{"F.cross_entropy(x, y)", "torch.rand(4, 3), torch.randint(0, 3, (4,))", {1.277975743855}},
        OracleCase{"F.cross_entropy(x, y, reduction='none')",
                   "torch.rand(4, 3), torch.randint(0, 3, (4,))",
                   {1.277975743855, 0.5279757438553, 2.027975743855, 1.277975743855}},
        OracleCase{
            "F.cross_entropy(x, y, reduction='sum')", "torch.rand(4, 3), torch.randint(0, 3, (4,))", {5.111902975421}},
        OracleCase{
            "F.cross_entropy(x, y, ignore_index=1)", "torch.rand(4, 3), torch.randint(0, 3, (4,))", {1.277975743855}},
        OracleCase{"F.cross_entropy(x, y, label_smoothing=0.2)",
                   "torch.rand(4, 3), torch.randint(0, 3, (4,))",
                   {1.277975743855}},
        OracleCase{"F.cross_entropy(x, y, label_smoothing=0.2, ignore_index=2)",
                   "torch.rand(4, 3), torch.randint(0, 3, (4,))",
                   {1.477975743855}},
        OracleCase{"F.cross_entropy(x, y, label_smoothing=0.3, reduction='none', ignore_index=0)",
                   "torch.rand(4, 3), torch.randint(0, 3, (4,))",
                   {1.277975743855, 0.7529757438553, 0, 1.277975743855}},
        OracleCase{"F.nll_loss(x, y)", "torch.rand(4, 3), torch.randint(0, 3, (4,))", {0}},
        OracleCase{
            "F.nll_loss(x, y, ignore_index=0)", "torch.rand(4, 3), torch.randint(0, 3, (4,))", {-0.5833333333333}},
        OracleCase{"F.nll_loss(x, y, reduction='none')",
                   "torch.rand(4, 3), torch.randint(0, 3, (4,))",
                   {1.25, -1.75, 1.75, -1.25}},
        OracleCase{"F.cross_entropy(x, y, more[1])",
                   "torch.rand(4, 3), torch.randint(0, 3, (4,)), torch.rand(3) + 1",
                   {1.152975743855}},
        OracleCase{"F.cross_entropy(x, y, more[1], label_smoothing=0.1)",
                   "torch.rand(4, 3), torch.randint(0, 3, (4,)), torch.rand(3) + 1",
                   {1.148809077189}},
        OracleCase{"F.cross_entropy(x, y, more[1], label_smoothing=0.1, reduction='none', ignore_index=1)",
                   "torch.rand(4, 3), torch.randint(0, 3, (4,)), torch.rand(3) + 1",
                   {0, 0.8377895253884, 1.493905898286, 0}},
        OracleCase{"F.nll_loss(x, y, more[1], ignore_index=2)",
                   "torch.rand(4, 3), torch.randint(0, 3, (4,)), torch.rand(3) + 1",
                   {0.4375}},
        OracleCase{"F.cross_entropy(x, y)", "torch.rand(2, 3, 2), torch.randint(0, 3, (2, 2))", {1.741311296657}},
        OracleCase{"F.cross_entropy(x, y)", "torch.rand(3), torch.randint(0, 3, ())", {1.277975743855}},
        OracleCase{"F.nll_loss(x, y, reduction='none')",
                   "torch.rand(2, 3, 2), torch.randint(0, 3, (2, 2))",
                   {0.5, -1.75, 1.75, -0.5}},
        OracleCase{"F.cross_entropy(x, torch.softmax(y, 1))", "torch.rand(4, 3), torch.rand(4, 3)", {1.216505903491}},
        OracleCase{"F.cross_entropy(x, torch.softmax(y, 1), more[1], label_smoothing=0.1, reduction='none')",
                   "torch.rand(4, 3), torch.rand(4, 3), torch.rand(3) + 1",
                   {1.430849557154, 1.086053557076, 1.430849557154, 1.086053557076}},
        OracleCase{"F.cross_entropy(x, torch.softmax(y, 1), more[1])",
                   "torch.rand(2, 3, 2), torch.rand(2, 3, 2), torch.rand(3) + 1",
                   {1.96968121135}}));

}  // namespace
}  // namespace kw::program_oracle_test
