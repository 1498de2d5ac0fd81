#include "operators/program/kernels/contract_statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/reader/program_reader.hpp"
#include "program/stages/fuse.hpp"
#include "program/stages/lower.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

using program_test::module_text;
using testing::ElementsAre;
using testing::IsEmpty;

/// Of the first three stages of a module: a convolution, sums of its values and sums of squares.
std::optional<ContractStatistics> statistics_of(const std::string& result, const std::string& init,
                                                const std::string& inputs = "torch.rand(4, 16, 40, 52)",
                                                const std::set<std::string>& apart = {}) {
  const auto program = read_program(module_text("return " + result, inputs, init), "m.py");
  KW_CHECK(program.has_value(), "{}", program.error().to_string());
  auto lowered = lower(program->graph, program->outputs);
  KW_CHECK(lowered.has_value(), "{}", lowered.error().to_string());
  const auto stages = fused(*std::move(lowered)).program;
  KW_CHECK(stages.stages.size() >= 3, "no sums");
  return contract_statistics(stages, stages.stages[0], {stages.stages[1], stages.stages[2]}, apart);
}

std::vector<std::string> names_of(const StageAxes& axes) {
  std::vector<std::string> names;
  for (const auto& axis : axes) names.push_back(axis.name);
  return names;
}

const char* const k_convolution = "self.c = nn.Conv2d(16, 40, 3)";

TEST(ContractStatistics, of_batches_sum_all_columns) {
  const auto found = statistics_of("F.batch_norm(self.c(x), None, None, training=True)", k_convolution);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(found->kept, IsEmpty());
  ASSERT_EQ(found->moments.size(), 1U);
  EXPECT_TRUE(found->moments[0].squares.has_value());
  EXPECT_THAT(found->moments[0].joined, IsEmpty()) << "each channel has its own";
}

TEST(ContractStatistics, of_groups_keep_images_and_join_channels) {
  const auto found = statistics_of("F.group_norm(torch.sin(self.c(x)), 8)", k_convolution);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(names_of(found->kept), ElementsAre("n"));
  EXPECT_THAT(names_of(found->contraction.batch), ElementsAre("n"));
  EXPECT_THAT(names_of(found->contraction.columns), ElementsAre("y", "x"));
  ASSERT_EQ(found->moments[0].joined.size(), 1U);
  EXPECT_EQ(found->moments[0].joined[0].extent.text(), "5") << "channels of a group";
}

TEST(ContractStatistics, of_transposed_convolutions_join_phases) {
  const auto found = statistics_of("F.batch_norm(self.c(x), None, None, training=True)",
                                   "self.c = nn.ConvTranspose2d(16, 40, 3, stride=2)");
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(names_of(found->moments[0].joined), ElementsAre("joined_y_phase", "joined_x_phase"));
  EXPECT_EQ(joined_by_parts(*found, found->moments[0], {found->batch[0]}).size(), 1U);
}

/// As tiles have one image each, whatever is summed.
TEST(ContractStatistics, join_images_of_parts_that_are_apart) {
  const auto found = statistics_of("F.batch_norm(self.c(x), None, None, training=True)", k_convolution,
                                   "torch.rand(4, 16, 40, 52)", {"n"});
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(names_of(found->kept), ElementsAre("n"));
  EXPECT_THAT(names_of(found->moments[0].joined), ElementsAre("joined_n"));
}

/// Norms of what more is read for, of channels alone, and of every second line.
TEST(ContractStatistics, are_none_of_other_sums) {
  for (const char* result : {"F.layer_norm(self.c(x).permute(0, 2, 3, 1), (40,))",
                             "F.layer_norm(torch.sin(self.c(x))[:, :, ::2], (40, 19, 50))"})
    EXPECT_FALSE(statistics_of(result, k_convolution).has_value()) << result;
}

}  // namespace
}  // namespace kw
