#pragma once
// How wrong an output is, and how wrong it may be.
//
// Error of element i = |x_i - r_i| / (rms(row of i) + f * rms(tensor)), r from the float64 oracle, rows along the
// innermost axis. Relative to the row, so that small rows count as much as large ones; the second term keeps rows that
// are zero (fully masked) finite. f is 1/1000, but 1 / (4 n^2) for rows of n < 16 elements: so few may all be near zero
// by chance, because what they sum up cancels, and their size then says nothing about rounding. For f16 and bf16 it is
// (1 - n / 16) / 2 there: weights that are rounded to the type err by what they sum up, however much of that cancels,
// and the least allowed error of half the tensor's rms is 3.5 deviations of theirs. Of these types only what goes
// beyond half a unit of r's last place counts: storing the exact answer is no error. An output that is a
// logarithm is judged relative to at least 1: near 0 it cancels like any difference. Where r is -infinity (the log of
// an empty sum) the output has to be just that, and such elements belong to no rms. What is allowed is `factor` times
// the error of the plain kernel of the same dtype on the same data, but at least a few units of the last place: the
// yardstick is an honest kernel, not a loose constant.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spec/tensor.hpp"

namespace kw {

struct OutputError {
  double max_error = 0;         ///< in the units above; infinity when an element is infinite or NaN and should not be
  std::int64_t worst = 0;       ///< flat index of the worst element
  std::int64_t not_finite = 0;  ///< elements that are NaN or infinite where the oracle is finite, or NaN anywhere
  std::int64_t unwritten = 0;   ///< elements that still hold the poison
  std::int64_t over = 0;        ///< elements above the limit that was passed
};

/// What an output is made of, for judging it.
struct OutputForm {
  std::int64_t row_length = 1;  ///< elements along the innermost axis
  DType dtype = DType::f32;
  double unit = 0.0;  ///< TensorSpec::unit
};
[[nodiscard]] OutputForm output_form(const TensorSpec& output, const Axes& axes);

/// `bytes` are as the candidate left them; `reference` row-major.
[[nodiscard]] OutputError measure_error(std::span<const std::byte> bytes, std::uint32_t poison,
                                        std::span<const double> reference, const OutputForm& form, double limit);

/// The error of every element, in the units above. `values` as measure_error reads them from the bytes.
[[nodiscard]] std::vector<double> element_errors(std::span<const double> values, std::span<const double> reference,
                                                 const OutputForm& form);

/// Honest f32 kernels that order their sums differently were seen to differ from the plain one by up to 2.5x on large
/// outputs (docs/measuring.md); half-precision arithmetic in an f32 problem is off by more than 100x.
inline constexpr double k_error_factor = 4.0;
/// The most that rounding to the type changes a number by, relative to it: 2^-24, f16 2^-11, bf16 2^-8.
[[nodiscard]] double unit_roundoff(DType dtype);
/// f32: 32 units (unit_roundoff). f16 and bf16: 3 units, so that weights may be rounded to the type before they are
/// multiplied, as tensor cores need it: that moves a weight by 0.42 u of it in the root mean square, either way, and so
/// a sum of w_k v_k by 0.42 u sqrt(sum of (w_k v_k)^2), where the root is what the rms of a row of unrelated values is.
/// The worst of thousands of elements is 3.5 to 4.5 such deviations out, 1.5 to 1.9 u; of half a million on a GPU up to
/// 2.6 u were seen, on inputs with spikes. Narrower types stay out: bf16 in an f16 problem, 8-bit floats
/// (u = 2^-4) in a bf16 problem.
[[nodiscard]] double least_allowed_error(DType dtype);
/// What may be allowed beyond both when an output has so few rows: 1 + 16 / sqrt(rows). The errors within a row go
/// together, and the worst of a few says little of what the plain kernel might have reached. Counts of honest kernels
/// that were refused without it stand in docs/measuring.md.
[[nodiscard]] double small_output_factor(std::int64_t rows);
/// What a candidate may err on an output of `elements` on which the plain kernel erred by `plain_error`.
[[nodiscard]] double allowed_error(const OutputForm& form, std::size_t elements, double plain_error);

}  // namespace kw
