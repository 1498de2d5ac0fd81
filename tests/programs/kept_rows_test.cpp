// Kernels that keep the rows they read more than once in shared memory, on the CUDA simulator through the whole
// verifier: rows that are kept whole and in part, whose length four divides or does not.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

/// Rows are few, so that a device of one unit alone has a work-group for each.
const std::vector<ModuleCase> k_kept = {
    {"divided_by_a_mean", "x / torch.mean(torch.abs(x), 1, keepdim=True)", "pass", "torch.rand(5, 16387) + 0.5"},
    {"divided_by_a_norm", "x * more[0] / torch.sqrt(torch.sum(x * x, 1, keepdim=True))", "pass",
     "torch.rand(5, 16388), torch.rand(16388)"},
    {"softmax", "torch.softmax(x, 1)", "pass", "torch.randn(5, 16387)"},
    {"log_softmax_of_fours", "F.log_softmax(x * 2, 1)", "pass", "torch.randn(5, 16384)"},
    {"mean_and_variance", "self.n(x)", "self.n = nn.LayerNorm(16389)", "torch.randn(4, 16389)"},
    {"planes_of_an_image", "torch.relu(self.n(x))", "self.n = nn.InstanceNorm2d(3)", "torch.randn(2, 3, 130, 102)"},
    {"behind_a_part_of_it", "(torch.triu(x).sum(1, keepdim=True) + torch.amax(x, 1, keepdim=True)) * x", "pass",
     "torch.rand(5, 16387)"},
    {"some_of_its_elements", "torch.where(more[0] > 0.5, x, x * 0) - torch.amax(x, 1, keepdim=True)", "pass",
     "torch.rand(5, 16387), torch.rand(5, 16387)"},
};

constexpr const char* k_keeps = "kept_row[start + part * KEPT_ROW_THREADS] = ";

class KeptRows : public ModulesOnSimulator<> {
 protected:
  static Bundle emitted(const Problem& problem) { return device_->emitted(problem, "fused", "", {}, 1); }

  static void expect_accepted(const IntBindings& tunables) {
    const Problem read = problem(GetParam());
    expect_accepted_with(k_keeps, read, emitted(read), tunables);
  }
};

TEST_P(KeptRows, are_accepted) {
  expect_accepted({});
}

TEST_P(KeptRows, are_accepted_where_a_part_fits) {
  expect_accepted({{"ROW_KEPT", 12288}, {"KEPT_ROW_THREADS", 256}, {"KEPT_ROW_ELEMENTS", 2}});
}

TEST_P(KeptRows, are_accepted_where_nothing_is_kept) {
  expect_accepted({{"ROW_KEPT", 0}});
}

INSTANTIATE_TEST_SUITE_P(Rows, KeptRows, testing::ValuesIn(k_kept), [](const auto& one) { return one.param.name; });

class NoKeptRows : public KeptRows {};

TEST_F(NoKeptRows, are_short_ones_and_those_that_are_read_once_or_elsewhere) {
  const std::vector<ModuleCase> others = {
      {"short", "torch.softmax(x, 1)", "pass", "torch.randn(5, 8192)"},
      {"once", "torch.sum(x, 1)", "pass", "torch.randn(5, 16384)"},
      {"another_row", "x - more[0].sum(1, keepdim=True)", "pass", "torch.rand(5, 16384), torch.rand(5, 16384)"},
      {"mirrored", "x.flip(1) / x.sum(1, keepdim=True)", "pass", "torch.rand(5, 16384)"},
      {"of_halves", "torch.softmax(x, 1)", "pass", "torch.randn(5, 16384).half()"},
      {"too_long", "torch.softmax(x, 1)", "pass", "torch.randn(5, 131072)"},
  };
  for (const auto& one : others) {
    EXPECT_EQ(emitted(problem(one)).source.find("kept_row"), std::string::npos) << one.name;
  }
}

/// The simulator sees that what nobody has kept is read.
TEST_F(NoKeptRows, are_rejected_where_they_are_read) {
  const Problem read = problem(k_kept[0]);
  Bundle bundle = emitted(read);
  const auto at = bundle.source.find(k_keeps);
  ASSERT_NE(at, std::string::npos) << bundle.source;
  bundle.source.replace(at, std::string(k_keeps).size(), "kept_row[0] + ");
  EXPECT_EQ(device_->verdict_of(read, bundle).status, VerdictStatus::rejected);
}

}  // namespace
}  // namespace kw
