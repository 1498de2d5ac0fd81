#include "operators/program/kernels/window_tiles.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hardware/device_file.hpp"
#include "operators/program/kernels/window_slots.hpp"
#include "program/reader/program_reader.hpp"
#include "program/stages/fuse.hpp"
#include "program/stages/lower.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

using program_test::module_text;

/// The tile of a module's one reduction; absent where it has none.
std::optional<WindowTile> tile_of(const std::string& result, const std::string& images, const std::string& init = "") {
  const auto read =
      read_program(module_text("return " + result, images, init.empty() ? "pass" : "self.c = " + init), "m.py");
  KW_CHECK(read.has_value(), "{}", read.error().to_string());
  auto lowered = lower(read->graph, read->outputs);
  KW_CHECK(lowered.has_value(), "{}", lowered.error().to_string());
  const auto program = fused(*std::move(lowered)).program;
  std::vector<KernelBuffer> buffers;
  for (const auto& one : program.buffers) buffers.push_back({one.name, one.name, DType::f32});
  const auto device = find_device_facts("h100").value();
  const auto stage = std::ranges::find(program.stages, StageKind::reduce, &Stage::kind);
  KW_CHECK(stage != program.stages.end(), "{} reduces nothing", result);
  return window_tile({program, buffers, cuda_dialect(), device}, *stage);
}

/// "4 by lines, columns apart": outputs side by side, and how they are reduced.
std::string described(const std::optional<WindowTile>& tile) {
  if (!tile) return "none";
  return fmt::format("{}{}{}", tile->outputs, tile->line ? " by lines" : "", tile->apart ? ", columns apart" : "");
}

TEST(WindowTiles, have_four_outputs_where_sixteen_bytes_hold_neighbours) {
  const std::string depthwise = "nn.Conv2d(6, 6, 3, padding=1, groups=6)";
  EXPECT_EQ(described(tile_of("self.c(x)", "torch.rand(2, 6, 30, 32)", depthwise)), "4 by lines");
  EXPECT_EQ(described(tile_of("self.c(x)", "torch.rand(2, 6, 30, 33)", depthwise)), "1 by lines");
  EXPECT_EQ(described(tile_of("self.c(x)", "torch.rand(2, 6, 320)", "nn.Conv1d(6, 6, 3, groups=6)")), "4");
}

TEST(WindowTiles, leave_to_shared_memory_what_neighbours_read_too) {
  EXPECT_EQ(described(tile_of("F.avg_pool2d(x, 5, 1)", "torch.rand(2, 6, 30, 32)")), "4 by lines, columns apart");
  EXPECT_EQ(described(tile_of("F.avg_pool2d(x, 9, 1)", "torch.rand(2, 6, 30, 32)")), "none");
  EXPECT_EQ(described(tile_of("F.avg_pool2d(x, 3, 2)", "torch.rand(2, 6, 30, 33)")), "none");
  EXPECT_EQ(described(tile_of("F.avg_pool2d(torch.tanh(x), 3, 2)", "torch.rand(2, 6, 30, 32)")), "none");
}

/// Sums are added in one order; of the largest, columns are more registers than outputs, and little is left to do less.
TEST(WindowTiles, reduce_columns_of_sums) {
  EXPECT_EQ(described(tile_of("F.avg_pool2d(x, 3, 2, 1)", "torch.rand(2, 6, 30, 32)")), "4 by lines, columns apart");
  EXPECT_EQ(described(tile_of("F.max_pool2d(x, 3, 2, 1)", "torch.rand(2, 6, 30, 32)")), "4 by lines");
  EXPECT_EQ(described(tile_of("F.max_pool2d(x, 4, 1)", "torch.rand(2, 6, 30, 32)")), "4 by lines, columns apart");
}

/// Columns -1 to 4 of a tile's first line, from -4 on: one, four, and one. No size of the image makes the four cross
/// the line's end where it is of fours.
TEST(WindowTiles, ask_for_the_slots_at_the_ends_of_a_line_alone) {
  const auto tile = tile_of("self.c(x)", "torch.rand(2, 6, 30, 32)", "nn.Conv2d(6, 6, 3, padding=1, groups=6)");
  ASSERT_EQ(described(tile), "4 by lines");
  auto slots = window_slots(*tile, 4);
  EXPECT_EQ(bound_fours(slots, *tile, 32).size(), 1U) << "that the last tile's four lies within the line";
  ASSERT_EQ(slots.slots.size(), 3U);
  const auto counts = [&](std::size_t at) { return std::pair(slots.slots[at].offset, slots.slots[at].count); };
  EXPECT_EQ(counts(0), std::pair(std::int64_t{3}, std::int64_t{1}));
  EXPECT_EQ(counts(1), std::pair(std::int64_t{4}, std::int64_t{4}));
  EXPECT_EQ(counts(2), std::pair(std::int64_t{8}, std::int64_t{1}));
  EXPECT_EQ(slots.slots[0].bounds.size(), 1U);
  EXPECT_TRUE(slots.slots[1].bounds.empty());
  EXPECT_EQ(slots.slots[2].bounds.size(), 1U);
}

/// Without padding no guard keeps tiles within the tensor.
TEST(WindowTiles, end_with_the_last_output) {
  const auto tile = tile_of("self.c(x)", "torch.rand(2, 6, 30, 32)", "nn.Conv2d(6, 6, 3, groups=6)");
  ASSERT_TRUE(tile.has_value());
  EXPECT_TRUE(tile->stage.guards.empty());
  ASSERT_EQ(tile->column_bounds.size(), 1U);
  EXPECT_TRUE(holds_at(tile->column_bounds[0], tile->column.place, 31));
  EXPECT_FALSE(holds_at(tile->column_bounds[0], tile->column.place, 32));
  ASSERT_EQ(tile->line_bounds.size(), 1U);
  EXPECT_FALSE(holds_at(tile->line_bounds[0], tile->line->place, 30));
}

}  // namespace
}  // namespace kw
