#include "hardware/device_match.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "hardware/device_file.hpp"
#include "hardware/gpu_arch.hpp"

namespace kw {
namespace {

DeviceFacts gpu(const std::string& name, const std::string& arch) {
  DeviceFacts facts = gpu_arch_facts(find_gpu_arch(arch).value());
  facts.id = "cuda:0";
  facts.name = name;
  return facts;
}

TEST(DeviceMatch, finds_what_drivers_report_by_the_names_of_the_shipped_devices) {
  const std::pair<const char*, DeviceFacts> reported[] = {
      {"h200", gpu("NVIDIA H200", "sm_90")},
      {"h100", gpu("NVIDIA H100 80GB HBM3", "sm_90")},
      {"a100", gpu("NVIDIA A100-SXM4-80GB", "sm_80")},
      {"l40s", gpu("NVIDIA L40S", "sm_89")},
      {"rtx4090", gpu("NVIDIA GeForce RTX 4090", "sm_89")},
      {"rtx5090", gpu("NVIDIA GeForce RTX 5090", "sm_120")},
      {"b200", gpu("NVIDIA B200", "sm_100")},
      {"mi300x", gpu("AMD Instinct MI300X", "gfx942")},
      {"rx7900xtx", gpu("Radeon RX 7900 XTX", "gfx1100")},
  };
  EXPECT_EQ(std::size(reported), shipped_devices().size());
  for (const auto& [own, device] : reported) {
    for (const auto& name : shipped_devices()) EXPECT_EQ(names_device(name, device), name == own) << device.name;
    EXPECT_EQ(table_name(device), own);
  }
}

TEST(DeviceMatch, knows_every_shipped_device_by_its_own_name_alone) {
  for (const auto& name : shipped_devices()) {
    const DeviceFacts device = find_device_facts(name).value();
    for (const auto& other : shipped_devices()) EXPECT_EQ(names_device(other, device), other == name) << other;
    EXPECT_EQ(table_name(device), name);
  }
}

TEST(DeviceMatch, takes_whole_words_of_a_name_however_they_are_joined) {
  const DeviceFacts device = gpu("NVIDIA GeForce RTX 4090", "sm_89");
  for (const char* text : {"rtx4090", "RTX 4090", "geforce-rtx-4090", "4090", "nvidia", "NVIDIA GeForce RTX 4090"})
    EXPECT_TRUE(names_device(text, device)) << text;
  for (const char* text : {"", " ", "rtx409", "tx4090", "4090d", "rtx4090ti", "geforce4090", "cuda:0"})
    EXPECT_FALSE(names_device(text, device)) << text;
  EXPECT_FALSE(names_device("h200", gpu("NVIDIA GH200 480GB", "sm_90")));
  EXPECT_FALSE(names_device("l40", gpu("NVIDIA L40S", "sm_89")));
}

TEST(DeviceMatch, takes_architectures_and_their_generations) {
  const DeviceFacts hopper = gpu("NVIDIA H20", "sm_90");
  for (const char* text : {"sm_90a", "SM_90", "Hopper", "hopper"}) EXPECT_TRUE(names_device(text, hopper)) << text;
  for (const char* text : {"sm_9", "sm_80", "Ampere", "90"}) EXPECT_FALSE(names_device(text, hopper)) << text;
  EXPECT_TRUE(names_device("Ampere", gpu("NVIDIA A100", "sm_80")));
  EXPECT_TRUE(names_device("Ampere", gpu("NVIDIA A40", "sm_86")));
  EXPECT_FALSE(names_device("sm_86", gpu("NVIDIA A100", "sm_80")));
  EXPECT_TRUE(names_device("gfx942", gpu("AMD Instinct MI325X", "gfx942")));
  EXPECT_TRUE(names_device("CDNA3", gpu("AMD Instinct MI325X", "gfx942")));
}

TEST(DeviceMatch, knows_devices_without_an_architecture_by_their_name) {
  DeviceFacts cpu;
  cpu.name = "pthread-skylake-avx512-AMD EPYC 9R45";
  EXPECT_TRUE(names_device("epyc", cpu));
  EXPECT_TRUE(names_device("EPYC 9R45", cpu));
  EXPECT_FALSE(names_device("sm_90", cpu));
  EXPECT_EQ(table_name(cpu), cpu.name);
}

TEST(DeviceMatch, calls_a_device_that_a_file_does_not_name_by_its_architecture) {
  const DeviceFacts unnamed = parse_device_file(R"({"arch": "Hopper", "sm_count": 78})", "mine.json").value();
  EXPECT_EQ(table_name(unnamed), "sm_90a");
  EXPECT_TRUE(names_device(table_name(unnamed), unnamed));
  const DeviceFacts named = parse_device_file(R"({"arch": "Ada", "name": "RTX 6000 Ada"})", "mine.json").value();
  EXPECT_EQ(table_name(named), "RTX 6000 Ada");
  EXPECT_TRUE(names_device(table_name(named), named));
}

}  // namespace
}  // namespace kw
