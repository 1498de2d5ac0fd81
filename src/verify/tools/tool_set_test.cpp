#include "verify/tools/tool_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string_view> names_of(const char* language) {
  std::vector<std::string_view> names;
  for (const Tool* tool : tools_of(*find_language(language))) names.push_back(tool->name);
  return names;
}

TEST(ToolSet, knows_the_tools_of_every_language) {
  for (const Language* language : languages()) {
    for (const std::string_view name : language->sanitizers) {
      ASSERT_NE(find_tool(name), nullptr) << language->name << ": " << name;
      EXPECT_NE(find_tool(name)->sanitizer, nullptr) << name;
    }
    if (language->profiler.empty()) continue;
    ASSERT_NE(find_tool(language->profiler), nullptr) << language->name << ": " << language->profiler;
    EXPECT_NE(find_tool(language->profiler)->profiler, nullptr) << language->profiler;
  }
}

TEST(ToolSet, asks_the_tools_in_the_order_of_the_row) {
  EXPECT_THAT(names_of("opencl"), ElementsAre("oclgrind"));
  EXPECT_THAT(names_of("cuda"), ElementsAre("compute-sanitizer", "simulator", "ncu"));
  EXPECT_THAT(names_of("hip"), IsEmpty());
}

TEST(ToolSet, has_no_tool_for_a_simulated_gpu) {
  DeviceFacts facts;
  facts.kind = DeviceKind::simulator;
  for (const Tool* tool : tools_of(*find_language("cuda"))) EXPECT_FALSE(tool->serves(facts)) << tool->name;
}

}  // namespace
}  // namespace kw
