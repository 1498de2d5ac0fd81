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

TEST(VectorSums, add_a_run_of_any_length) {
  Rng rng(7);
  for (std::size_t length = 0; length < 70; ++length) {
    expect_sums<double>(length, rng);
    expect_sums<float>(length, rng);
  }
}

}  // namespace
}  // namespace kw::program_oracle
