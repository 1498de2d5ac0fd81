// Products of matrices of 16-bit numbers whose tiles the copy engine brings to shared memory, on the CUDA simulator
// through the whole verifier: layouts of the second factor, batches, sums that are split, what becomes of the sums, and
// sizes at which the copy engine cannot read the factors.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

const IntBindings k_boxes = {{"BOXES", 1}};
const IntBindings k_small = {{"TILE_M", 64}, {"TILE_N", 64}, {"THREAD_N", 16}, {"TILE_STAGES", 3}};
constexpr const char* k_copies = "copy_box(row_tiles";

const std::vector<ModuleCase> k_cases = {
    {"steps_are_neighbours", "F.linear(x, more[0])", "pass", "torch.randn(70, 96).half(), torch.randn(140, 96).half()"},
    {"columns_are_neighbours", "x @ more[0]", "pass", "torch.randn(70, 104).half(), torch.randn(104, 136).half()"},
    {"in_bf16", "x @ more[0]", "pass", "torch.randn(70, 72).bfloat16(), torch.randn(72, 136).bfloat16()"},
    {"linear_in_bf16", "F.linear(x, more[0])", "pass",
     "torch.randn(70, 72).bfloat16(), torch.randn(37, 72).bfloat16()"},
    {"batches", "torch.bmm(x, more[0])", "pass", "torch.randn(3, 70, 40).half(), torch.randn(3, 40, 72).half()"},
    {"batches_of_one_factor", "torch.einsum('bik,kj->bij', x, more[0])", "pass",
     "torch.randn(3, 70, 40).half(), torch.randn(40, 72).half()"},
    {"heads", "x @ more[0].transpose(2, 3)", "pass",
     "torch.randn(2, 3, 40, 72).half(), torch.randn(2, 3, 19, 72).half()"},
    {"heads_apart", "torch.einsum('bqhd,bkhd->bhqk', x, more[0])", "pass",
     "torch.randn(1, 70, 3, 40).half(), torch.randn(1, 19, 3, 40).half()"},
    {"rows_of_two_axes", "x @ more[0]", "pass", "torch.randn(3, 21, 72).half(), torch.randn(72, 40).half()"},
    {"a_long_sum", "x @ more[0]", "pass", "torch.randn(17, 1200).half(), torch.randn(1200, 24).half()"},
    {"one_chunk_of_steps", "x @ more[0]", "pass", "torch.randn(70, 8).half(), torch.randn(8, 24).half()"},
    {"part_of_a_tensor", "x[:, 8:] @ more[0][8:]", "pass", "torch.randn(70, 80).half(), torch.randn(80, 72).half()"},
    {"bias_and_maps", "torch.relu(x @ more[0] + more[1]) * 2", "pass",
     "torch.randn(70, 72).half(), torch.randn(72, 136).half(), torch.randn(136).half()"},
    {"results_in_f32", "(x @ more[0]).float()", "pass", "torch.randn(70, 72).half(), torch.randn(72, 136).half()"},
    {"odd_columns_by_rows", "F.linear(x, more[0])", "pass", "torch.randn(33, 72).half(), torch.randn(37, 72).half()"},
    {"sum_of_rows", "torch.logsumexp(x @ more[0], 1, keepdim=True)", "pass",
     "torch.randn(70, 72).half(), torch.randn(72, 136).half()"},
    {"upper_triangle", "torch.triu(x @ more[0])", "pass", "torch.randn(136, 72).half(), torch.randn(72, 136).half()"},
};

class Boxes : public ModulesOnSimulator<> {
 protected:
  static Bundle emitted(const Problem& problem) { return device_->emitted(problem, "fused", "", k_boxes); }
};

TEST_P(Boxes, are_accepted) {
  const Problem read = problem(GetParam());
  expect_accepted_with(k_copies, read, emitted(read), {});
}

TEST_P(Boxes, are_accepted_in_small_tiles) {
  const Problem read = problem(GetParam());
  expect_accepted_with(k_copies, read, emitted(read), k_small);
}

INSTANTIATE_TEST_SUITE_P(Products, Boxes, testing::ValuesIn(k_cases), [](const auto& one) { return one.param.name; });

class NoBoxes : public Boxes {};

TEST_F(NoBoxes, are_rows_that_begin_at_no_multiple_of_16_bytes) {
  const std::vector<ModuleCase> others = {
      {"odd_steps", "F.linear(x, more[0])", "pass", "torch.randn(70, 97).half(), torch.randn(140, 97).half()"},
      {"odd_columns", "x @ more[0]", "pass", "torch.randn(70, 96).half(), torch.randn(96, 141).half()"},
      {"begin_inside", "x[:, 1:] @ more[0][1:]", "pass", "torch.randn(70, 80).half(), torch.randn(80, 72).half()"},
      {"rows_apart", "torch.einsum('bqhd,kd->bhqk', x, more[0])", "pass",
       "torch.randn(2, 20, 3, 72).half(), torch.randn(19, 72).half()"},
  };
  for (const auto& one : others) {
    EXPECT_EQ(emitted(problem(one)).source.find(k_copies), std::string::npos) << one.name;
  }
}

/// Their launch takes longer than it saves.
TEST_F(NoBoxes, are_small_products_unless_they_are_asked_for) {
  EXPECT_EQ(device_->emitted(problem(k_cases[0]), "fused").source.find(k_copies), std::string::npos);
}

/// Every size is an axis, so that the workloads have some that are no multiples of eight.
TEST_F(NoBoxes, are_accepted_at_sizes_that_the_copy_engine_cannot_read) {
  for (const char* product : {"x @ more[0]", "F.linear(x, more[0].T)"}) {
    auto module = module_of(product, "pass", "torch.randn(H, W).half(), torch.randn(W, C).half()");
    const std::string axes = "B, C, H, W = 4, 6, 12, 20";
    module.replace(module.find(axes), axes.size(), "C, H, W = 40, 70, 72");
    const Problem read = problem_of_module(module, "m.py");
    const Bundle bundle = emitted(read);
    EXPECT_NE(bundle.source.find("const bool whole = "), std::string::npos) << bundle.source;
    expect_accepted_with(k_copies, read, bundle, k_small);
  }
}

TEST_F(NoBoxes, are_rejected_that_are_wrong) {
  // More tiles of steps than stages, and two panels of columns.
  const Problem read =
      problem({"long", "x @ more[0]", "pass", "torch.randn(70, 328).half(), torch.randn(328, 136).half()"});
  const Bundle honest =
      with_defaults(emitted(read), {{"TILE_M", 64}, {"TILE_N", 128}, {"THREAD_N", 32}, {"TILE_STAGES", 3}});
  ASSERT_TRUE(device_->verdict_of(read, honest).accepted());
  expect_rejected(
      read, honest,
      {
          {"not waited for", "wait_for_bytes(&arrivals[stage], parity);\n      __syncthreads", "__syncthreads"},
          {"one phase for all", "parity ^= stage == 0;", ""},
          {"no barrier before a box is overwritten", "__syncthreads();\n      load_tile(step", "load_tile(step"},
          {"another panel", "first_column + panel * 64", "first_column"},
          {"bytes of one factor", "128 * (TILE_M + TILE_N)", "128 * TILE_M"},
          {"another row", "next, first_row, 0", "next, first_row + 1, 0"},
      });
}

}  // namespace
}  // namespace kw
