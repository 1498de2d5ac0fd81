#include "program/graph/extent.hpp"

#include <gtest/gtest.h>

#include <random>

#include "program/errors.hpp"
#include "tensor/int_expr.hpp"

namespace kw {
namespace {

const Extent k_height = Extent::axis("height", 32);
const Extent k_batch = Extent::axis("batch", 7);

TEST(Extent, terms_are_collected_and_cancel) {
  const auto sum = Extent::sum(k_height, Extent::product(2, k_batch).value()).value();
  EXPECT_EQ(sum.text(), "2*batch + height");
  EXPECT_EQ(sum.value(), 46);
  const auto rest = Extent::difference(sum, k_height).value();
  EXPECT_EQ(rest.text(), "2*batch");
  EXPECT_EQ(Extent::difference(rest, rest)->text(), "0");
}

TEST(Extent, a_quotient_that_comes_out_is_no_quotient) {
  const auto product = Extent::product(Extent::product(k_height, k_batch).value(), 6).value();
  EXPECT_EQ(Extent::quotient(product, Extent::product(3, k_batch).value())->text(), "2*height");
  EXPECT_EQ(Extent::quotient(product, 4)->text(), "(6*batch*height)/4");
  EXPECT_EQ(Extent::quotient(product, 4)->value(), 336);
}

TEST(Extent, floors_as_python_does) {
  EXPECT_EQ(Extent::quotient(-7, 2)->value(), -4);
  EXPECT_EQ(Extent::remainder(-7, 2)->value(), 1);
  EXPECT_EQ(Extent::remainder(7, -2)->value(), -1);
}

TEST(Extent, what_does_not_fit_is_an_error) {
  const Extent large = std::int64_t{1} << 62;
  EXPECT_EQ(Extent::sum(large, large).error().code, errc::program_limit);
  EXPECT_EQ(Extent::product(large, 3).error().code, errc::program_limit);
  EXPECT_EQ(Extent::quotient(1, 0).error().code, errc::program_value);
  EXPECT_EQ(Extent::remainder(k_batch, 0).error().code, errc::program_value);
  EXPECT_EQ(element_count({large, 4}).error().code, errc::program_limit);
}

TEST(Extent, random_expressions_evaluate_to_their_values) {
  constexpr unsigned k_seed = 20251;
  std::mt19937 random(k_seed);
  const IntBindings axes = {{"height", 32}, {"batch", 7}, {"k", 3}};
  for (int round = 0; round < 500; ++round) {
    std::vector<Extent> pool = {k_height, k_batch, Extent::axis("k", 3), 1, 2, 5};
    for (int step = 0; step < 6; ++step) {
      const auto& a = pool[random() % pool.size()];
      const auto& b = pool[random() % pool.size()];
      const auto kind = random() % 5;
      const auto made = kind == 0   ? Extent::sum(a, b)
                        : kind == 1 ? Extent::difference(a, b)
                        : kind == 2 ? Extent::product(a, b)
                        : kind == 3 ? Extent::quotient(a, b)
                                    : Extent::remainder(a, b);
      if (!made) continue;
      const auto found = evaluate_int_expr(made->text(), axes);
      ASSERT_TRUE(found) << made->text() << ": " << found.error().to_string() << " seed " << k_seed;
      ASSERT_EQ(*found, made->value()) << made->text() << " seed " << k_seed;
      pool.push_back(*made);
    }
  }
}

}  // namespace
}  // namespace kw
