// Sums of all lengths, with a part of a vector at their end, against the sum as it is written.

#include "operators/program/oracle/vector_sums.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.hpp"

namespace kw::program_oracle {
namespace {

template <typename Number>
void expect_sums(std::size_t length, Rng& rng) {
  std::vector<Number> values(length);
  std::vector<double> sums(length + 1);
  for (auto& value : values) value = static_cast<Number>(rng.below(2000) - 1000);
  for (auto& sum : sums) sum = static_cast<double>(rng.below(2000));
  auto expected = sums;
  for (std::size_t i = 0; i < length; ++i) expected[i] += -3.0 * static_cast<double>(values[i]);
  add_scaled_run(std::span(sums).first(length), -3.0, values.data());
  EXPECT_EQ(sums, expected) << length << " integers, exact in any order; the last one is not of the run";
}

template <typename Number>
void expect_numbers(std::size_t length, Rng& rng) {
  std::vector<Number> values(length);
  for (auto& value : values) value = static_cast<Number>(rng.below(2000)) / 8;
  std::vector<double> expected(values.begin(), values.end());
  expected.push_back(-1);
  std::vector<double> read(length + 1, -1);
  read_run(std::span(read).first(length), values.data());
  EXPECT_EQ(read, expected) << length;
}

TEST(VectorSums, read_a_run_of_any_length) {
  Rng rng(8);
  for (std::size_t length = 0; length < 40; ++length) {
    expect_numbers<double>(length, rng);
    expect_numbers<float>(length, rng);
  }
}

TEST(VectorSums, add_a_run_of_any_length) {
  Rng rng(7);
  for (std::size_t length = 0; length < 70; ++length) {
    expect_sums<double>(length, rng);
    expect_sums<float>(length, rng);
  }
}

}  // namespace
}  // namespace kw::program_oracle
