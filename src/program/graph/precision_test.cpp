#include "program/graph/precision.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kw {
namespace {

Node call(const char* op) {
  Node node;
  node.op = op;
  return node;
}

TEST(Precision, is_found_by_the_name_it_prints) {
  for (const auto one : {Precision::strict, Precision::tf32_convolutions, Precision::tf32}) {
    EXPECT_EQ(precision_named(to_string(one)), one);
    EXPECT_NE(precision_names().find(to_string(one)), std::string_view::npos);
  }
  EXPECT_EQ(precision_named("bf16"), std::nullopt);
}

TEST(Precision, rounds_factors_of_what_it_names_alone) {
  for (const char* op : {"conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"}) {
    EXPECT_FALSE(rounds_factors(Precision::strict, call(op))) << op;
    EXPECT_TRUE(rounds_factors(Precision::tf32_convolutions, call(op))) << op;
    EXPECT_TRUE(rounds_factors(Precision::tf32, call(op))) << op;
  }
  for (const char* op : {"matmul", "linear", "bmm", "einsum", "scaled_dot_product_attention"}) {
    EXPECT_FALSE(rounds_factors(Precision::tf32_convolutions, call(op))) << op;
    EXPECT_TRUE(rounds_factors(Precision::tf32, call(op))) << op;
  }
  for (const char* op : {"mv", "sum", "mul", "avg_pool2d", "batch_norm"}) {
    EXPECT_FALSE(rounds_factors(Precision::tf32, call(op))) << op;
  }
}

TEST(Precision, tf32_numbers_have_ten_bits_and_are_the_nearest) {
  EXPECT_EQ(rounded_to_tf32(1.0F + 0x1p-10F), 1.0F + 0x1p-10F);
  EXPECT_EQ(rounded_to_tf32(1.0F + 0x1p-11F), 1.0F + 0x1p-10F) << "ties go away from zero";
  EXPECT_EQ(rounded_to_tf32(-1.0F - 0x1p-11F), -1.0F - 0x1p-10F);
  EXPECT_EQ(rounded_to_tf32(1.0F + 0x1p-12F), 1.0F);
  EXPECT_EQ(rounded_to_tf32(std::numeric_limits<float>::max()), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(rounded_to_tf32(std::nanf(""))));
}

}  // namespace
}  // namespace kw
