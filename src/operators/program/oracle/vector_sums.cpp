#include "operators/program/oracle/vector_sums.hpp"

#include <algorithm>
#include <cstddef>

#include "base/widest_vectors.hpp"

namespace kw::program_oracle {
namespace {

/// A constant inner trip count is what lets g++ -O2 vectorise.
constexpr std::size_t k_vector = 8;

KW_WIDEST_VECTORS void add_scaled_doubles(double* __restrict into, double factor, const double* __restrict values,
                                          std::size_t count) {
  std::size_t i = 0;
  for (; i + k_vector <= count; i += k_vector) {
    for (std::size_t j = 0; j < k_vector; ++j) into[i + j] += factor * values[i + j];
  }
  for (; i < count; ++i) into[i] += factor * values[i];
}

KW_WIDEST_VECTORS void add_scaled_floats(double* __restrict into, double factor, const float* __restrict values,
                                         std::size_t count) {
  std::size_t i = 0;
  for (; i + k_vector <= count; i += k_vector) {
    for (std::size_t j = 0; j < k_vector; ++j) into[i + j] += factor * static_cast<double>(values[i + j]);
  }
  for (; i < count; ++i) into[i] += factor * static_cast<double>(values[i]);
}

KW_WIDEST_VECTORS void widen_floats(double* __restrict into, const float* __restrict values, std::size_t count) {
  std::size_t i = 0;
  for (; i + k_vector <= count; i += k_vector) {
    for (std::size_t j = 0; j < k_vector; ++j) into[i + j] = static_cast<double>(values[i + j]);
  }
  for (; i < count; ++i) into[i] = static_cast<double>(values[i]);
}

}  // namespace

void read_run(std::span<double> into, const double* values) {
  std::copy_n(values, into.size(), into.begin());
}

void read_run(std::span<double> into, const float* values) {
  widen_floats(into.data(), values, into.size());
}

void add_scaled_run(std::span<double> into, double factor, const double* values) {
  add_scaled_doubles(into.data(), factor, values, into.size());
}

void add_scaled_run(std::span<double> into, double factor, const float* values) {
  add_scaled_floats(into.data(), factor, values, into.size());
}

}  // namespace kw::program_oracle
