#include "verify/accuracy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "verify/storage.hpp"

namespace kw {
namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();

/// The root of the mean square of what is finite, of one row or of many.
struct Squares {
  double sum = 0;
  std::size_t count = 0;

  void add(const Squares& other) {
    sum += other.sum;
    count += other.count;
  }
  [[nodiscard]] double rms() const { return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count)); }
};

Squares squares_of(std::span<const double> values) {
  Squares squares;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    squares.sum += value * value;
    ++squares.count;
  }
  return squares;
}

/// Half a unit of the last place of a finite `value` as a float of 16 bits; 0 for other types.
double storage_rounding(double value, DType dtype) {
  if (!is_16_bit_float(dtype)) return 0;
  constexpr std::int64_t k_bias = 1023;
  constexpr unsigned k_fraction_bits = 52;
  const bool half = dtype == DType::f16;
  const std::int64_t smallest_exponent = half ? -14 : -126;
  const std::int64_t fraction_bits = half ? 10 : 7;
  const auto biased = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(value) >> k_fraction_bits & 0x7ffU);
  const std::int64_t power = std::max(biased - k_bias, smallest_exponent) - fraction_bits - 1;
  return std::bit_cast<double>((power + k_bias) << k_fraction_bits);
}

/// The share of the tensor's rms that counts towards every row's scale.
double tensor_share(std::int64_t row_length, DType dtype) {
  constexpr double k_long_row = 16.0, k_share = 0.001;
  const auto length = static_cast<double>(row_length);
  const double short_row = is_16_bit_float(dtype) ? 0.5 * (1.0 - length / k_long_row) : 0.25 / (length * length);
  return std::max(k_share, short_row);
}

/// What the errors of each row's elements are relative to.
std::vector<double> row_scales(std::span<const double> reference, const OutputForm& form) {
  const auto length = static_cast<std::size_t>(form.row_length);
  std::vector<double> scales;
  scales.reserve(reference.size() / length);
  Squares tensor;
  for (std::size_t start = 0; start < reference.size(); start += length) {
    const Squares row = squares_of(reference.subspan(start, length));
    tensor.add(row);
    scales.push_back(row.rms());
  }
  const double floor = tensor.rms() * tensor_share(form.row_length, form.dtype) + std::numeric_limits<double>::min();
  for (double& scale : scales) scale = std::max(scale + floor, form.unit);
  return scales;
}

double element_error(double value, double reference, double scale, DType dtype) {
  if (!std::isfinite(value) || !std::isfinite(reference)) return value == reference ? 0 : k_infinity;
  const double distance = std::abs(value - reference);
  return std::max(0.0, distance - storage_rounding(reference, dtype)) / scale;
}

}  // namespace

double small_output_factor(std::int64_t rows) {
  return 1.0 + 16.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(rows, 1)));
}

double allowed_error(const OutputForm& form, std::size_t elements, double plain_error) {
  const auto rows = static_cast<std::int64_t>(elements) / form.row_length;
  return small_output_factor(rows) * std::max(k_error_factor * plain_error, least_allowed_error(form.dtype));
}

double unit_roundoff(DType dtype) {
  if (dtype == DType::f16) return 0x1.0p-11;
  return dtype == DType::bf16 ? 0x1.0p-8 : 0x1.0p-24;
}

double least_allowed_error(DType dtype) {
  return (is_16_bit_float(dtype) ? 3.0 : 32.0) * unit_roundoff(dtype);
}

OutputForm output_form(const TensorSpec& output, const Axes& axes) {
  return {axes.find(output.axes.back())->second, output.dtype, output.unit};
}

std::vector<double> element_errors(std::span<const double> values, std::span<const double> reference,
                                   const OutputForm& form) {
  std::vector<double> errors;
  errors.reserve(reference.size());
  const std::vector<double> scales = row_scales(reference, form);
  const auto length = static_cast<std::size_t>(form.row_length);
  for (std::size_t i = 0; i < reference.size(); ++i) {
    errors.push_back(element_error(values[i], reference[i], scales[i / length], form.dtype));
  }
  return errors;
}

OutputError measure_error(std::span<const std::byte> bytes, std::uint32_t poison, std::span<const double> reference,
                          const OutputForm& form, double limit) {
  const std::vector<double> scales = row_scales(reference, form);
  return with_storage(form.dtype, [&](auto type) {
    using Bits = typename decltype(type)::Bits;
    OutputError result;
    std::size_t i = 0;
    for (const double scale : scales) {
      for (const std::size_t end = i + static_cast<std::size_t>(form.row_length); i < end; ++i) {
        const auto bits = bits_at<Bits>(bytes, i);
        const double value = type.number(bits);
        if (bits == poison_at<Bits>(poison, i)) ++result.unwritten;
        const double error = element_error(value, reference[i], scale, form.dtype);
        if (std::isnan(value) || (std::isinf(value) && std::isfinite(reference[i]))) ++result.not_finite;
        if (error > limit) ++result.over;
        if (error > result.max_error) {
          result.max_error = error;
          result.worst = static_cast<std::int64_t>(i);
        }
      }
    }
    return result;
  });
}

}  // namespace kw
