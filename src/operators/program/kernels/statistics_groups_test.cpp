#include "operators/program/kernels/statistics_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hardware/device_file.hpp"
#include "operators/program/kernels/grouping.hpp"
#include "program/reader/program_reader.hpp"
#include "program/stages/lower.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

using program_test::module_text;
using testing::ElementsAre;

/// Of a convolution with 16 channels and an instance norm on an H200: how many stages each group has.
std::vector<std::size_t> groups_of(const std::string& images, WayUse statistics = WayUse::estimated) {
  const auto program = read_program(
      module_text("return F.instance_norm(self.c(x))", "torch.rand(" + images + ")", "self.c = nn.Conv2d(3, 16, 3)"),
      "m.py");
  KW_CHECK(program.has_value(), "{}", program.error().to_string());
  auto lowered = lower(program->graph, program->outputs);
  KW_CHECK(lowered.has_value(), "{}", lowered.error().to_string());
  ContractWays ways;
  ways.statistics = statistics;
  const auto grouped = grouped_for(*std::move(lowered), cuda_dialect(), find_device_facts("h200").value(), ways);
  std::vector<std::size_t> sizes;
  for (const auto& group : grouped.groups) sizes.push_back(group.stages.size());
  return sizes;
}

/// The convolution with both sums, and what is stored; otherwise the convolution, and all of the norm.
TEST(StatisticsGroups, are_of_rows_that_one_launch_does_not_do) {
  EXPECT_THAT(groups_of("32, 3, 257, 257"), ElementsAre(3, 1)) << "rows are split, since there are few";
  EXPECT_THAT(groups_of("64, 3, 257, 257"), ElementsAre(1, 3));
  EXPECT_THAT(groups_of("64, 3, 257, 257", WayUse::always), ElementsAre(3, 1));
  EXPECT_THAT(groups_of("64, 3, 402, 402"), ElementsAre(3, 1)) << "no cache holds such rows";
}

}  // namespace
}  // namespace kw
