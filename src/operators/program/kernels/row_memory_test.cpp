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

}  // namespace
}  // namespace kw
