#include "operators/program/kernels/contract_strip_shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hardware/device_file.hpp"

namespace kw {
namespace {

/// Of a convolution of one tap from 64 to 128 channels, over that many pixels, on an H200.
IntBindings cheapest_strips(double pixels, bool rounded) {
  ContractSize size;
  size.batch = 16;
  size.rows = 128;
  size.columns = pixels;
  size.steps = 64;
  size.rounded = rounded;
  size.strips = true;
  const auto device = find_device_facts("h200");
  KW_CHECK(device.has_value(), "{}", device.error().to_string());
  const auto best = cheapest_contracts(
      strip_tunables(), strip_constraints(rounded), *device,
      [&](const IntBindings& one) { return strip_cost(size, *device, one); }, 1);
  KW_CHECK(best.size() == 1, "no assignment fits");
  return best[0];
}

TEST(ContractStripShape, takes_what_was_measured_to_be_faster_where_factors_are_split) {
  const IntBindings measured = {
      {"TILE_M", 128}, {"PASS_M", 32}, {"TILE_K", 64}, {"STRIP_WARPS", 16}, {"STRIP_STAGES", 1}};
  EXPECT_EQ(cheapest_strips(1024 * 1024, false), measured);
  EXPECT_EQ(cheapest_strips(512 * 512, false), measured);
}

TEST(ContractStripShape, takes_larger_passes_and_copies_ahead_where_factors_are_rounded) {
  const auto best = cheapest_strips(1024 * 1024, true);
  EXPECT_EQ(best.at("PASS_M"), 64);
  EXPECT_EQ(best.at("STRIP_STAGES"), 2);
}

}  // namespace
}  // namespace kw
