#include "program/stages/exact_extent.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

std::string text_of(const std::optional<Extent>& extent) {
  return extent ? extent->text() : "none";
}

/// name0 * name1 * ... of `count` axes, each 2.
Extent product_of_axes(const std::string& name, int count) {
  Extent product = 1;
  for (int i = 0; i < count; ++i) {
    product = Extent::product(product, Extent::axis(name + std::to_string(i), 2)).value();
  }
  return product;
}

TEST(ExactExtent, refuses_a_product_that_extents_give_up) {
  const Extent four = product_of_axes("a", 4);
  EXPECT_EQ(text_of(exact_product(four, Extent::axis("b", 3))), "a0*a1*a2*a3*b");
  ASSERT_TRUE(Extent::product(four, product_of_axes("b", 3)).value().is_constant());
  EXPECT_EQ(text_of(exact_product(four, product_of_axes("b", 3))), "none");
  EXPECT_EQ(text_of(exact_product(four, 0)), "0");
  EXPECT_EQ(text_of(exact_product(6, 7)), "42");
}

TEST(ExactExtent, tells_a_sum_that_cancels_from_one_that_is_given_up) {
  Extent long_sum = 0;
  for (int i = 0; i < 16; ++i) long_sum = exact_sum(long_sum, Extent::axis("a" + std::to_string(i), 2)).value();
  EXPECT_EQ(text_of(exact_sum(long_sum, Extent::axis("b", 3))), "none");
  EXPECT_EQ(text_of(exact_difference(long_sum, long_sum)), "0");
  const Extent h = Extent::axis("h", 9);
  EXPECT_EQ(text_of(exact_difference(exact_sum(h, 3).value(), h)), "3");
  EXPECT_EQ(text_of(exact_difference(h, Extent::axis("w", 4))), "h - w");
}

TEST(ExactExtent, rounds_quotients_up) {
  EXPECT_EQ(exact_quotient_up(7, 2)->value(), 4);
  EXPECT_EQ(exact_quotient_up(Extent::axis("h", 9), 4)->value(), 3);
}

}  // namespace
}  // namespace kw
