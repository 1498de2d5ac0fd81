#pragma once
// How wrong an output is, and how wrong it may be.
//
// Error of element i = |x_i - r_i| / (rms(row of i) + f * rms(tensor)), r from the float64 oracle, rows along the
// innermost axis; an output without axes is one row of one element. Relative to the row, so that small rows count as
// much as large ones; the second term keeps rows that are zero (fully masked) finite, and f is larger for short rows,
// which may be near zero by chance (Tolerance::tensor_share). Of f16 and bf16 only what goes beyond half a unit of r's
// last place counts: storing the exact answer is no error. An output that is a logarithm is judged relative to at least
// 1: near 0 it cancels like any difference. Where r is -infinity (the log of an empty sum) the output has to be just
// that, and such elements belong to no rms. Nor do logarithms beyond 8192, as rows have that see nothing but masking
// values such as -1e9: each is judged relative to itself, and the others as if it were not there. What is allowed is a
// factor times the error of the plain kernel of the same dtype on the same data, but at least a few units of the last
// place: the measure is an honest kernel, not a loose constant. Which factor and how many units is the operator's to
// say (problem/operator_checks.hpp).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "problem/operator_checks.hpp"
#include "verify/checking/answer.hpp"

namespace kw {

struct OutputError {
  double max_error = 0;         ///< in the units above; infinity when an element is infinite or NaN and should not be
  std::int64_t worst = 0;       ///< flat index of the worst element
  std::int64_t not_finite = 0;  ///< elements that are NaN or infinite where the oracle is finite, or NaN anywhere
  std::int64_t unwritten = 0;   ///< elements that hold the poison where that is not the answer
  std::int64_t over = 0;        ///< elements above the limit that was passed

  [[nodiscard]] bool nothing_wrong() const { return not_finite == 0 && unwritten == 0 && over == 0; }
};

/// What an output is made of, for judging it.
struct OutputForm {
  std::int64_t row_length;  ///< elements along the innermost axis
  DType dtype;
  double unit;  ///< TensorSpec::unit
  Tolerance tolerance;
  double roundings = 1;  ///< halves of a unit that do not count: 2 where the reference was stored itself
};
[[nodiscard]] OutputForm output_form(const Problem& problem, const TensorSpec& output, const Axes& axes);

/// `bytes` are as the candidate left them; `reference` row-major. Integers have no value that only poison has: an
/// element that is right to the limit counts as written, whatever its bits; a run with other poison finds it if it
/// never was. NaN is never right.
[[nodiscard]] OutputError measure_error(std::span<const std::byte> bytes, std::uint32_t poison,
                                        const AnswerView& reference, const OutputForm& form, double limit);

/// Whether an element of value `value`, which holds the poison, was never written; its error is `error`.
[[nodiscard]] bool is_left_out(double value, double error, double limit);

/// The error of every element, in the units above. `values` as measure_error reads them from the bytes.
[[nodiscard]] std::vector<double> element_errors(std::span<const double> values, std::span<const double> reference,
                                                 const OutputForm& form);

/// What errors are relative to: rms(row) + floor, or the tensor's unit where that is more.
struct OutputScales {
  std::vector<double> rows;
  double floor;  ///< f * rms(tensor)
};
[[nodiscard]] OutputScales output_scales(const AnswerView& reference, const OutputForm& form,
                                         const ParallelFor& parallel = serial_for);

/// As above, where the scales of `reference` are known: making them reads all of it once more.
[[nodiscard]] OutputError measure_error(std::span<const std::byte> bytes, std::uint32_t poison,
                                        const AnswerView& reference, const OutputScales& scales, const OutputForm& form,
                                        double limit, const ParallelFor& parallel = serial_for);

/// A row in which measure_error finds something wrong.
struct DoubtedRow {
  std::int64_t row = 0;
  double error = 0;  ///< the largest in it, in the units above; infinity where an element is no number
};

/// All of them, ascending, and how wrong the others are.
struct DoubtedRows {
  std::vector<DoubtedRow> rows;
  double error_of_others = 0;
  std::int64_t worst_of_others = 0;  ///< flat index
};
[[nodiscard]] DoubtedRows rows_over(std::span<const std::byte> bytes, std::uint32_t poison, const AnswerView& reference,
                                    const OutputScales& scales, const OutputForm& form, double limit,
                                    const ParallelFor& parallel = serial_for);

/// Elements of an output that are no answer, whatever the answer is.
struct UselessCount {
  std::int64_t unwritten = 0;  ///< hold the poison
  std::int64_t nans = 0;       ///< as poison may be
};

/// As measure_error, where the answer is known for some elements only. `like` are the scales of an output to data of
/// the same distribution: they hold for rows that are known in part. A row that is known whole has its own, for a short
/// one may be many times larger than the row of other data. Elements that were not written, and NaN, are counted
/// wherever they are; of elements whose answer is not known any that holds the poison. Where they were counted already,
/// `bytes` need to be right in the sampled elements alone.
[[nodiscard]] OutputError measure_sample(std::span<const std::byte> bytes, std::uint32_t poison,
                                         const AnswerSample& sample, const OutputScales& like, const OutputForm& form,
                                         double limit, const ParallelFor& parallel = serial_for,
                                         const std::optional<UselessCount>& counted = std::nullopt);

struct DoubtedElement {
  std::int64_t element = 0;  ///< flat index
  double error = 0;          ///< in the units above; infinity where it is no number
};
/// Those of the sample that are over the limit, in its order.
[[nodiscard]] std::vector<DoubtedElement> elements_over(std::span<const std::byte> bytes, const AnswerSample& sample,
                                                        const OutputScales& like, const OutputForm& form, double limit);

/// The largest error of an `answer`, as a kernel gave one, where the right one is known. `like` as above.
[[nodiscard]] double error_in_sample(const AnswerView& answer, const AnswerSample& sample, const OutputScales& like,
                                     const OutputForm& form);

/// What may be allowed beyond both when an output has so few rows: 1 + 16 / sqrt(rows). The errors within a row go
/// together, and the worst of a few says little of what the plain kernel might have reached. Counts of honest kernels
/// that were refused without it stand in docs/measuring.md.
[[nodiscard]] double small_output_factor(std::int64_t rows);
/// What a candidate may err on an output of `elements` on which the plain kernel erred by `plain_error`.
[[nodiscard]] double allowed_error(const OutputForm& form, std::size_t elements, double plain_error);

}  // namespace kw
