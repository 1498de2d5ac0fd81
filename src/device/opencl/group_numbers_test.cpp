#include "device/opencl/group_numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw::opencl {
namespace {

const std::string k_source = "__kernel void k() {}\n";

PlannedLaunch launch_of(std::int64_t groups, bool some) {
  PlannedLaunch launch{"k", {groups, 3, 1}, {4, 1, 1}, 0, {}};
  if (some) launch.only = GroupBox{{1, 0, 0}, {2, 1, 1}};
  return launch;
}

TEST(GroupNumbers, are_the_drivers_where_all_groups_run) {
  EXPECT_EQ(*with_group_numbers(k_source, std::vector{launch_of(20, false)}), k_source);
  EXPECT_EQ(*with_group_numbers(k_source, {}), k_source);
}

TEST(GroupNumbers, are_functions_of_the_program_where_some_run) {
  const auto source = with_group_numbers(k_source, std::vector{launch_of(20, true), launch_of(20, true)});
  ASSERT_TRUE(source);
  EXPECT_THAT(*source,
              ::testing::HasSubstr("size_t get_group_id(uint d) { return get_global_id(d) / get_local_size(d); }"));
  EXPECT_THAT(*source, ::testing::HasSubstr("d == 0 ? 20 : d == 1 ? 3 : d == 2 ? 1 : 1;"));
  EXPECT_THAT(*source, ::testing::HasSubstr("get_global_offset(uint d) { return 0; }"));
  EXPECT_THAT(*source, ::testing::EndsWith("#line 1\n" + k_source)) << "findings name lines of the source";
}

TEST(GroupNumbers, are_of_one_grid) {
  const auto source = with_group_numbers(k_source, std::vector{launch_of(20, true), launch_of(21, true)});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().message, "some groups of 'k' and of 'k' are launched, whose grids differ: build them apart");
}

}  // namespace
}  // namespace kw::opencl
