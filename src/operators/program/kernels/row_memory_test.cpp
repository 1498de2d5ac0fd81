#include "operators/program/kernels/row_memory.hpp"

#include <gtest/gtest.h>

#include "hardware/device_file.hpp"

namespace kw {
namespace {

DeviceFacts facts_of(const std::string& name) {
  return find_device_facts(name).value();
}

TEST(RowMemory, is_for_long_rows_that_fit) {
  const DeviceFacts device = facts_of("h200");
  EXPECT_FALSE(is_worth_keeping(8192, device)) << "the nearest cache has it";
  EXPECT_TRUE(is_worth_keeping(16384, device));
  EXPECT_TRUE(is_worth_keeping(65535, device)) << "most of it fits";
  EXPECT_FALSE(is_worth_keeping(131072, device));
}

TEST(RowMemory, is_not_needed_where_the_last_cache_has_all_rows_under_way) {
  EXPECT_TRUE(is_worth_keeping(16384, facts_of("a100")));
  EXPECT_FALSE(is_worth_keeping(16384, facts_of("l40s")));
}

/// Neither is a row longer there, but for so little that is read again.
TEST(RowMemory, has_room_for_what_longest_kept_says) {
  for (const char* const name : {"h200", "a100", "mi300x"}) {
    const DeviceFacts device = facts_of(name);
    EXPECT_GT(row_memory_elements(device), 12000) << name;
    EXPECT_LE(4 * row_memory_elements(device), device.shared_bytes_per_block) << name;
    EXPECT_LE(longest_kept(device), 1.3 * static_cast<double>(row_memory_elements(device))) << name;
  }
}

/// The sum of rows of a tensor.
Stage sum_of_rows() {
  const Extent length(16384);
  Stage stage;
  stage.kind = StageKind::reduce;
  stage.axes = {{"i", Extent(600)}};
  stage.inner = {{"j", length}};
  TensorView tensor;
  tensor.type = {ElementType::float32, {Extent(600), length}};
  stage.body = load(tensor, {axis_index("i"), axis_index("j")});
  return stage;
}

TEST(RowMemory, is_filled_by_the_first_reading_of_all_elements) {
  Stage part = sum_of_rows();
  part.guards = {axis_index("j") < axis_index("i")};
  const Stage whole = sum_of_rows(), again = sum_of_rows();
  auto memory = RowMemory::of({&part, &whole, &again}, 1, {{"x", "x", DType::f32}}, facts_of("h200"));
  ASSERT_TRUE(memory.has_value());
  EXPECT_TRUE(memory->elements(part).empty()) << "it does not read all";
  EXPECT_EQ(memory->elements(whole).size(), 1);
  memory->was_written(part);
  EXPECT_TRUE(memory->elements(again).empty()) << "nothing is kept yet";
  memory->was_written(whole);
  EXPECT_EQ(memory->elements(again).size(), 1);
}

TEST(RowMemory, is_for_what_is_read_twice) {
  const Stage once = sum_of_rows();
  EXPECT_FALSE(RowMemory::of({&once}, 1, {{"x", "x", DType::f32}}, facts_of("h200")).has_value());
  EXPECT_FALSE(RowMemory::of({&once, &once}, 1, {{"x", "x", DType::f16}}, facts_of("h200")).has_value());
}

}  // namespace
}  // namespace kw
