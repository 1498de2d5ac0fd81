#include "program/stages/split.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

/// mean[i] = sum over k of x[i, k] / n, squares[i] = sum over k of (x[i, k] - mean[i])^2
StageProgram moments(std::int64_t rows, const Extent& columns) {
  StageProgram program;
  const TensorType whole{ElementType::float32, {rows, columns}};
  const TensorType row{ElementType::float32, {rows}};
  program.buffers = {{"x", BufferUse::input, whole, {}},
                     {"mean", BufferUse::scratch, row, {}},
                     {"squares", BufferUse::output, row, {}}};
  Stage mean;
  mean.kind = StageKind::reduce;
  mean.buffer = 1;
  mean.axes = {{"i", rows}};
  mean.inner = {{"k", columns}};
  mean.body = load({0, whole}, {axis_index("i"), axis_index("k")});
  mean.epilogue = reduction_result(StageType::real) / converted(columns, StageType::real);
  Stage squares = mean;
  squares.buffer = 2;
  squares.epilogue = {};
  const auto apart = mean.body - load({1, row}, {axis_index("i")});
  squares.body = apart * apart;
  program.stages = {mean, squares};
  program.outputs = {2};
  return program;
}

TEST(AreMoments, are_a_sum_and_the_squared_differences_of_its_elements_from_what_follows) {
  const auto program = moments(4, 100);
  EXPECT_TRUE(are_moments(program.stages[0], program.stages[1]));
  EXPECT_FALSE(are_moments(program.stages[1], program.stages[0]));
}

TEST(AreMoments, are_not_of_other_elements_another_row_or_under_other_guards) {
  const auto program = moments(4, 100);
  const auto& mean = program.stages[0];
  const auto& product = program.stages[1].body;
  const auto& difference = product->operands[0];
  auto other_elements = program.stages[1];
  const auto doubled = difference->operands[0] * 2.0 - difference->operands[1];
  other_elements.body = doubled * doubled;
  EXPECT_FALSE(are_moments(mean, other_elements));
  auto other_row = program.stages[1];
  const auto first = difference->operands[0] - load(difference->operands[1]->tensor, {StageExpr(0)});
  other_row.body = first * first;
  EXPECT_FALSE(are_moments(mean, other_row));
  auto guarded = program.stages[1];
  guarded.guards = {axis_index("k") < StageExpr(50)};
  EXPECT_FALSE(are_moments(mean, guarded));
  auto guarded_mean = mean;
  guarded_mean.guards = {axis_index("k") < StageExpr(50)};
  EXPECT_TRUE(are_moments(guarded_mean, guarded));
}

TEST(SplitMoments, gives_each_part_its_own_mean_and_joins_them) {
  auto program = moments(4, 100);
  ASSERT_EQ(split_moments(program, 0, 1, 3), 3);
  ASSERT_EQ(program.stages.size(), 4U);
  std::vector<std::string> lines;
  for (const auto& stage : program.stages) lines.push_back(stage_text(program, stage));
  EXPECT_EQ(lines[0],
            "mean_parts[i, part] = result / max(float(max(min(100 - part * 34, 34), 0)) * 1.0, 1.0) of sum over k "
            "where part * 34 + k < 100 of x[i, part * 34 + k]");
  EXPECT_EQ(lines[1],
            "mean[i] = result / 100.0 of sum over part of mean_parts[i, part] * (float(max(min(100 - part * 34, 34), "
            "0)) * 1.0)");
  EXPECT_EQ(lines[2],
            "squares_parts[i, part] = sum over k where part * 34 + k < 100 of (x[i, part * 34 + k] - mean_parts[i, "
            "part]) * (x[i, part * 34 + k] - mean_parts[i, part])");
  EXPECT_EQ(lines[3],
            "squares[i] = sum over part of squares_parts[i, part] + float(max(min(100 - part * 34, 34), 0)) * 1.0 * "
            "(mean_parts[i, part] - mean[i]) * (mean_parts[i, part] - mean[i])");
  EXPECT_TRUE(are_moments(program.stages[0], program.stages[2]));
}

/// So that neighbouring work-items read neighbours, both of the elements and of the parts.
TEST(SplitMoments, puts_parts_before_rows_whose_neighbours_are_contiguous) {
  auto program = moments(4, 100);
  const TensorType columns_first{ElementType::float32, {100, 4}};
  program.buffers[0].type = columns_first;
  const auto element = load({0, columns_first}, {axis_index("k"), axis_index("i")});
  program.stages[0].body = element;
  const auto apart = element - program.stages[1].body->operands[0]->operands[1];
  program.stages[1].body = apart * apart;
  ASSERT_EQ(split_moments(program, 0, 1, 5), 5);
  std::vector<std::string> lines;
  for (const auto& stage : program.stages) lines.push_back(stage_text(program, stage));
  EXPECT_EQ(lines[0], "mean_parts[part, i] = result / max(20.0 * 1.0, 1.0) of sum over k of x[part * 20 + k, i]");
  EXPECT_EQ(lines[1], "mean[i] = result / 100.0 of sum over part of mean_parts[part, i] * (20.0 * 1.0)");
}

TEST(SplitReduction, begins_long_parts_of_neighbours_at_multiples_of_four) {
  const auto length = [](const Extent& columns, std::int64_t parts) {
    auto program = moments(4, columns);
    EXPECT_EQ(split_reduction(program, 0, parts), parts);
    return program.stages[0].inner[0].extent;
  };
  EXPECT_EQ(length(10001, 7).text(), "1432");  // of 1428.7
  EXPECT_EQ(length(Extent::axis("n", 10001), 7).value(), 1432);
  EXPECT_EQ(length(8000, 4).text(), "2000");
  EXPECT_EQ(length(901, 7).text(), "129");  // too short to matter
}

TEST(SplitMoments, leaves_what_is_too_short) {
  auto program = moments(4, 2);
  EXPECT_EQ(split_moments(program, 0, 1, 3), 1);
  EXPECT_EQ(program.stages.size(), 2U);
}

}  // namespace
}  // namespace kw
