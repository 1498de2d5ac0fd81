#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_directory.hpp"
#include "hardware/device_facts.hpp"
#include "hardware/host_cpu.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

class MadeUpCaches : public ::testing::Test {
 protected:
  void add(int index, const char* level, const char* type, const char* size) {
    const fs::path dir = root_ / ("index" + std::to_string(index));
    fs::create_directories(dir);
    std::ofstream(dir / "level") << level << "\n";
    std::ofstream(dir / "type") << type << "\n";
    std::ofstream(dir / "size") << size << "\n";
  }
  ScratchDirectory scratch_;
  fs::path root_ = scratch_.path();
};

TEST(DeviceFactsBindings, names_are_those_bundles_may_use) {
  DeviceFacts facts;
  facts.compute_units = 2;
  facts.max_block_items = 4096;
  facts.shared_bytes_per_block = 1 << 20;
  facts.vector_floats = 16;
  facts.l1_cache_bytes = 32768;
  facts.l2_cache_bytes = 1 << 20;
  EXPECT_THAT(
      facts.bindings(),
      ::testing::ElementsAre(::testing::Pair("compute_units", 2), ::testing::Pair("l1_cache_bytes", 32768),
                             ::testing::Pair("l2_cache_bytes", 1 << 20), ::testing::Pair("max_block_items", 4096),
                             ::testing::Pair("shared_bytes_per_block", 1 << 20), ::testing::Pair("vector_floats", 16)));
}

TEST(DeviceFactsBindings, of_a_gpu_have_what_its_units_hold) {
  DeviceFacts facts;
  facts.gpu = GpuFacts{"sm_90a"};
  facts.gpu->max_threads_per_unit = 2048;
  facts.gpu->max_registers_per_thread = 255;
  const auto names = facts.bindings();
  EXPECT_EQ(names.at("warp_size"), 32);
  EXPECT_EQ(names.at("max_threads_per_unit"), 2048);
  EXPECT_EQ(names.at("max_registers_per_thread"), 255);
  EXPECT_EQ(names.size(), 13U);
}

TEST(CacheSize, reads_the_units_sysfs_writes) {
  EXPECT_EQ(parse_cache_size("32K\n"), 32 * 1024);
  EXPECT_EQ(parse_cache_size("16M"), 16 * 1024 * 1024);
  EXPECT_EQ(parse_cache_size("512"), 512);
}

TEST(CacheSize, refuses_what_is_no_size) {
  EXPECT_EQ(parse_cache_size(""), std::nullopt);
  EXPECT_EQ(parse_cache_size("K"), std::nullopt);
  EXPECT_EQ(parse_cache_size("12Q"), std::nullopt);
  EXPECT_EQ(parse_cache_size("-4K"), std::nullopt);
  EXPECT_EQ(parse_cache_size("99999999999999999999K"), std::nullopt);
  EXPECT_EQ(parse_cache_size("9999999999999K"), std::nullopt);
}

TEST_F(MadeUpCaches, instruction_caches_are_left_out) {
  add(0, "1", "Data", "32K");
  add(1, "1", "Instruction", "64K");
  add(2, "2", "Unified", "1024K");
  add(3, "3", "Unified", "32M");
  const HostCaches caches = read_caches(root_);
  EXPECT_EQ(caches.l1_data_bytes, 32 * 1024);
  EXPECT_EQ(caches.l2_bytes, 1024 * 1024);
  EXPECT_EQ(caches.last_level_bytes, 32 * 1024 * 1024);
}

TEST_F(MadeUpCaches, without_a_third_level_the_second_is_the_last) {
  add(0, "1", "Data", "48K");
  add(1, "2", "Unified", "2M");
  EXPECT_EQ(read_caches(root_).last_level_bytes, 2 * 1024 * 1024);
}

TEST_F(MadeUpCaches, nothing_known_is_zero) {
  const HostCaches caches = read_caches(root_ / "absent");
  EXPECT_EQ(caches.l1_data_bytes, 0);
  EXPECT_EQ(caches.last_level_bytes, 0);
}

TEST(CpuModelName, is_the_first_processor) {
  EXPECT_EQ(cpu_model_name("processor\t: 0\nmodel name\t: Some CPU 9000\nflags\t: sse\nmodel name\t: Other\n"),
            "Some CPU 9000");
  EXPECT_EQ(cpu_model_name("processor\t: 0\n"), "unknown CPU");
}

TEST(HostCpuFacts, describe_a_cpu_that_can_be_generated_for) {
  const DeviceFacts facts = host_cpu_facts();
  EXPECT_EQ(facts.target, "");  // the caller knows what it writes in
  EXPECT_EQ(facts.kind, DeviceKind::cpu);
  EXPECT_GE(facts.compute_units, 1);
  EXPECT_GE(facts.vector_floats, 4);
  EXPECT_GT(facts.memory_bytes, 0);
}

}  // namespace
}  // namespace kw
