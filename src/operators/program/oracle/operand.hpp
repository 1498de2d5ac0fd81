#pragma once
// An operand of a node, whole in memory or made element by element where an answer asks for it.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "operators/program/oracle/index_space.hpp"
#include "operators/program/oracle/vector_sums.hpp"
#include "program/graph/element_type.hpp"

namespace kw::program_oracle {

class Operand {
 public:
  using Source = std::function<double(std::int64_t element)>;

  /// `values` has to outlive the operand.
  Operand(ElementType dtype, Extents extents, const double* values)
      : dtype_(dtype), extents_(std::move(extents)), values_(values) {}
  Operand(ElementType dtype, Extents extents, const float* floats)
      : dtype_(dtype), extents_(std::move(extents)), floats_(floats) {}
  Operand(ElementType dtype, Extents extents, Source source)
      : dtype_(dtype), extents_(std::move(extents)), source_(std::move(source)) {}
  /// One that stands in the place of a tensor.
  [[nodiscard]] static Operand number(ElementType dtype, double value) {
    return {dtype, Extents{}, [value](std::int64_t) { return value; }};
  }

  [[nodiscard]] double operator[](std::int64_t element) const {
    if (values_ != nullptr) return values_[element];
    return floats_ != nullptr ? static_cast<double>(floats_[element]) : source_(element);
  }
  [[nodiscard]] ElementType dtype() const { return dtype_; }
  [[nodiscard]] const Extents& extents() const { return extents_; }
  [[nodiscard]] std::int64_t extent(std::size_t axis) const { return extents_[axis]; }
  [[nodiscard]] std::size_t rank() const { return extents_.size(); }
  [[nodiscard]] std::int64_t count() const { return volume_of(extents_); }
  [[nodiscard]] const double* values() const { return values_; }  ///< null where they lie elsewhere
  [[nodiscard]] const float* floats() const { return floats_; }   ///< likewise; null too where elements are made

 private:
  ElementType dtype_;
  Extents extents_;
  const double* values_ = nullptr;
  const float* floats_ = nullptr;
  Source source_;
};

/// into[i] += factor * values[i * stride]
template <typename Number>
void add_scaled_numbers(std::span<double> into, double factor, const Number* values, std::int64_t stride) {
  if (stride == 1) return add_scaled_run(into, factor, values);
  for (double& sum : into) {
    sum += factor * static_cast<double>(*values);
    values += stride;
  }
}

/// into[i] += factor * operand[start + i * stride]
inline void add_scaled(std::span<double> into, double factor, const Operand& operand, std::int64_t start,
                       std::int64_t stride) {
  if (operand.values() != nullptr) return add_scaled_numbers(into, factor, operand.values() + start, stride);
  if (operand.floats() != nullptr) return add_scaled_numbers(into, factor, operand.floats() + start, stride);
  for (std::size_t i = 0; i < into.size(); ++i) {
    into[i] += factor * operand[start + static_cast<std::int64_t>(i) * stride];
  }
}

/// into[i] = operand[start + i * stride]
inline void read_numbers(std::span<double> into, const Operand& operand, std::int64_t start, std::int64_t stride) {
  const auto read = [&](const auto* values) {
    if (stride == 1) return read_run(into, values);
    for (double& one : into) {
      one = static_cast<double>(*values);
      values += stride;
    }
  };
  if (operand.values() != nullptr) return read(operand.values() + start);
  if (operand.floats() != nullptr) return read(operand.floats() + start);
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = operand[start + static_cast<std::int64_t>(i) * stride];
}

/// into[i] = sum over k of left[k] * columns[i * stride + k], so that each column is read along memory. Eight sums at a
/// time, for each waits for its last term; terms are added in the order of k.
template <typename Number>
void multiply_columns_of(std::span<double> into, std::span<const double> left, const Number* columns,
                         std::int64_t stride) {
  const double* const row = left.data();
  const auto length = static_cast<std::int64_t>(left.size());
  std::size_t i = 0;
  for (; i + 8 <= into.size(); i += 8) {
    const Number* const block = columns + static_cast<std::int64_t>(i) * stride;
    double sums[8] = {};
    for (std::int64_t k = 0; k < length; ++k) {
#pragma GCC unroll 8
      for (std::int64_t j = 0; j < 8; ++j) sums[j] += row[k] * static_cast<double>(block[j * stride + k]);
    }
    std::ranges::copy(sums, into.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (; i < into.size(); ++i) {
    const Number* const column = columns + static_cast<std::int64_t>(i) * stride;
    double sum = 0;
    for (std::int64_t k = 0; k < length; ++k) sum += row[k] * static_cast<double>(column[k]);
    into[i] = sum;
  }
}

/// The same with the columns of an operand, from element `start` on.
inline void multiply_columns(std::span<double> into, std::span<const double> left, const Operand& operand,
                             std::int64_t start, std::int64_t stride) {
  if (operand.values() != nullptr) return multiply_columns_of(into, left, operand.values() + start, stride);
  if (operand.floats() != nullptr) return multiply_columns_of(into, left, operand.floats() + start, stride);
  for (std::size_t i = 0; i < into.size(); ++i) {
    const std::int64_t column = start + static_cast<std::int64_t>(i) * stride;
    double sum = 0;
    for (std::size_t k = 0; k < left.size(); ++k) sum += left[k] * operand[column + static_cast<std::int64_t>(k)];
    into[i] = sum;
  }
}

/// An operand as it is repeated along the axes of a result.
class Broadcast {
 public:
  Broadcast(Operand operand, const Extents& to)
      : operand_(std::move(operand)), map_(to, broadcast_strides(operand_.extents(), to)) {}
  [[nodiscard]] double operator[](std::int64_t element) const { return operand_[map_(element)]; }

 private:
  Operand operand_;
  StridedMap map_;
};

}  // namespace kw::program_oracle
