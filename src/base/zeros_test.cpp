#include "base/zeros.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace kw {
namespace {

TEST(Zeros, are_zeros_of_any_number_also_in_memory_that_was_used) {
  for (const std::size_t count : {0U, 1U, 1000U, 3000000U}) {
    { const std::vector<float> used(count, 7.0F); }
    std::int64_t parts = 0;
    const auto numbers = zeros<float>(count, [&](std::int64_t wanted, const std::function<void(std::int64_t)>& body) {
      parts = wanted;
      serial_for(wanted, body);
    });
    EXPECT_EQ(numbers.size(), count);
    EXPECT_TRUE(std::ranges::all_of(numbers, [](float number) { return number == 0; }));
    EXPECT_EQ(parts, count < 1000000 ? 0 : 3) << "12 million bytes, in parts of four";
  }
}

TEST(TouchPages, writes_to_the_first_byte_of_each) {
  std::vector<std::byte> memory(10000, std::byte{7});
  touch_pages(memory, serial_for);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    ASSERT_EQ(memory[i], i % 4096 == 0 ? std::byte{0} : std::byte{7}) << i;
  }
}

}  // namespace
}  // namespace kw
