// Kernels of rows side by side that keep them in registers, on the CUDA simulator through the whole verifier: rows that
// are kept whole and in part.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

const std::vector<ModuleCase> k_kept = {
    {"divided_by_a_root", "x / torch.sqrt(torch.mean(x * x, 1, keepdim=True) + 1e-5)", "pass",
     "torch.randn(3, 40, 9, 7)"},
    {"softmax", "torch.sigmoid(torch.softmax(x, 1) + more[0])", "pass", "torch.randn(2, 64, 51), torch.rand(64, 1)"},
    {"mean_and_variance", "(x - x.mean(1, keepdim=True)) / torch.sqrt(x.var(1, keepdim=True, unbiased=False) + 1e-5)",
     "pass", "torch.randn(2, 37, 6, 11)"},
    {"largest", "torch.relu(x) - torch.amax(torch.relu(x), 1, keepdim=True)", "pass", "torch.randn(3, 33, 70)"},
};

constexpr const char* k_keeps = "kept_batch[part] = ";

class RegisterRows : public ModulesOnSimulator<> {
 protected:
  static Bundle emitted(const Problem& problem) { return device_->emitted(problem, "fused", "", {}, 1); }

  static void expect_accepted(const IntBindings& tunables) {
    const Problem read = problem(GetParam());
    expect_accepted_with(k_keeps, read, emitted(read), tunables);
  }
};

TEST_P(RegisterRows, are_accepted) {
  expect_accepted({});
}

TEST_P(RegisterRows, are_accepted_where_a_part_is_kept) {
  expect_accepted({{"SHORT_LANE_THREADS", 64}, {"ROW_ELEMENTS", 4}});
}

INSTANTIATE_TEST_SUITE_P(Channels, RegisterRows, testing::ValuesIn(k_kept),
                         [](const auto& one) { return one.param.name; });

class NoRegisterRows : public RegisterRows {};

TEST_F(NoRegisterRows, are_long_ones_and_those_that_are_read_once_or_elsewhere) {
  const std::vector<ModuleCase> others = {
      {"once", "torch.sum(x, 1)", "pass", "torch.randn(3, 40, 50)"},
      {"side_by_side_no_more", "torch.softmax(x, 2)", "pass", "torch.randn(3, 40, 50)"},
      {"long", "torch.softmax(x, 1)", "pass", "torch.randn(3, 65, 50)"},
      {"mirrored", "x.flip(1) / x.sum(1, keepdim=True)", "pass", "torch.rand(3, 40, 50)"},
  };
  for (const auto& one : others) {
    EXPECT_EQ(emitted(problem(one)).source.find("kept_batch"), std::string::npos) << one.name;
  }
}

/// The first batch is where the kept elements belong, and no other one.
TEST_F(NoRegisterRows, are_rejected_where_another_batch_is_taken_for_them) {
  const Problem read = problem(k_kept[0]);
  Bundle bundle = emitted(read);
  const std::string index = "kept_batch[part];";
  const auto at = bundle.source.find(index);
  ASSERT_NE(at, std::string::npos) << bundle.source;
  bundle.source.replace(at, index.size(), "kept_batch[part ^ 1];");
  EXPECT_EQ(device_->verdict_of(read, bundle).status, VerdictStatus::rejected);
}

}  // namespace
}  // namespace kw
