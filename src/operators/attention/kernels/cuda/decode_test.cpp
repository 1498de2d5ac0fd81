#include "operators/attention/kernels/cuda/decode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_system.hpp"
#include "codegen/codegen.hpp"
#include "codegen/testing/devices.hpp"
#include "record/launch_plan.hpp"

namespace kw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Problem shipped(const std::string& name) {
  return load_problem("attention/" + name, RealFileSystem{}, {"problems"}).value();
}

Bundle mma_bundle(const Problem& problem, const IntBindings& structure = {}) {
  return emit_bundle(problem, "cuda", "mma", h200_device(), structure).value();
}

LaunchPlan primary_plan(const Problem& problem, const Bundle& bundle, const IntBindings& tunables) {
  const Candidate candidate = make_candidate(bundle, tunables).value();
  return plan_launches(candidate, problem, problem.primary().axes, h200_device()).value();
}

TEST(Decode, keys_are_cut_so_that_every_unit_has_its_blocks) {
  const Problem problem = shipped("decode");
  const Bundle bundle = mma_bundle(problem);
  const LaunchPlan plan = primary_plan(problem, bundle, {{"WARPS", 1}, {"BLOCK_N", 16}, {"BLOCKS_PER_UNIT", 4}});
  ASSERT_EQ(plan.launches.size(), 2U);
  // 132 units with 4 blocks each for 4 key heads of 2 sequences: 66 parts of 256 panels.
  EXPECT_THAT(plan.launches[0].grid, ElementsAre(66, 4, 2));
  EXPECT_THAT(plan.launches[1].grid, ElementsAre(32, 1, 1)) << "a block for every row";
  const LaunchPlan coarse = primary_plan(problem, bundle, {{"WARPS", 1}, {"BLOCK_N", 32}, {"BLOCKS_PER_UNIT", 8}});
  EXPECT_THAT(coarse.launches[0].grid, ElementsAre(128, 4, 2)) << "no more parts than panels";
}

TEST(Decode, heads_that_share_a_key_head_share_a_tile) {
  const Problem problem = shipped("decode");
  EXPECT_THAT(mma_bundle(problem).source, HasSubstr("first_head + packed_row / Sq"));
  const Bundle apart = mma_bundle(problem, {{"pack_gqa", 0}});
  EXPECT_THAT(apart.source, Not(HasSubstr("packed_row")));
  EXPECT_THAT(primary_plan(problem, apart, {{"WARPS", 1}, {"BLOCK_N", 16}, {"BLOCKS_PER_UNIT", 4}}).launches[0].grid,
              ElementsAre(16, 16, 2));
}

TEST(Decode, without_parts_one_kernel_writes_the_output) {
  const Problem problem = shipped("decode");
  const Bundle whole = mma_bundle(problem, {{"split_kv", 0}});
  EXPECT_TRUE(whole.scratch.empty());
  EXPECT_THAT(whole.source, Not(HasSubstr("part_values")));
  EXPECT_THAT(primary_plan(problem, whole, {{"WARPS", 1}}).launches[0].grid, ElementsAre(1, 4, 2));
}

TEST(Decode, a_mask_with_a_map_is_split_and_packed) {
  const Problem problem = shipped("tree");
  const Bundle tree = mma_bundle(problem);
  EXPECT_THAT(tree.source, HasSubstr("needed_panel(codes, part_first, part_end)"));
  EXPECT_THAT(tree.source, HasSubstr("packed_row"));
  // 4 heads of 64 queries are two tiles of 128 rows; 2112 keys are 66 panels, each classified by a block of its own.
  EXPECT_THAT(primary_plan(problem, tree, {{"WARPS", 8}, {"BLOCK_N", 32}}).launches[0].grid, ElementsAre(2 * 66, 1, 2));
}

TEST(Decode, a_mask_that_differs_from_head_to_head_is_not_packed_unless_it_is_an_interval) {
  const auto with_mask = [](const std::string& mask) {
    return parse_problem(
               "name = \"test/decode\"\nop = \"attention\"\n"
               "description = \"a test\"\n[axes]\nB = 1\nHq = 4\nHkv = 2\nSq = 2\n"
               "Skv = 512\nD = 16\n[attention]\ndtype = \"f32\"\nmask_mod = \"lambda b, h, q_idx, kv_idx: " +
                   mask + "\"\n[[workload]]\nname = \"one\"\nrole = \"edge\"\nSq = 1\n",
               "test.toml")
        .value();
  };
  const auto packs = [](const Problem& problem) {
    return mma_bundle(problem).source.find("packed_row") != std::string::npos;
  };
  EXPECT_TRUE(packs(with_mask("(q_idx + kv_idx) % 3 == 0")));
  EXPECT_FALSE(packs(with_mask("(h + kv_idx) % 3 == 0")));
  EXPECT_TRUE(packs(with_mask("kv_idx > h")));
}

TEST(Decode, heads_share_the_map_of_a_term_that_is_the_same_for_all_of_them) {
  const auto packs = [](const std::string& index) {
    const Problem problem =
        parse_problem(
            "name = \"test/decode\"\nop = \"attention\"\n[axes]\nB = 1\nHq = 4\nHkv = 2\nSq = 2\n"
            "Skv = 512\nD = 16\n[tensors.mask]\ndtype = \"f32\"\naxes = [\"Hq\", \"Sq\", \"Skv\"]\n"
            "formula = \"lambda h, q, k: torch.where(k > q + 300, -torch.inf, 0.0)\"\n[attention]\ndtype = \"f32\"\n"
            "score_mod = \"lambda s, b, h, q, k: s + mask[" +
                index + ", q, k]\"\n[[workload]]\nname = \"one\"\nrole = \"edge\"\nSq = 1\n",
            "test.toml")
            .value();
    const std::string source = mma_bundle(problem).source;
    EXPECT_THAT(source, HasSubstr("void row_limits("));
    return source.find("packed_row") != std::string::npos;
  };
  EXPECT_TRUE(packs("0"));
  EXPECT_FALSE(packs("h"));
}

TEST(Decode, is_for_few_queries_alone) {
  for (const char* name : {"full", "gqa_causal", "cross_attention"}) {
    const Bundle bundle = mma_bundle(shipped(name));
    EXPECT_THAT(bundle.source, Not(HasSubstr("part_values"))) << name;
    EXPECT_THAT(bundle.source, Not(HasSubstr("packed_row"))) << name;
  }
}

}  // namespace
}  // namespace kw
