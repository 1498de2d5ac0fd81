#include "operators/program/kernels/quick_quotients.hpp"

#include <gtest/gtest.h>

#include "program/stages/formulas.hpp"

namespace kw {
namespace {

constexpr std::size_t k_x = 0, k_most = 1, k_sum = 2;

StageExpr element(std::size_t buffer, const StageIndices& indices) {
  TensorView tensor;
  tensor.buffer = buffer;
  tensor.type = {ElementType::float32, Shape(indices.size(), Extent(64))};
  return load(tensor, indices);
}

StageExpr x() {
  return element(k_x, {axis_index("i"), axis_index("j")});
}

Stage reduction(ReduceOp op, std::size_t buffer, const StageExpr& body) {
  Stage stage;
  stage.kind = StageKind::reduce;
  stage.op = op;
  stage.buffer = buffer;
  stage.axes = {{"i", Extent(64)}};
  stage.inner = {{"j", Extent(64)}};
  stage.body = body;
  return stage;
}

bool is_quick(const StageExpr& quotient, const std::set<std::size_t>& buffers = {}) {
  return is_quick_quotient(*quotient, buffers);
}

TEST(QuickQuotients, are_of_divisors_far_from_where_floats_end) {
  EXPECT_TRUE(is_quick(x() / 3.0));
  EXPECT_FALSE(is_quick(x() / 1e-38)) << "a subnormal reciprocal";
  EXPECT_FALSE(is_quick(x() / 2e38));
  EXPECT_TRUE(is_quick(x() / apply(StageOp::sqrt, x())));
  EXPECT_TRUE(is_quick(x() / maximum(apply(StageOp::sqrt, x()), 1e-12)));
  EXPECT_FALSE(is_quick(x() / maximum(x(), 1e-12))) << "it may be large";
  EXPECT_FALSE(is_quick(x() / x()));
}

TEST(QuickQuotients, are_logistic_functions) {
  EXPECT_TRUE(is_quick(logistic(x())));
  EXPECT_FALSE(is_quick(x() / (StageExpr(1.0) + apply(StageOp::exp, -x())))) << "0 for a large dividend";
}

TEST(QuickQuotients, are_those_of_a_softmax) {
  const Stage most = reduction(ReduceOp::maximum, k_most, x());
  const auto row_of = [](std::size_t buffer) { return element(buffer, {axis_index("i")}); };
  const Stage sum = reduction(ReduceOp::sum, k_sum, apply(StageOp::exp, x() - row_of(k_most)));
  const auto quotient = x() / row_of(k_sum);
  EXPECT_TRUE(is_quick(quotient, quick_divisors({most, sum})));
  EXPECT_FALSE(is_quick(quotient, quick_divisors({sum}))) << "of the differences from what?";
  const Stage least = reduction(ReduceOp::minimum, k_most, x());
  EXPECT_FALSE(is_quick(quotient, quick_divisors({least, sum}))) << "it may be infinite, and as large as floats are";
}

TEST(QuickQuotients, are_by_roots_that_a_stage_has_computed) {
  Stage norm = reduction(ReduceOp::sum, k_sum, x() * x());
  const auto quotient = x() / element(k_sum, {axis_index("i")});
  EXPECT_FALSE(is_quick(quotient, quick_divisors({norm})));
  norm.epilogue = apply(StageOp::sqrt, reduction_result(StageType::real));
  EXPECT_TRUE(is_quick(quotient, quick_divisors({norm})));
  const Stage other = reduction(ReduceOp::sum, k_sum, x());
  EXPECT_FALSE(is_quick(quotient, quick_divisors({norm, other}))) << "of a part of the buffer";
}

}  // namespace
}  // namespace kw
