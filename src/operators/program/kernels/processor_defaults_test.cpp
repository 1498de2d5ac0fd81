// What kernels for processors begin with, which is what a user gets who does not search: by what was measured on each
// kind of processor.

#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/testing/devices.hpp"
#include "operators/program/kernels/contract_shape.hpp"
#include "operators/program/kernels/lane_streams.hpp"

namespace kw {
namespace {

std::int64_t default_of(const std::vector<Tunable>& tunables, std::string_view name) {
  const auto found = std::ranges::find(tunables, name, &Tunable::name);
  return found == tunables.end() ? -1 : found->default_value;
}

/// A product of 1024 cubed.
std::string tile_of(const DeviceFacts& device) {
  ContractSize size;
  size.rows = size.columns = size.steps = 1024;
  const auto tunables = contract_vector_tunables({size}, device);
  return fmt::format("{} x {}", default_of(tunables, "TILE_ROWS"), default_of(tunables, "TILE_VECTORS"));
}

TEST(ProcessorDefaults, tiles_fill_the_registers) {
  EXPECT_EQ(tile_of(avx512_device()), "4 x 4");
  EXPECT_EQ(tile_of(avx2_device()), "6 x 1") << "two columns of panels would not fit the first cache";
}

TEST(ProcessorDefaults, parts_of_a_row_are_read_in_turn_where_the_first_cache_has_places_for_their_lines) {
  DeviceFacts device = avx512_device();
  EXPECT_EQ(turns_tunable(device).default_value, 1) << "32 KiB";
  device.l1_cache_bytes = 48 << 10;
  EXPECT_EQ(turns_tunable(device).default_value, 4);
  device.l1_cache_bytes = 0;
  EXPECT_EQ(turns_tunable(device).default_value, 1) << "unknown";
}

}  // namespace
}  // namespace kw
