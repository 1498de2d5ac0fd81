#include "operators/program/kernels/contract_needed_tiles.hpp"

#include <gtest/gtest.h>

#include "codegen/dialect.hpp"
#include "program/reader/program_reader.hpp"
#include "program/stages/fuse.hpp"
#include "program/stages/lower.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

std::string needed_tiles_of(const std::string& result) {
  const auto program = read_program(
      program_test::module_text("return " + result, "torch.rand(64, 32), torch.rand(32, 48)", "pass"), "m.py");
  KW_CHECK(program.has_value(), "{}", program.error().to_string());
  auto lowered = lower(program->graph, program->outputs);
  KW_CHECK(lowered.has_value(), "{}", lowered.error().to_string());
  const auto stages = fused(*std::move(lowered)).program.stages;
  const auto contraction = contraction_of(stages.back(), ColumnChoice::contiguous);
  KW_CHECK(contraction.has_value(), "no product in {}", result);
  const std::vector<KernelBuffer> none;
  KernelScope scope(none, contraction->split.stage, cuda_dialect(), {});
  return needed_tile_text(scope, *contraction);
}

TEST(NeededTiles, are_those_with_an_element_on_the_side_that_is_stored) {
  EXPECT_EQ(needed_tiles_of("torch.triu(x @ more[0])"), "first_row + -(first_column + TILE_N - 1) <= 0");
  EXPECT_EQ(needed_tiles_of("torch.triu(x @ more[0], 5)"), "first_row + -(first_column + TILE_N - 1) + 5 <= 0");
  EXPECT_EQ(needed_tiles_of("torch.tril(x @ more[0])"), "-(first_row + TILE_M - 1) + first_column <= 0");
  EXPECT_EQ(needed_tiles_of("torch.triu(torch.relu(x @ more[0]) * 2) + 1"), needed_tiles_of("torch.triu(x @ more[0])"));
}

TEST(NeededTiles, are_all_where_that_is_not_known) {
  for (const char* result : {"x @ more[0]", "torch.relu(x @ more[0])", "torch.where(x[:, :1] > 0, x @ more[0], 0)"}) {
    EXPECT_EQ(needed_tiles_of(result), "") << result;
  }
}

}  // namespace
}  // namespace kw
