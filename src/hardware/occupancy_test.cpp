#include "hardware/occupancy.hpp"

#include <gtest/gtest.h>

#include "hardware/device_file.hpp"

namespace kw {
namespace {

GpuFacts facts_of(const std::string& arch) {
  const auto facts = parse_device_file("{\"arch\": \"" + arch + "\"}", "test.json");
  EXPECT_TRUE(facts) << facts.error().to_string();
  return facts ? *facts->gpu : GpuFacts{};
}

struct Row {
  const char* arch;
  BlockResources block;
  std::int64_t blocks;
};

/// As the occupancy calculator of the CUDA toolkit (13.0, carve-out 100 %) answers.
TEST(Occupancy, agrees_with_the_toolkits_calculator) {
  const Row rows[] = {
      {"sm_75", {256, 64, 0}, 4},        {"sm_75", {1024, 64, 0}, 1},       {"sm_75", {128, 40, 16384}, 4},
      {"sm_80", {128, 128, 49152}, 3},   {"sm_80", {96, 168, 0}, 4},        {"sm_80", {32, 16, 0}, 32},
      {"sm_86", {128, 40, 16384}, 5},    {"sm_86", {32, 16, 0}, 16},        {"sm_89", {256, 96, 0}, 2},
      {"sm_90a", {384, 168, 160000}, 1}, {"sm_90a", {1024, 96, 0}, 0},      {"sm_90a", {160, 255, 0}, 1},
      {"sm_90a", {128, 200, 65536}, 2},  {"sm_100a", {256, 128, 99000}, 2}, {"sm_120", {32, 16, 0}, 24},
      {"sm_120", {512, 40, 0}, 3},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(resident_blocks(facts_of(row.arch), row.block), row.blocks)
        << row.arch << ", " << row.block.threads << " threads, " << row.block.registers_per_thread << " registers, "
        << row.block.shared_bytes << " bytes";
  }
}

/// Worked out by hand from the rule. gfx942: 4 SIMDs of 512 registers and 8 wavefronts; gfx1100: 2 of 1536 and 16.
TEST(Occupancy, of_amd_follows_registers_local_data_share_and_barriers) {
  const Row rows[] = {
      {"gfx942", {256, 128, 0}, 4},  // 512 / 128 wavefronts per SIMD
      {"gfx942", {256, 129, 0}, 3},  // rounded up to 136
      {"gfx942", {64, 32, 0}, 32},   // one wavefront takes no barrier
      {"gfx942", {128, 32, 0}, 16},  // two do
      {"gfx942", {256, 32, 16384}, 4}, {"gfx942", {256, 32, 16385}, 3},
      {"gfx942", {1024, 256, 0}, 0},   {"gfx1100", {256, 96, 0}, 4},  // 1536 / 96 = 16 wavefronts per SIMD, 8 per block
      {"gfx1100", {256, 97, 0}, 3},                                   // rounded up to 120: 12
      {"gfx1100", {32, 24, 0}, 32},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(resident_blocks(facts_of(row.arch), row.block), row.blocks)
        << row.arch << ", " << row.block.threads << " threads, " << row.block.registers_per_thread << " registers, "
        << row.block.shared_bytes << " bytes";
  }
}

TEST(Occupancy, is_the_share_of_warps) {
  EXPECT_DOUBLE_EQ(occupancy(facts_of("sm_90a"), {128, 64, 0}), 0.5);
  EXPECT_DOUBLE_EQ(occupancy(facts_of("sm_90a"), {128, 64, 100000}), 2 * 4 / 64.0);
  EXPECT_DOUBLE_EQ(occupancy(facts_of("sm_86"), {1024, 32, 0}), 32 / 48.0);
}

TEST(Occupancy, is_zero_where_a_block_cannot_run_or_nothing_is_known) {
  EXPECT_EQ(resident_blocks(facts_of("sm_80"), {128, 32, 200000}), 0);
  EXPECT_EQ(resident_blocks(facts_of("sm_80"), {128, 256, 0}), 0);
  EXPECT_EQ(resident_blocks(GpuFacts{}, {128, 32, 0}), 0);
  EXPECT_EQ(occupancy(GpuFacts{}, {128, 32, 0}), 0);
}

}  // namespace
}  // namespace kw
