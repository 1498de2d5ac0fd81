#include "operators/program/kernels/row_guards.hpp"

#include <gtest/gtest.h>

#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

/// sum over i, k of x[i, k], of a row `part`
Stage guarded(std::vector<StageExpr> guards) {
  Stage sum;
  sum.kind = StageKind::reduce;
  sum.axes = {{"part", 4}};
  sum.inner = {{"i", 30}, {"k", 8}};
  sum.body = load({0, {ElementType::float32, {100, 8}}}, {axis_index("i"), axis_index("k")});
  sum.guards = std::move(guards);
  return sum;
}

TEST(RowGuards, make_a_length_of_what_cuts_off_the_outermost_column) {
  const auto index = axis_index("part") * StageExpr(30) + axis_index("i");
  const auto found = row_guards(guarded({index < StageExpr(100)}));
  EXPECT_FALSE(found.others);
  const auto expected = maximum(minimum(StageExpr(30), StageExpr(100) - axis_index("part") * StageExpr(30)), 0);
  ASSERT_TRUE(found.length);
  for (int part = 0; part < 5; ++part) {
    const AxisValues row{{"part", StageExpr(part)}};
    const auto length = with_axes(found.length, row);
    EXPECT_TRUE(same_expression(length, with_axes(expected, row))) << part;
  }
}

TEST(RowGuards, leave_other_conditions_to_each_element) {
  for (const auto& guard :
       {axis_index("k") < StageExpr(5), StageExpr(1) <= axis_index("i"), axis_index("i") * StageExpr(2) < StageExpr(9),
        axis_index("i") + axis_index("k") < StageExpr(9), axis_index("i") < axis_index("k")}) {
    const auto found = row_guards(guarded({guard}));
    EXPECT_FALSE(found.length);
    EXPECT_TRUE(found.others && same_expression(found.others, guard));
  }
  const auto both_kinds = row_guards(guarded({axis_index("i") < StageExpr(9), axis_index("k") < StageExpr(5)}));
  EXPECT_TRUE(both_kinds.length);
  EXPECT_TRUE(same_expression(both_kinds.others, axis_index("k") < StageExpr(5)));
  EXPECT_FALSE(row_guards(guarded({})).length);
}

}  // namespace
}  // namespace kw
