#include "device/opencl/pocl_threads.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace kw::opencl {
namespace {

cpu_set_t processors(std::initializer_list<int> numbers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int number : numbers) CPU_SET(number, &set);
  return set;
}

TEST(PoclThreads, are_bound_where_each_number_is_a_processor) {
  EXPECT_TRUE(can_bind_threads(processors({0, 1}), 2));
  EXPECT_TRUE(can_bind_threads(processors({0}), 1));
  EXPECT_FALSE(can_bind_threads(processors({0}), 2)) << "the process was kept off a processor";
  EXPECT_FALSE(can_bind_threads(processors({4, 5}), 2)) << "they are not numbered from 0";
}

}  // namespace
}  // namespace kw::opencl
