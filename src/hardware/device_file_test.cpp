#include "hardware/device_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hardware/gpu_arch.hpp"

namespace kw {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ShippedDevices, are_the_ones_documented) {
  EXPECT_THAT(shipped_devices(),
              ElementsAre("a100", "b200", "h100", "h200", "l40s", "mi300x", "rtx4090", "rtx5090", "rx7900xtx"));
}

TEST(ShippedDevices, can_all_be_read_and_know_what_codegen_needs) {
  for (const auto& name : shipped_devices()) {
    SCOPED_TRACE(name);
    const auto facts = find_device_facts(name);
    ASSERT_TRUE(facts) << facts.error().to_string();
    EXPECT_EQ(facts->id, name);
    EXPECT_EQ(facts->kind, DeviceKind::gpu);
    EXPECT_GT(facts->compute_units, 90);
    EXPECT_GT(facts->memory_bytes, std::int64_t{20} << 30);
    EXPECT_GT(facts->last_level_cache_bytes, std::int64_t{30} << 20);
    EXPECT_GT(facts->peak_bytes, 8e11);
    ASSERT_TRUE(facts->gpu);
    EXPECT_EQ(facts->target, facts->gpu->arch.starts_with("gfx") ? "hip" : "cuda");
    EXPECT_GT(facts->gpu->peak_f16_flops, facts->peak_f32_flops);
  }
}

/// A slip in a file or in the table of architectures breaks the agreement of the two.
TEST(ShippedDevices, have_the_f32_peak_that_units_and_clock_give) {
  for (const auto& name : shipped_devices()) {
    SCOPED_TRACE(name);
    const auto facts = find_device_facts(name);
    ASSERT_TRUE(facts);
    const auto arch = find_gpu_arch(facts->gpu->arch);
    ASSERT_TRUE(arch);
    const double computed =
        2.0 * static_cast<double>(facts->compute_units * arch->f32_per_clock) * facts->gpu->clock_hz;
    EXPECT_THAT(facts->peak_f32_flops, DoubleNear(computed, 0.02 * computed));
  }
}

TEST(ShippedDevices, an_h200_is_described_as_its_data_sheet_does) {
  const auto facts = find_device_facts("H200");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->compute_units, 132);
  EXPECT_EQ(facts->shared_bytes_per_block, 227 * 1024);
  EXPECT_EQ(facts->gpu->arch, "sm_90a");
  EXPECT_EQ(facts->gpu->shared_bytes_per_unit, 228 * 1024);
  EXPECT_EQ(facts->gpu->max_threads_per_unit, 2048);
  EXPECT_EQ(facts->gpu->max_blocks_per_unit, 32);
  EXPECT_EQ(facts->gpu->registers_per_unit, 65536);
}

TEST(ShippedDevices, those_of_amd_have_the_wavefront_of_their_architecture_and_64_kib_per_block) {
  const auto instinct = find_device_facts("mi300x");
  ASSERT_TRUE(instinct) << instinct.error().to_string();
  EXPECT_EQ(instinct->target, "hip");
  EXPECT_EQ(instinct->gpu->arch, "gfx942");
  EXPECT_EQ(instinct->gpu->warp_size, 64);
  EXPECT_EQ(instinct->shared_bytes_per_block, 65536);
  EXPECT_EQ(instinct->gpu->static_shared_bytes_per_block, 65536);
  EXPECT_EQ(instinct->last_level_cache_bytes, std::int64_t{256} << 20) << "not that of L2";
  const auto radeon = find_device_facts("RX7900XTX");
  ASSERT_TRUE(radeon) << radeon.error().to_string();
  EXPECT_EQ(radeon->gpu->warp_size, 32);
  EXPECT_EQ(radeon->gpu->max_threads_per_unit, 1024);
  const DeviceFacts mine = parse_device_file(R"({"arch": "CDNA3"})", "mine.json").value();
  EXPECT_EQ(mine.target, "hip");
  EXPECT_EQ(mine.gpu->arch, "gfx942");
}

TEST(ShippedDevices, an_unknown_name_lists_the_known) {
  const auto facts = find_device_facts("h300");
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, errc::device_unknown);
  EXPECT_EQ(facts.error().message, "there are no facts about a device \"h300\"");
  EXPECT_EQ(facts.error().hint,
            "one of: a100, b200, h100, h200, l40s, mi300x, rtx4090, rtx5090, rx7900xtx; or a file of your own, "
            "--device FILE.json");
}

TEST(DeviceFile, missing_fields_follow_from_the_architecture) {
  const auto facts = parse_device_file(R"({"arch": "Hopper", "sm_count": 100, "clock_hz": 1e9})", "mine.json");
  ASSERT_TRUE(facts) << facts.error().to_string();
  EXPECT_EQ(facts->id, "mine.json");
  EXPECT_EQ(facts->name, "a device of Hopper");
  EXPECT_EQ(facts->compute_units, 100);
  EXPECT_EQ(facts->gpu->arch, "sm_90a");
  EXPECT_EQ(facts->shared_bytes_per_block, 227 * 1024);
  EXPECT_DOUBLE_EQ(facts->peak_f32_flops, 100 * 256e9);
  EXPECT_DOUBLE_EQ(facts->gpu->peak_f16_flops, 100 * 4096e9);
  EXPECT_EQ(facts->memory_bytes, 0) << "unknown";
}

TEST(DeviceFile, what_is_written_wins_over_the_architecture) {
  const auto facts = parse_device_file(R"({"arch": "8.6", "name": "mine", "shared_bytes_per_block": 50000,
                                           "max_blocks_per_unit": 8, "l2_cache_bytes": 4194304})",
                                       "mine.json");
  ASSERT_TRUE(facts) << facts.error().to_string();
  EXPECT_EQ(facts->gpu->arch, "sm_86");
  EXPECT_EQ(facts->name, "mine");
  EXPECT_EQ(facts->shared_bytes_per_block, 50000);
  EXPECT_EQ(facts->gpu->max_blocks_per_unit, 8);
  EXPECT_EQ(facts->last_level_cache_bytes, 4194304);
}

void expect_refused(const char* json, const std::string& message, const std::string& hint) {
  SCOPED_TRACE(json);
  const auto facts = parse_device_file(json, "mine.json");
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, errc::device_file);
  EXPECT_EQ(facts.error().where.file, "mine.json");
  EXPECT_EQ(facts.error().message, message);
  EXPECT_THAT(facts.error().hint, HasSubstr(hint));
}

TEST(DeviceFile, unknown_fields_are_refused_by_name_with_those_that_are_known) {
  expect_refused(R"({"arch": "sm_80", "sms": 3})", "a device has no field \"sms\"",
                 "known fields: arch, name, source, compute_units, sm_count, clock_hz");
}

TEST(DeviceFile, a_wrong_value_is_quoted) {
  expect_refused(R"({"arch": "sm_80", "sm_count": 1.5})", "\"sm_count\" is 1.5", "a whole number above 0");
  expect_refused(R"({"arch": "sm_80", "sm_count": "many"})", "\"sm_count\" is \"many\"", "a whole number above 0");
  expect_refused(R"({"arch": "sm_80", "sm_count": -3})", "\"sm_count\" is -3", "a whole number above 0");
  expect_refused(R"({"arch": "sm_80", "clock_hz": 1e99})", "\"clock_hz\" is 1e+99", "a number above 0");
  expect_refused(R"({"arch": "sm_80", "name": 5})", "\"name\" is 5", "a string");
}

TEST(DeviceFile, an_architecture_is_needed_and_must_be_known) {
  expect_refused(R"({"sm_count": 3})", "\"arch\" is missing or not a string", "sm_75 (Turing), sm_80 (Ampere)");
  expect_refused(R"({"arch": "Fermi"})", "there is no architecture \"Fermi\"", "sm_90a (Hopper)");
}

TEST(DeviceFile, what_is_no_json_object_is_refused) {
  expect_refused("[1]", "a device file is one JSON object", R"({"arch": "Hopper", "sm_count": 132})");
  const auto facts = parse_device_file("{", "mine.json");
  ASSERT_FALSE(facts);
  EXPECT_THAT(facts.error().message, HasSubstr("this is not JSON"));
}

TEST(GpuArchs, are_found_by_number_with_and_without_suffix_and_by_generation) {
  for (const char* text : {"sm_90a", "SM_90", "90", "9.0", "hopper"}) {
    const auto arch = find_gpu_arch(text);
    ASSERT_TRUE(arch) << text;
    EXPECT_EQ(arch->name, "sm_90a") << text;
  }
  EXPECT_EQ(find_gpu_arch("10.0")->name, "sm_100a");
  EXPECT_EQ(find_gpu_arch("Blackwell")->name, "sm_100a");
  EXPECT_FALSE(find_gpu_arch(""));
  EXPECT_FALSE(find_gpu_arch("sm_"));
}

}  // namespace
}  // namespace kw
