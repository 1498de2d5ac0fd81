// Kernels whose rows have a warp each, or a half or a quarter of one, on the CUDA simulator through the whole verifier.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

struct WarpRowsCase {
  ModuleCase module;
  const char* lanes;  ///< of the kernel's text: which of a row's work-items one is
};

/// Rows of fours, and of lengths that four does not divide, in whose last lanes there is little or nothing.
const std::vector<WarpRowsCase> k_rows = {
    {{"of_40", "self.n(x)", "self.n = nn.LayerNorm(40)", "torch.randn(300, 40)"}, "threadIdx.x % 8;"},
    {{"of_33", "torch.softmax(x, 1) * more[0]", "pass", "torch.randn(301, 33), torch.rand(33)"}, "threadIdx.x % 8;"},
    {{"of_64", "F.gelu(self.n(x))", "self.n = nn.LayerNorm(64)", "torch.randn(9, 33, 64)"}, "threadIdx.x % 16;"},
    {{"of_101", "F.log_softmax(x, 1)", "pass", "torch.randn(300, 101)"}, "threadIdx.x % 16;"},
    {{"of_130", "x / torch.sqrt(torch.sum(x * x, 1, keepdim=True))", "pass", "torch.rand(300, 130)"},
     "threadIdx.x % 32;"},
};

class WarpRows : public ModulesOnSimulator<WarpRowsCase> {};

TEST_P(WarpRows, are_accepted) {
  const Problem read = problem(GetParam().module);
  const Bundle bundle = device_->emitted(read, "fused", "", {}, 1);
  expect_accepted_with("WARP_ROW_THREADS", read, bundle, {});
  expect_accepted_with(GetParam().lanes, read, bundle, {{"WARP_ROW_THREADS", 64}});
}

INSTANTIATE_TEST_SUITE_P(Short, WarpRows, testing::ValuesIn(k_rows),
                         [](const auto& one) { return one.param.module.name; });

}  // namespace
}  // namespace kw
