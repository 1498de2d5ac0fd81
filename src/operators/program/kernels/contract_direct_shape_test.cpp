#include "operators/program/kernels/contract_direct_shape.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

/// Of so many output channels and products for each sum, and as many pixels as make it worth anything.
ContractSize convolution_of(double rows, double products, bool rounded) {
  ContractSize size;
  size.rows = rows;
  size.columns = 1 << 20;
  size.rounded = rounded;
  DirectSize direct;
  direct.phases = 1;
  direct.uses = 1;
  direct.steps = products;
  direct.slides = true;
  size.direct = direct;
  return size;
}

TEST(ShortConvolution, has_few_rows_or_short_sums) {
  EXPECT_TRUE(is_short_convolution(convolution_of(16, 3360, false)));
  EXPECT_TRUE(is_short_convolution(convolution_of(32, 96, false)));
  EXPECT_FALSE(is_short_convolution(convolution_of(32, 97, false)));
  EXPECT_FALSE(is_short_convolution(convolution_of(33, 9, false)));
}

TEST(ShortConvolution, has_both_where_factors_are_rounded) {
  EXPECT_TRUE(is_short_convolution(convolution_of(16, 200, true)));
  EXPECT_TRUE(is_short_convolution(convolution_of(24, 81, true)));
  EXPECT_FALSE(is_short_convolution(convolution_of(16, 216, true)));
  EXPECT_FALSE(is_short_convolution(convolution_of(32, 54, true)));
}

TEST(ShortConvolution, is_none_of_few_sums) {
  ContractSize size = convolution_of(16, 81, false);
  size.columns = 1 << 12;
  EXPECT_FALSE(is_short_convolution(size));
}

}  // namespace
}  // namespace kw
