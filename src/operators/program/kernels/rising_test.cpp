#include "operators/program/kernels/rising.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

const StageExpr k_result = reduction_result(StageType::real);

StageExpr some_number() {
  return load({0, {ElementType::float32, {Extent(4)}}}, {axis_index("f")});
}

TEST(Rising, is_known_of_sums_positive_factors_bounds_and_functions) {
  for (const auto& one :
       {k_result + some_number(), k_result - some_number(), StageExpr(2.0) * k_result, k_result / StageExpr(3.0),
        maximum(k_result, StageExpr(0.0)), minimum(maximum(k_result, StageExpr(-1.0)), some_number()),
        apply(StageOp::tanh, k_result + some_number()) * StageExpr(2.0), k_result + k_result}) {
    EXPECT_TRUE(rises_with_result(one));
  }
  EXPECT_TRUE(rises_with_result(some_number())) << "what does not depend on it does not fall";
}

TEST(Rising, is_not_said_of_what_may_fall) {
  for (const auto& one :
       {-k_result, some_number() - k_result, StageExpr(-2.0) * k_result, k_result * some_number(),
        StageExpr(1.0) / k_result, k_result * k_result, absolute(k_result), k_result / some_number(),
        apply(StageOp::sin, k_result), select(k_result < StageExpr(0.0), StageExpr(1.0), StageExpr(0.0))}) {
    EXPECT_FALSE(rises_with_result(one));
  }
}

}  // namespace
}  // namespace kw
