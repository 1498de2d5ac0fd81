#include "operators/program/kernels/contract_patch_shape.hpp"

#include <gtest/gtest.h>

#include "hardware/device_file.hpp"
#include "operators/program/kernels/contract_shape.hpp"

namespace kw {
namespace {

/// Of 64 channels, 5 x 7 taps and both parts of every number, as the 56th problem of KernelBench's first level has it:
/// one assignment asked for all but 128 bytes of a block's shared memory, and did not build.
TEST(PatchConstraints, leave_room_for_the_shared_memory_that_kernels_of_halves_declare) {
  constexpr std::int64_t k_declared_bytes = 128;
  const auto device = find_device_facts("h200").value();
  PatchSize size;
  size.lined = size.halves = size.wide = true;
  size.line_span = 4;
  size.span = 6;
  size.taps = 35;
  size.batch = 8, size.rows = 128, size.width = 250, size.height = 508, size.depth = 64;
  const auto legal = cheapest_contracts(
      patch_tunables(true), patch_constraints(size, false, true), device, [](const IntBindings&) { return 1.0; },
      10'000);
  ASSERT_FALSE(legal.empty());
  std::int64_t most = 0;
  for (const auto& assignment : legal)
    most = std::max(most, evaluate_int_expr(patch_bytes_text(size, false), assignment).value());
  EXPECT_LE(most + k_declared_bytes, device.shared_bytes_per_block);
  EXPECT_GT(most, device.shared_bytes_per_block / 2) << "none came near";
}

}  // namespace
}  // namespace kw
