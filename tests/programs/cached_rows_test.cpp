// Long rows that are reduced and then mapped in one kernel, a part of a row for each block, on the CUDA simulator
// through the whole verifier: parts that are whole or not, whose neighbours lie in sixteen bytes or anywhere.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

/// Longer than what a block keeps.
const std::vector<ModuleCase> k_cached = {
    {"softmax", "torch.softmax(x, 1)", "pass", "torch.randn(3, 60001)"},
    {"log_softmax_of_fours", "F.log_softmax(x * 2, 1)", "pass", "torch.randn(3, 61440)"},
    {"divided_by_a_mean", "x / torch.mean(torch.abs(x), 1, keepdim=True)", "pass", "torch.rand(3, 60003) + 0.5"},
    {"divided_by_a_norm", "x * more[0] / torch.sqrt(torch.sum(x * x, 1, keepdim=True))", "pass",
     "torch.rand(2, 60004), torch.rand(60004)"},
    {"below_the_largest", "torch.relu(x + 1 - torch.amax(x, 1, keepdim=True))", "pass", "torch.randn(3, 60004)"},
    {"groups_of_an_image", "self.n(x)", "self.n = nn.GroupNorm(2, 6)", "torch.randn(2, 6, 140, 145)"},
    {"groups_of_an_image_of_fours", "self.n(x)", "self.n = nn.GroupNorm(2, 6)", "torch.randn(2, 6, 141, 144)"},
    {"planes_of_an_image", "torch.relu(self.n(x))", "self.n = nn.InstanceNorm2d(3)", "torch.randn(1, 3, 246, 248)"},
    {"by_its_place", "x - torch.sum(x, 1, keepdim=True) * torch.arange(60004) / 60004", "pass", "torch.rand(2, 60004)"},
};

constexpr const char* k_by_parts = "leave_word(of_parts + ticket";

class CachedRows : public ModulesOnSimulator<> {
 protected:
  static Bundle emitted(const Problem& problem) { return device_->emitted(problem, "fused"); }

  static void expect_accepted(const IntBindings& tunables) {
    const Problem read = problem(GetParam());
    expect_accepted_with(k_by_parts, read, emitted(read), tunables);
  }
};

TEST_P(CachedRows, are_accepted) {
  expect_accepted({});
}

TEST_P(CachedRows, are_accepted_in_many_parts) {
  expect_accepted({{"PART_THREADS", 128}, {"PART_ELEMENTS", 8}, {"PART_BLOCKS", 8}, {"PARTS_AHEAD", 64}});
}

TEST_P(CachedRows, are_accepted_in_few_parts) {
  expect_accepted({{"PART_THREADS", 512}, {"PART_ELEMENTS", 32}, {"PART_BLOCKS", 1}, {"PARTS_AHEAD", 128}});
}

INSTANTIATE_TEST_SUITE_P(Rows, CachedRows, testing::ValuesIn(k_cached), [](const auto& one) { return one.param.name; });

class NoCachedRows : public CachedRows {};

TEST_F(NoCachedRows, are_those_that_a_block_keeps_and_those_that_are_read_once_or_elsewhere) {
  const std::vector<ModuleCase> others = {
      {"kept", "torch.softmax(x, 1)", "pass", "torch.randn(5, 50000)"},
      {"too_long", "torch.softmax(x, 1)", "pass", "torch.randn(2, 4000000)"},
      {"once", "torch.sum(x, 1)", "pass", "torch.randn(5, 60000)"},
      {"returned_too", "(lambda s: (x / s, s))(torch.sum(x, 1, keepdim=True))", "pass", "torch.rand(5, 60000)"},
      {"mirrored", "x.flip(1) / x.sum(1, keepdim=True)", "pass", "torch.rand(5, 60000)"},
      {"of_halves", "torch.softmax(x, 1)", "pass", "torch.randn(5, 60000).half()"},
      {"place_of_the_largest", "x - torch.argmax(x, 1, keepdim=True)", "pass", "torch.rand(5, 60000)"},
      {"across_rows", "x - torch.sum(x, 0, keepdim=True)", "pass", "torch.rand(60000, 5)"},
  };
  for (const auto& one : others) {
    EXPECT_EQ(emitted(problem(one)).source.find(k_by_parts), std::string::npos) << one.name;
  }
}

/// Parts of the last row are not all there where one block less is launched.
TEST_F(NoCachedRows, are_rejected_where_a_block_is_missing) {
  const Problem read = problem(k_cached[0]);
  Bundle bundle = emitted(read);
  ASSERT_EQ(bundle.launches.size(), 2u);
  bundle.launches[1].grid[0] += " - 1";
  EXPECT_EQ(device_->verdict_of(read, bundle).status, VerdictStatus::rejected);
}

}  // namespace
}  // namespace kw
