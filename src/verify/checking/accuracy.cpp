#include "verify/checking/accuracy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "problem/operator.hpp"
#include "verify/checking/storage.hpp"

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

/// A logarithm as large as this is so far from all others that they would count for nothing beside it.
constexpr double k_alone = 8192.0;
bool stands_alone(double value, const OutputForm& form) {
  return form.unit > 0 && std::abs(value) >= k_alone;
}

/// Of the numbers number(begin) to number(end - 1).
template <typename Number>
Squares squares_of(const Number& number, std::size_t begin, std::size_t end, const OutputForm& form) {
  Squares squares;
  for (std::size_t i = begin; i < end; ++i) {
    const double value = number(i);
    if (!std::isfinite(value) || stands_alone(value, form)) continue;
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

/// `row_scale` is the row's.
double element_error(double value, double reference, double row_scale, const OutputForm& form) {
  if (!std::isfinite(value) || !std::isfinite(reference)) return value == reference ? 0 : k_infinity;
  const double distance = std::abs(value - reference);
  const double scale = stands_alone(reference, form) ? std::abs(reference) : row_scale;
  return std::max(0.0, distance - form.roundings * storage_rounding(reference, form.dtype)) / scale;
}

/// Of each element of the sample: that of its row.
std::vector<double> sample_scales(const AnswerSample& sample, const OutputScales& like, const OutputForm& form) {
  const std::span<const double> values = sample.values;
  std::vector<double> scales;
  scales.reserve(values.size());
  for (std::size_t begin = 0; begin < values.size();) {
    const std::int64_t row = sample.elements[begin] / form.row_length;
    std::size_t end = begin;
    while (end < values.size() && sample.elements[end] / form.row_length == row) ++end;
    const bool whole = static_cast<std::int64_t>(end - begin) == form.row_length;
    const auto value_at = [&](std::size_t i) { return values[i]; };
    const double own = squares_of(value_at, begin, end, form).rms() + like.floor;
    scales.resize(end, whole ? std::max(own, form.unit) : like.rows[static_cast<std::size_t>(row)]);
    begin = end;
  }
  return scales;
}

/// Of parts of an output, in their order: the first of equal errors counts as the worst.
OutputError together(std::span<const OutputError> parts) {
  OutputError all;
  for (const OutputError& part : parts) {
    all.not_finite += part.not_finite;
    all.unwritten += part.unwritten;
    all.over += part.over;
    if (part.max_error <= all.max_error) continue;
    all.max_error = part.max_error;
    all.worst = part.worst;
  }
  return all;
}

/// How many rows are looked at by one thread.
std::size_t rows_per_part(const OutputForm& form) {
  return std::max<std::size_t>(1, k_elements_per_part / static_cast<std::size_t>(form.row_length));
}

/// Elements that were not written, and NaN: of all, in blocks of a size that a compiler makes vector code for. Numbers
/// as wide as the elements count them, for vector code of two widths takes five times as long.
template <typename Stored>
OutputError count_useless(Stored type, std::span<const std::byte> bytes, std::uint32_t poison) {
  using Bits = typename Stored::Bits;
  using Count = std::conditional_t<sizeof(Bits) == 1, std::uint16_t, Bits>;
  constexpr std::size_t k_block = 1024;
  static_assert(k_block <= std::numeric_limits<Count>::max());
  const std::size_t count = bytes.size() / sizeof(Bits);
  std::array<Bits, k_block> unwritten_bits;
  for (std::size_t k = 0; k < k_block; ++k) unwritten_bits[k] = poison_at<Bits>(poison, k);
  OutputError result;
  std::size_t i = 0;
  for (; i + k_block <= count; i += k_block) {
    Count unwritten = 0;
    Count nans = 0;
    for (std::size_t k = 0; k < k_block; ++k) {
      const auto bits = bits_at<Bits>(bytes, i + k);
      unwritten = static_cast<Count>(unwritten + (bits == unwritten_bits[k] ? 1 : 0));
      nans = static_cast<Count>(nans + (Stored::is_nan(bits) ? 1 : 0));
    }
    result.unwritten += unwritten;
    result.not_finite += nans;
  }
  for (; i < count; ++i) {
    const auto bits = bits_at<Bits>(bytes, i);
    if (bits == poison_at<Bits>(poison, i)) ++result.unwritten;
    if (std::isnan(type.number(bits))) ++result.not_finite;
  }
  return result;
}

/// The same by all threads. Parts begin where the poison does.
template <typename Stored>
OutputError count_all_useless(Stored type, std::span<const std::byte> bytes, std::uint32_t poison,
                              const ParallelFor& parallel) {
  constexpr std::size_t k_part = k_elements_per_part * sizeof(typename Stored::Bits);
  static_assert(k_part % sizeof poison == 0);
  std::vector<OutputError> parts((bytes.size() + k_part - 1) / k_part);
  for_parts(parallel, bytes.size(), k_part, [&](std::size_t part, std::size_t begin, std::size_t end) {
    parts[part] = count_useless(type, bytes.subspan(begin, end - begin), poison);
  });
  return together(parts);
}

/// How far the elements [begin, end) of a row are off at most, beyond what storing them takes, in the output's units;
/// nothing where one of them is to be looked at by itself. `right(i)` is what element i should be.
template <typename Stored, typename Right>
std::optional<double> greatest_distance(Stored type, std::span<const std::byte> bytes, std::uint32_t poison,
                                        const Right& right, std::size_t begin, std::size_t end,
                                        const OutputForm& form) {
  using Bits = typename Stored::Bits;
  constexpr DType dtype = Stored::dtype;
  const double alone = form.unit > 0 ? k_alone : k_infinity;
  double most = 0;
  bool special = false;
  for (std::size_t i = begin; i < end; ++i) {
    const auto bits = bits_at<Bits>(bytes, i);
    const double value = type.number(bits);
    const double reference = right(i);
    const double distance = std::abs(value - reference) - form.roundings * storage_rounding(reference, dtype);
    special |= bits == poison_at<Bits>(poison, i);
    special |= !(std::abs(value) < k_infinity);
    special |= !(std::abs(reference) < alone);
    most = std::max(most, distance);
  }
  return special ? std::nullopt : std::optional(most);
}

/// Of the rows from `first` on, one for each of `row_scales`; `right(i)` is what element i should be.
template <typename Stored, typename Right>
OutputError measure_rows(Stored type, std::span<const std::byte> bytes, std::uint32_t poison, const Right& right,
                         std::size_t first, std::span<const double> row_scales, const OutputForm& form, double limit) {
  using Bits = typename Stored::Bits;
  const auto length = static_cast<std::size_t>(form.row_length);
  OutputError result;
  std::size_t i = first * length;
  for (const double scale : row_scales) {
    // Most rows hold nothing worse than what was seen before them.
    const auto distance = greatest_distance(type, bytes, poison, right, i, i + length, form);
    if (distance && *distance / scale <= std::min(limit, result.max_error)) {
      i += length;
      continue;
    }
    for (const std::size_t end = i + length; i < end; ++i) {
      const auto bits = bits_at<Bits>(bytes, i);
      const double value = type.number(bits);
      const double reference = right(i);
      const double error = element_error(value, reference, scale, form);
      if (bits == poison_at<Bits>(poison, i) && is_left_out(value, error, limit)) ++result.unwritten;
      if (std::isnan(value) || (std::isinf(value) && std::isfinite(reference))) ++result.not_finite;
      if (error > limit) ++result.over;
      if (error > result.max_error) {
        result.max_error = error;
        result.worst = static_cast<std::int64_t>(i);
      }
    }
  }
  return result;
}

/// The same of any answer, whose type is looked at once.
OutputError measure_rows(std::span<const std::byte> bytes, std::uint32_t poison, const AnswerView& reference,
                         std::size_t first, std::span<const double> row_scales, const OutputForm& form, double limit) {
  return reference.with_numbers([&](const auto& right) {
    return with_storage(form.dtype, [&](auto type) {
      return measure_rows(type, bytes, poison, right, first, row_scales, form, limit);
    });
  });
}

}  // namespace

double small_output_factor(std::int64_t rows) {
  return 1.0 + 16.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(rows, 1)));
}

double allowed_error(const OutputForm& form, std::size_t elements, double plain_error) {
  const auto rows = static_cast<std::int64_t>(elements) / form.row_length;
  return small_output_factor(rows) * std::max(form.tolerance.error_factor * plain_error, form.tolerance.least_error);
}

OutputScales output_scales(const AnswerView& reference, const OutputForm& form, const ParallelFor& parallel) {
  const auto length = static_cast<std::size_t>(form.row_length);
  OutputScales scales;
  scales.rows.resize(reference.size() / length);
  const std::size_t part_rows = rows_per_part(form);
  std::vector<Squares> parts((scales.rows.size() + part_rows - 1) / part_rows);
  for_parts(parallel, scales.rows.size(), part_rows, [&](std::size_t part, std::size_t begin, std::size_t end) {
    reference.with_numbers([&](const auto& number) {
      for (std::size_t row = begin; row < end; ++row) {
        const Squares squares = squares_of(number, row * length, (row + 1) * length, form);
        parts[part].add(squares);
        scales.rows[row] = squares.rms();
      }
    });
  });
  Squares tensor;
  for (const Squares& part : parts) tensor.add(part);
  scales.floor = tensor.rms() * form.tolerance.tensor_share + std::numeric_limits<double>::min();
  for (double& scale : scales.rows) scale = std::max(scale + scales.floor, form.unit);
  return scales;
}

OutputForm output_form(const Problem& problem, const TensorSpec& output, const Axes& axes) {
  const std::int64_t row_length = row_length_of(output, axes);
  return {row_length, output.dtype, output.unit,
          operator_of(problem).checks.tolerance(problem, output.dtype, row_length)};
}

std::vector<double> element_errors(std::span<const double> values, std::span<const double> reference,
                                   const OutputForm& form) {
  std::vector<double> errors;
  errors.reserve(reference.size());
  const OutputScales scales = output_scales(reference, form);
  const auto length = static_cast<std::size_t>(form.row_length);
  for (std::size_t i = 0; i < reference.size(); ++i) {
    errors.push_back(element_error(values[i], reference[i], scales.rows[i / length], form));
  }
  return errors;
}

bool is_left_out(double value, double error, double limit) {
  return std::isnan(value) || error > limit;
}

OutputError measure_error(std::span<const std::byte> bytes, std::uint32_t poison, const AnswerView& reference,
                          const OutputForm& form, double limit) {
  return measure_error(bytes, poison, reference, output_scales(reference, form), form, limit);
}

OutputError measure_error(std::span<const std::byte> bytes, std::uint32_t poison, const AnswerView& reference,
                          const OutputScales& scales, const OutputForm& form, double limit,
                          const ParallelFor& parallel) {
  const std::size_t part_rows = rows_per_part(form);
  std::vector<OutputError> parts((scales.rows.size() + part_rows - 1) / part_rows);
  for_parts(parallel, scales.rows.size(), part_rows, [&](std::size_t part, std::size_t begin, std::size_t end) {
    const auto rows = std::span(scales.rows).subspan(begin, end - begin);
    parts[part] = measure_rows(bytes, poison, reference, begin, rows, form, limit);
  });
  return together(parts);
}

DoubtedRows rows_over(std::span<const std::byte> bytes, std::uint32_t poison, const AnswerView& reference,
                      const OutputScales& scales, const OutputForm& form, double limit, const ParallelFor& parallel) {
  const std::size_t part_rows = rows_per_part(form);
  std::vector<DoubtedRows> parts((scales.rows.size() + part_rows - 1) / part_rows);
  for_parts(parallel, scales.rows.size(), part_rows, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const OutputError error = measure_rows(bytes, poison, reference, row, {&scales.rows[row], 1}, form, limit);
      if (!error.nothing_wrong()) {
        parts[part].rows.push_back({static_cast<std::int64_t>(row), error.max_error});
      } else if (error.max_error > parts[part].error_of_others) {
        parts[part].error_of_others = error.max_error;
        parts[part].worst_of_others = error.worst;
      }
    }
  });
  DoubtedRows all;
  for (const DoubtedRows& part : parts) {
    all.rows.insert(all.rows.end(), part.rows.begin(), part.rows.end());
    if (part.error_of_others <= all.error_of_others) continue;
    all.error_of_others = part.error_of_others;
    all.worst_of_others = part.worst_of_others;
  }
  return all;
}

OutputError measure_sample(std::span<const std::byte> bytes, std::uint32_t poison, const AnswerSample& sample,
                           const OutputScales& like, const OutputForm& form, double limit, const ParallelFor& parallel,
                           const std::optional<UselessCount>& counted) {
  const std::vector<double> scales = sample_scales(sample, like, form);
  return with_storage(form.dtype, [&](auto type) {
    using Bits = typename decltype(type)::Bits;
    OutputError result;
    if (counted) {
      result.unwritten = counted->unwritten;
      result.not_finite = counted->nans;
    } else {
      result = count_all_useless(type, bytes, poison, parallel);
    }
    for (std::size_t i = 0; i < sample.elements.size(); ++i) {
      const auto element = static_cast<std::size_t>(sample.elements[i]);
      const auto bits = bits_at<Bits>(bytes, element);
      const double value = type.number(bits);
      const double error = element_error(value, sample.values[i], scales[i], form);
      if (bits == poison_at<Bits>(poison, element) && !is_left_out(value, error, limit)) --result.unwritten;
      if (std::isinf(value) && std::isfinite(sample.values[i])) ++result.not_finite;
      if (error > limit) ++result.over;
      if (error <= result.max_error) continue;
      result.max_error = error;
      result.worst = sample.elements[i];
    }
    return result;
  });
}

std::vector<DoubtedElement> elements_over(std::span<const std::byte> bytes, const AnswerSample& sample,
                                          const OutputScales& like, const OutputForm& form, double limit) {
  const std::vector<double> scales = sample_scales(sample, like, form);
  std::vector<DoubtedElement> over;
  AnswerView(form.dtype, bytes).with_numbers([&](const auto& number) {
    for (std::size_t i = 0; i < sample.elements.size(); ++i) {
      const double value = number(static_cast<std::size_t>(sample.elements[i]));
      const double error = element_error(value, sample.values[i], scales[i], form);
      if (error > limit) over.push_back({sample.elements[i], error});
    }
  });
  return over;
}

double error_in_sample(const AnswerView& answer, const AnswerSample& sample, const OutputScales& like,
                       const OutputForm& form) {
  const std::vector<double> scales = sample_scales(sample, like, form);
  return answer.with_numbers([&](const auto& number) {
    double most = 0;
    for (std::size_t i = 0; i < sample.elements.size(); ++i) {
      const double value = number(static_cast<std::size_t>(sample.elements[i]));
      most = std::max(most, element_error(value, sample.values[i], scales[i], form));
    }
    return most;
  });
}

}  // namespace kw
