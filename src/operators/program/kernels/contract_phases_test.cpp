#include "operators/program/kernels/contract_phases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/program/kernels/contract_joined_phases.hpp"
#include "program/reader/program_reader.hpp"
#include "program/stages/fuse.hpp"
#include "program/stages/lower.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

using program_test::module_text;
using testing::ElementsAre;

Contraction convolution_of(const std::string& init, const std::string& inputs) {
  const auto program = read_program(module_text("return self.c(x)", inputs, init), "m.py");
  KW_CHECK(program.has_value(), "{}", program.error().to_string());
  auto lowered = lower(program->graph, program->outputs);
  KW_CHECK(lowered.has_value(), "{}", lowered.error().to_string());
  const auto stages = fused(*std::move(lowered)).program.stages;
  const auto contraction = contraction_of(stages.back(), ColumnChoice::contiguous);
  KW_CHECK(contraction && patch_contraction(*contraction), "no convolution by patches");
  return *contraction;
}

std::optional<PatchPhases> phases_of(const std::string& init, const std::string& inputs, bool full = false) {
  const auto contraction = convolution_of(init, inputs);
  return patch_phases(contraction, *patch_contraction(contraction), full);
}

constexpr const char* k_image = "torch.rand(4, 16, 40, 52)";
constexpr const char* k_volume = "torch.rand(2, 8, 12, 20, 30)";

TEST(ContractPhases, have_the_taps_that_the_stride_leaves_them) {
  const auto two = phases_of("self.c = nn.ConvTranspose2d(16, 40, 5, stride=2, padding=1)", k_image);
  ASSERT_TRUE(two.has_value());
  EXPECT_THAT(two->line.counts, ElementsAre(2, 3)) << "from a padding of one on, even places have the odd taps";
  EXPECT_THAT(two->across.counts, ElementsAre(2, 3));
  EXPECT_THAT(two->other.counts, ElementsAre(1));
  const auto three = phases_of("self.c = nn.ConvTranspose2d(16, 40, 2, stride=3)", k_image);
  ASSERT_TRUE(three.has_value());
  EXPECT_THAT(three->across.counts, ElementsAre(1, 1, 0));
}

TEST(ContractPhases, of_depth_have_their_own_taps_too) {
  const auto found = phases_of("self.c = nn.ConvTranspose3d(8, 40, (3, 4, 3), stride=(2, 2, 1))", k_volume);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(found->other.counts, ElementsAre(2, 1));
  EXPECT_THAT(found->line.counts, ElementsAre(2, 2));
  EXPECT_THAT(found->across.counts, ElementsAre(3));
}

TEST(ContractPhases, may_have_all_taps_or_none) {
  const auto found = phases_of("self.c = nn.ConvTranspose2d(16, 40, 3, stride=2, padding=1, dilation=2)", k_image);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(found->line.counts, ElementsAre(0, 3));
}

TEST(ContractPhases, are_none_where_all_have_all_taps) {
  const char* const four = "self.c = nn.ConvTranspose2d(16, 40, 4, stride=2, padding=1)";
  EXPECT_FALSE(phases_of(four, k_image).has_value());
  EXPECT_TRUE(phases_of(four, k_image, true).has_value());
  EXPECT_FALSE(phases_of("self.c = nn.ConvTranspose2d(16, 40, 3)", k_image, true).has_value());
  EXPECT_FALSE(phases_of("self.c = nn.Conv2d(16, 40, 3, stride=2)", k_image, true).has_value());
}

TEST(ContractPhases, are_a_table_of_four_bits_each) {
  EXPECT_EQ(phase_taps_text({"p", {1, 2, 0}}, "p"), "(int)(0x21u >> 4 * p & 15)");
  EXPECT_EQ(phase_taps_text({"p", {1, 2, 0}}, "p", 1), "(int)(0x121u >> 4 * p & 15)");
  EXPECT_EQ(phase_taps_text({"p", {3, 3}}, "p"), "3");
}

std::vector<std::int64_t> joined_of(const std::string& init) {
  const auto contraction = convolution_of(init, k_image);
  const auto joined = joined_phases(contraction, *patch_contraction(contraction));
  return joined ? joined->with_taps : std::vector<std::int64_t>();
}

TEST(JoinedPhases, are_those_along_lines_that_have_taps) {
  EXPECT_THAT(joined_of("self.c = nn.ConvTranspose2d(16, 40, 3, stride=2)"), ElementsAre(0, 1));
  EXPECT_THAT(joined_of("self.c = nn.ConvTranspose2d(16, 40, 4, stride=(3, 2), padding=1)"), ElementsAre(0, 1));
  EXPECT_THAT(joined_of("self.c = nn.ConvTranspose2d(16, 40, 3, stride=3)"), ElementsAre(0, 1, 2));
  EXPECT_THAT(joined_of("self.c = nn.ConvTranspose2d(16, 40, 3, stride=5, padding=1, dilation=2)"),
              ElementsAre(1, 3, 4));
  EXPECT_THAT(joined_of("self.c = nn.ConvTranspose2d(16, 40, 3, stride=2, padding=1, dilation=2)"), ElementsAre(1));
}

TEST(JoinedPhases, are_none_without_a_stride_along_lines) {
  EXPECT_THAT(joined_of("self.c = nn.ConvTranspose2d(16, 40, 3, stride=(2, 1))"), testing::IsEmpty());
  EXPECT_THAT(joined_of("self.c = nn.Conv2d(16, 40, 3, stride=2)"), testing::IsEmpty());
  EXPECT_THAT(joined_of("self.c = nn.ConvTranspose2d(16, 40, 3, stride=9)"), testing::IsEmpty());
}

}  // namespace
}  // namespace kw
