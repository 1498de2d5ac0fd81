#include "verify/checking/accuracy.hpp"

#include <gtest/gtest.h>

#include <limits>

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
  }
}

INSTANTIATE_TEST_SUITE_P(Floats, MeasureSample, ::testing::Values(DType::f32, DType::f16, DType::bf16));

}  // namespace
}  // namespace kw
