// Which device's facts a command gets, with no device opened.

#include "cli/device_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_system.hpp"
#include "base/testing/scratch_directory.hpp"
#include "cli/inputs.hpp"
#include "hardware/device_file.hpp"
#include "language/language.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;

TEST(DeviceChoice, writes_for_this_cpu_when_no_device_is_named_for_opencl) {
  const auto facts = facts_for("", "opencl");
  ASSERT_TRUE(facts) << facts.error().to_string();
  EXPECT_EQ(facts->kind, DeviceKind::cpu);
  EXPECT_EQ(facts->target, "opencl");
}

TEST(DeviceChoice, writes_for_a_gpu_of_the_target_when_none_is_named) {
  for (const char* target : {"cuda", "hip"}) {
    const auto facts = facts_for("", target);
    ASSERT_TRUE(facts) << facts.error().to_string();
    EXPECT_EQ(facts->id, find_language(target)->default_device);
    EXPECT_EQ(facts->target, target);
    EXPECT_TRUE(facts->gpu);
  }
}

TEST(DeviceChoice, finds_shipped_devices_in_any_case) {
  const auto facts = facts_for("H200", "cuda");
  ASSERT_TRUE(facts) << facts.error().to_string();
  EXPECT_EQ(facts->id, "h200");
  EXPECT_EQ(facts->gpu->arch, "sm_90a");
}

TEST(DeviceChoice, refuses_a_device_of_another_target) {
  const auto facts = facts_for("mi300x", "cuda");
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code.name, errc::command_line.name);
  EXPECT_EQ(facts.error().message, "device mi300x takes target hip, not cuda");
  EXPECT_EQ(facts.error().hint, "add --target hip");
}

TEST(DeviceChoice, lists_the_devices_when_the_name_is_none) {
  const auto facts = facts_for("h300", "cuda");
  ASSERT_FALSE(facts);
  EXPECT_THAT(facts.error().message, HasSubstr("h300"));
  EXPECT_THAT(facts.error().hint, HasSubstr("a100, b200, h100"));
}

TEST(DeviceChoice, reads_facts_from_a_file_of_the_user) {
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "mine.json";
  RealFileSystem files;
  ASSERT_TRUE(files.write_atomic(file, R"({"arch": "sm_90", "name": "My H100", "source": "a data sheet"})"));
  const auto facts = facts_for(file.string(), "cuda");
  ASSERT_TRUE(facts) << facts.error().to_string();
  EXPECT_EQ(facts->name, "My H100");
  EXPECT_EQ(facts->gpu->arch, "sm_90a");
  EXPECT_FALSE(facts_for((scratch.path() / "none.json").string(), "cuda"));
}

TEST(DeviceChoice, opens_no_device_for_facts_that_are_text) {
  const auto facts = facts_of_any("a100", "cuda");
  ASSERT_TRUE(facts) << facts.error().to_string();
  EXPECT_EQ(facts->id, "a100");
}

TEST(DeviceChoice, refuses_a_tier_before_it_opens_anything) {
  const auto opened = open_device("opencl:0", "opencl", "strict");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code.name, errc::command_line.name);
  EXPECT_EQ(opened.error().message, "--require-sandbox \"strict\" is not a tier");
}

TEST(OpenedDevice, hands_out_its_tools_without_giving_them_away) {
  const OpenedDevice nothing;
  EXPECT_TRUE(nothing.tools().sanitizers.empty());
  EXPECT_EQ(nothing.tools().profiler, nullptr);
}

}  // namespace
}  // namespace kw
