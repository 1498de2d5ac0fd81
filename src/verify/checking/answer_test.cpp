#include "verify/checking/answer.hpp"

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "verify/checking/accuracy.hpp"

namespace kw {
namespace {

constexpr std::size_t k_elements = 96;

std::vector<float> representable(DType dtype) {
  Rng rng(3);
  std::vector<float> values(k_elements);
  for (float& value : values) value = static_cast<float>(rng.normal());
  round_to(dtype, values);
  return values;
}

TEST(Answer, of_stored_bytes_is_that_of_the_numbers_in_them) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i32, DType::boolean}) {
    SCOPED_TRACE(to_string(dtype));
    const std::vector<std::byte> bytes = stored(dtype, representable(dtype));
    const std::vector<double> numbers = stored_values(dtype, bytes);
    const Answer of_bytes(dtype, bytes);
    const Answer of_numbers(numbers);
    EXPECT_EQ(of_bytes.size(), k_elements);
    EXPECT_EQ(of_numbers.size(), k_elements);
    EXPECT_EQ(of_bytes.numbers(), numbers);
    EXPECT_EQ(of_numbers.numbers(), numbers);
    AnswerView(of_bytes).with_numbers([&](const auto& at) {
      for (std::size_t i = 0; i < k_elements; ++i) EXPECT_EQ(at(i), numbers[i]);
    });
  }
}

TEST(Answer, of_stored_bytes_judges_as_its_numbers_do) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    SCOPED_TRACE(to_string(dtype));
    std::vector<float> values = representable(dtype);
    const Answer right(dtype, stored(dtype, values));
    const OutputForm form{16, dtype, 0.0, {2.0, 1e-6, 0.1, 1.0}};
    const OutputScales scales = output_scales(right, form);
    EXPECT_EQ(scales.rows, output_scales(right.numbers(), form).rows);
    values[40] += 1.0F;
    round_to(dtype, values);
    const auto bytes = stored(dtype, values);
    const auto by_bytes = measure_error(bytes, 0xffffffffU, right, scales, form, 1e-2);
    const auto by_numbers = measure_error(bytes, 0xffffffffU, right.numbers(), scales, form, 1e-2);
    EXPECT_EQ(by_bytes.over, 1);
    EXPECT_EQ(by_bytes.worst, 40);
    EXPECT_EQ(by_bytes.max_error, by_numbers.max_error);
    EXPECT_EQ(by_bytes.over, by_numbers.over);
  }
}

}  // namespace
}  // namespace kw
