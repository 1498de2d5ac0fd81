#include "base/zeros.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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

/// Whether a process cloned now has the page in the middle of the numbers.
bool has_a_child(const std::vector<float>& numbers) {
  const auto middle = reinterpret_cast<std::uintptr_t>(numbers.data() + numbers.size() / 2) / 4096 * 4096;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::msync(reinterpret_cast<void*>(middle), 4096, MS_ASYNC) == 0 ? 1 : 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

TEST(Zeros, are_copied_into_no_process_where_there_are_many) {
  const auto all = [](std::size_t bytes) { return zeros<float>(bytes / sizeof(float), serial_for); };
  EXPECT_FALSE(has_a_child(all(k_own_mapping)));
  EXPECT_FALSE(has_a_child(zeros<float>(k_own_mapping / 32 / sizeof(float), serial_for, k_own_mapping)));
  EXPECT_TRUE(has_a_child(all(k_own_mapping / 2))) << "it may lie in a heap, which a child needs";
  const std::vector<float> other(k_own_mapping / sizeof(float), 1.0F);
  EXPECT_TRUE(has_a_child(other)) << "memory that was given back is like any other";
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
