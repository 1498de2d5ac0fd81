#include <gtest/gtest.h>

#include <string>

#include "base/file_system.hpp"
#include "codegen/codegen.hpp"
#include "codegen/testing/devices.hpp"

namespace kw {
namespace {

/// TFLOP/s on an H200, best first: docs/results/2026-11-21-h200.md.
TEST(WgmmaEstimate, puts_tiles_in_the_order_that_was_measured) {
  const auto clocks = [](int head, const IntBindings& tile) {
    const std::string size = std::to_string(head);
    const Problem problem = with_axes(load_problem("attention/full_f16", RealFileSystem{}, {"problems"}).value(),
                                      {"B=4", "Hq=16", "Hkv=16", "Sq=4096", "Skv=4096", "D=" + size, "Dv=" + size})
                                .value();
    return find_style("attention", "cuda", "wgmma").value()->estimate(problem, h200_device(), tile);
  };
  const auto tile = [](int groups, int keys, int stages, int pingpong, int resident) {
    return IntBindings{
        {"WARPGROUPS", groups}, {"BLOCK_N", keys}, {"STAGES", stages}, {"PINGPONG", pingpong}, {"RESIDENT", resident}};
  };
  // 447, 403, 320
  EXPECT_LT(clocks(64, tile(1, 128, 2, 0, 3)), clocks(64, tile(2, 64, 3, 1, 1)));
  EXPECT_LT(clocks(64, tile(2, 64, 3, 1, 1)), clocks(64, tile(2, 128, 2, 0, 1)));
  // 567, 452, 398
  EXPECT_LT(clocks(128, tile(2, 128, 3, 1, 1)), clocks(128, tile(2, 128, 2, 0, 1)));
  EXPECT_LT(clocks(128, tile(2, 128, 2, 0, 1)), clocks(128, tile(2, 64, 2, 0, 1)));
}

}  // namespace
}  // namespace kw
