#include "operators/program/kernels/row_registers.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

/// The sum over the second axis of a tensor of three, as a norm over channels has it.
Stage sum_of_channels(std::int64_t channels) {
  const Extent rows(300), length(channels), columns(4096);
  Stage stage;
  stage.kind = StageKind::reduce;
  stage.axes = {{"i", rows}, {"k", columns}};
  stage.inner = {{"j", length}};
  TensorView tensor;
  tensor.type = {ElementType::float32, {rows, length, columns}};
  stage.body = load(tensor, {axis_index("i"), axis_index("j"), axis_index("k")});
  return stage;
}

constexpr double k_rows = 300 * 4096, k_units = 132;

RowSharing sharing_of(double channels) {
  return row_sharing(k_rows, channels, true, true, k_units);
}

std::optional<RowRegisters> registers_for(const std::vector<const Stage*>& readings, const RowSharing& sharing,
                                          DType type = DType::f32) {
  return RowRegisters::of(readings, 2, {{"x", "x", type}}, sharing);
}

TEST(RowRegisters, are_filled_by_the_first_reading_of_all_elements) {
  Stage part = sum_of_channels(64);
  part.guards = {axis_index("j") < axis_index("i")};
  const Stage whole = sum_of_channels(64), again = sum_of_channels(64);
  const RowSharing sharing = sharing_of(64);
  auto registers = registers_for({&part, &whole, &again}, sharing);
  ASSERT_TRUE(registers.has_value());
  EXPECT_TRUE(registers->elements(part).empty()) << "it does not read all";
  EXPECT_EQ(registers->elements(whole).size(), 1);
  registers->was_written(part);
  EXPECT_TRUE(registers->elements(again).empty()) << "nothing is kept yet";
  registers->was_written(whole);
  EXPECT_EQ(registers->elements(again).size(), 1);
}

TEST(RowRegisters, are_for_what_is_read_twice) {
  const Stage once = sum_of_channels(64);
  const RowSharing sharing = sharing_of(64);
  EXPECT_FALSE(registers_for({&once}, sharing).has_value());
  EXPECT_FALSE(registers_for({&once, &once}, sharing, DType::f16).has_value());
  Stage other = sum_of_channels(64);
  other.body = load(once.body->tensor, {axis_index("k"), axis_index("j"), axis_index("i")});
  EXPECT_FALSE(registers_for({&once, &other}, sharing).has_value()) << "of another row";
}

TEST(RowRegisters, are_for_rows_that_fit) {
  const auto kept = [](std::int64_t channels) {
    const Stage stage = sum_of_channels(channels);
    return registers_for({&stage, &stage}, sharing_of(static_cast<double>(channels))).has_value();
  };
  EXPECT_TRUE(kept(64)) << "4 work-items with 16 each";
  EXPECT_FALSE(kept(65));
}

}  // namespace
}  // namespace kw
