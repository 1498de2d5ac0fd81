// Products of which one side of a diagonal is stored, on the CUDA simulator through the whole verifier: tiles whose
// sums nobody stores are not multiplied.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

constexpr const char* k_skips = "// Of other tiles no sum is stored.";
const IntBindings k_small = {{"TILE_M", 64}, {"TILE_N", 64}, {"THREAD_N", 16}};

const std::vector<ModuleCase> k_triangles = {
    {"upper", "torch.triu(x @ more[0])", "pass", "torch.randn(140, 33), torch.randn(33, 139)"},
    {"lower", "torch.tril(x @ more[0])", "pass", "torch.randn(140, 33), torch.randn(33, 139)"},
    {"upper_from_a_diagonal_above", "torch.triu(x @ more[0], 40)", "pass",
     "torch.randn(140, 33), torch.randn(33, 139)"},
    {"lower_from_a_diagonal_below", "torch.tril(x @ more[0], -65)", "pass",
     "torch.randn(140, 33), torch.randn(33, 139)"},
    {"lower_to_a_diagonal_above", "torch.tril(x @ more[0], 63)", "pass", "torch.randn(140, 33), torch.randn(33, 139)"},
    {"with_maps_around", "torch.triu(torch.relu(x @ more[0]) * 2) + more[1]", "pass",
     "torch.randn(140, 33), torch.randn(33, 139), torch.randn(139)"},
    {"of_batches", "torch.tril(torch.bmm(x, more[0]))", "pass", "torch.randn(2, 70, 33), torch.randn(2, 33, 130)"},
    {"of_a_long_sum", "torch.triu(x @ more[0])", "pass", "torch.randn(70, 1100), torch.randn(1100, 130)"},
};

class Triangles : public ModulesOnSimulator<> {
 protected:
  static void expect_accepted(const std::string& precision, const IntBindings& structure, const IntBindings& tunables) {
    const Problem read = problem(GetParam(), precision);
    expect_accepted_with(k_skips, read, device_->emitted(read, "fused", "", structure), tunables);
  }
};

TEST_P(Triangles, are_accepted) {
  expect_accepted("", {{"SCALED", 2}}, {});
}

TEST_P(Triangles, are_accepted_scaled) {
  expect_accepted("", {{"SCALED", 1}}, k_small);
}

TEST_P(Triangles, are_accepted_rounded) {
  expect_accepted("tf32", {{"SCALED", 1}}, k_small);
}

INSTANTIATE_TEST_SUITE_P(Diagonals, Triangles, testing::ValuesIn(k_triangles),
                         [](const auto& one) { return one.param.name; });

class NoTriangles : public Triangles {};

TEST_F(NoTriangles, are_products_that_are_stored_whole) {
  for (const char* result : {"x @ more[0]", "torch.where(more[1] > 0, x @ more[0], 0)"}) {
    const ModuleCase one = {"whole", result, "pass", "torch.randn(70, 33), torch.randn(33, 70), torch.randn(70, 70)"};
    EXPECT_EQ(device_->emitted(problem(one), "fused").source.find(k_skips), std::string::npos) << result;
  }
}

/// The tiles on the diagonal.
TEST_F(NoTriangles, are_rejected_that_skip_tiles_with_sums) {
  const Problem read = problem(k_triangles[0]);
  expect_rejected(read, device_->emitted(read, "fused", "", {{"SCALED", 1}}),
                  {{"tiles on the diagonal", "+ -(first_column + TILE_N - 1)", "+ -(first_column - TILE_N)"}});
}

}  // namespace
}  // namespace kw
