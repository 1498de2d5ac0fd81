#include "verify/checking/accuracy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "verify/checking/case_runner.hpp"
#include "verify/checking/storage.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

class MeasureSample : public ::testing::TestWithParam<DType> {};

TEST_P(MeasureSample, counts_what_is_unwritten_or_no_number_wherever_it_is) {
  constexpr std::size_t k_count = 3000;
  constexpr std::uint32_t k_poison = 0x3f803f80U;  // a number in every type
  const auto width = static_cast<std::size_t>(bytes_per_element(GetParam()));
  const auto form = test_form(static_cast<std::int64_t>(k_count), GetParam());
  const AnswerSample sample{{0}, {2.0}};
  const OutputScales scales = output_scales(std::vector<double>(k_count, 2.0), form);
  const auto good = stored(GetParam(), std::vector<float>(k_count, 2.0F));
  const auto nan = stored(GetParam(), std::vector<float>(1, std::numeric_limits<float>::quiet_NaN()));
  std::vector<std::byte> poison(k_count * width);
  fill_poison(poison, k_poison);
  for (const std::size_t at : {1UL, 1023UL, 1024UL, 2047UL, 2048UL, 2999UL}) {
    SCOPED_TRACE(at);
    auto bytes = good;
    std::copy(nan.begin(), nan.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at * width));
    const auto lost = measure_sample(bytes, k_poison, sample, scales, form, 1e-3);
    EXPECT_EQ(lost.not_finite, 1);
    EXPECT_EQ(lost.unwritten, 0);
    std::copy_n(poison.begin() + static_cast<std::ptrdiff_t>(at * width), width,
                bytes.begin() + static_cast<std::ptrdiff_t>(at * width));
    const auto left = measure_sample(bytes, k_poison, sample, scales, form, 1e-3);
    EXPECT_EQ(left.not_finite, 0);
    EXPECT_EQ(left.unwritten, 1);
    EXPECT_EQ(left.over, 0);
    // Counted by somebody else: nobody looks at the others here.
    const UselessCount others{5, 6};
    const auto counted = measure_sample(bytes, k_poison, sample, scales, form, 1e-3, serial_for, others);
    EXPECT_EQ(counted.not_finite, 6);
    EXPECT_EQ(counted.unwritten, 5);
  }
}

/// Exact, as integers are judged.
OutputForm integer_form(std::size_t count) {
  return {static_cast<std::int64_t>(count), DType::i32, 0.0, {1.0, 1e-9, 1.0, 1e-9}};
}

std::vector<std::byte> as_integers(const std::vector<double>& values) {
  return stored(DType::i32, std::vector<float>(values.begin(), values.end()));
}

constexpr std::uint32_t k_minus_one = 0xffffffffU;

TEST(MeasureError, takes_a_right_integer_with_the_bits_of_the_poison_for_written) {
  const std::vector<double> right{3, -1, 4, -1};
  const auto error = measure_error(as_integers(right), k_minus_one, right, integer_form(4), 1e-9);
  EXPECT_EQ(error.unwritten, 0);
  EXPECT_EQ(error.over, 0);
  const auto left = measure_error(as_integers({3, -1, -1, -1}), k_minus_one, right, integer_form(4), 1e-9);
  EXPECT_EQ(left.unwritten, 1);
  EXPECT_EQ(left.over, 1);
}

TEST(MeasureError, takes_the_poison_of_floats_for_unwritten_whatever_is_allowed) {
  const std::vector<double> right{2, 2};
  std::vector<std::byte> bytes(8);
  fill_poison(bytes, k_nan_poison.outputs);
  const auto error =
      measure_error(bytes, k_nan_poison.outputs, right, test_form(2), std::numeric_limits<double>::infinity());
  EXPECT_EQ(error.unwritten, 2);
}

TEST(MeasureSample, takes_a_right_integer_with_the_bits_of_the_poison_for_written) {
  const std::vector<double> right{3, -1, 4, 5};
  const AnswerSample sample{{0, 1, 2}, {3, -1, 4}};
  const auto form = integer_form(4);
  const auto scales = output_scales(right, form);
  EXPECT_EQ(measure_sample(as_integers(right), k_minus_one, sample, scales, form, 1e-9).unwritten, 0);
  const auto left = measure_sample(as_integers({3, -1, -1, 5}), k_minus_one, sample, scales, form, 1e-9);
  EXPECT_EQ(left.unwritten, 1);
  EXPECT_EQ(left.over, 1);
  const auto elsewhere = measure_sample(as_integers({3, -1, 4, -1}), k_minus_one, sample, scales, form, 1e-9);
  EXPECT_EQ(elsewhere.unwritten, 1) << "an element whose answer is not known";
}

TEST(Poison, is_no_number_that_integers_often_are) {
  for (const auto poison : {k_nan_poison.outputs, k_finite_poison.outputs}) {
    EXPECT_GT(std::abs(static_cast<double>(static_cast<std::int32_t>(poison))), 1e6);
  }
  for (const auto dtype : {DType::f32, DType::f16, DType::bf16}) {
    std::vector<std::byte> bytes(8);
    fill_poison(bytes, k_nan_poison.outputs);
    for (const double value : stored_values(dtype, bytes)) EXPECT_TRUE(std::isnan(value)) << to_string(dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(Floats, MeasureSample, ::testing::Values(DType::f32, DType::f16, DType::bf16));

}  // namespace
}  // namespace kw
