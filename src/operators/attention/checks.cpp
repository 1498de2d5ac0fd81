#include <algorithm>

#include "operators/attention/parts.hpp"

namespace kw {
namespace {

/// Honest f32 kernels that order their sums differently were seen to differ from the plain one by up to 2.5x on large
/// outputs (docs/measuring.md); half-precision arithmetic in an f32 problem is off by more than 100x.
constexpr double k_error_factor = 4.0;
/// A plain kernel this far off is wrong, not imprecise, and must not become the measure of others.
constexpr double k_worst_plain_error = 0.01;

/// f32: 32 units (unit_roundoff). f16 and bf16: 3 units, so that weights may be rounded to the type before they are
/// multiplied, as tensor cores need it: that moves a weight by 0.42 u of it in the root mean square, either way, and so
/// a sum of w_k v_k by 0.42 u sqrt(sum of (w_k v_k)^2), where the root is what the rms of a row of unrelated values is.
/// The worst of thousands of elements is 3.5 to 4.5 such deviations out, 1.5 to 1.9 u; of half a million on a GPU up to
/// 2.6 u were seen, on inputs with spikes. Narrower types stay out: bf16 in an f16 problem, 8-bit floats
/// (u = 2^-4) in a bf16 problem.
double least_attention_error(DType dtype) {
  return (is_16_bit_float(dtype) ? 3.0 : 32.0) * unit_roundoff(dtype);
}

/// 1/1000, but 1 / (4 n^2) for rows of n < 16 elements: so few may all be near zero by chance, because what they sum up
/// cancels, and their size then says nothing about rounding. For f16 and bf16 it is (1 - n / 16) / 2 there: weights
/// that are rounded to the type err by what they sum up, however much of that cancels, and the least allowed error of
/// half the tensor's rms is 3.5 deviations of theirs.
double attention_tensor_share(DType dtype, std::int64_t row_length) {
  constexpr double k_long_row = 16.0, k_share = 0.001;
  const auto length = static_cast<double>(row_length);
  const double short_row = is_16_bit_float(dtype) ? 0.5 * (1.0 - length / k_long_row) : 0.25 / (length * length);
  return std::max(k_share, short_row);
}

Tolerance attention_tolerance(const Problem&, DType dtype, std::int64_t row_length) {
  return {.error_factor = k_error_factor,
          .least_error = least_attention_error(dtype),
          .tensor_share = attention_tensor_share(dtype, row_length),
          .worst_plain_error = k_worst_plain_error};
}

std::int64_t axis_extent(const Axes& axes, const std::string& axis) {
  return axes.find(axis)->second;
}

/// One row of `sequence` rows: for each column the mean.
void append_mean_rows(const float* rows, std::int64_t sequence, std::int64_t columns, std::int64_t copies,
                      std::vector<double>& result) {
  std::vector<double> means(static_cast<std::size_t>(columns), 0.0);
  for (std::int64_t row = 0; row < sequence; ++row) {
    for (std::int64_t c = 0; c < columns; ++c) means[static_cast<std::size_t>(c)] += rows[row * columns + c];
  }
  for (double& mean : means) mean /= static_cast<double>(sequence);
  for (std::int64_t copy = 0; copy < copies; ++copy) result.insert(result.end(), means.begin(), means.end());
}

/// The mean over the second-innermost axis of an input, handed to all elements of an output of the same rank whose
/// outer extents are multiples of the input's, as query heads are of key heads.
std::optional<std::vector<double>> means_along_sequence(const AnsweredCase& one, std::size_t input,
                                                        std::size_t output) {
  const TensorSpec& from = one.problem.inputs[input];
  const TensorSpec& to = one.problem.outputs[output];
  const std::size_t rank = from.axes.size();
  if (rank < 2 || to.axes.size() != rank) return std::nullopt;
  const std::int64_t columns = axis_extent(one.axes, from.axes.back());
  const std::int64_t sequence = axis_extent(one.axes, from.axes[rank - 2]);
  const std::int64_t rows_per_slice = axis_extent(one.axes, to.axes[rank - 2]);
  if (axis_extent(one.axes, to.axes.back()) != columns) return std::nullopt;
  std::int64_t slices = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (axis_extent(one.axes, to.axes[i]) % axis_extent(one.axes, from.axes[i]) != 0) return std::nullopt;
    slices *= axis_extent(one.axes, to.axes[i]);
  }
  std::vector<double> result;
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    std::int64_t source = 0;
    std::int64_t stride = 1;
    std::int64_t rest = slice;
    for (std::size_t i = rank - 2; i-- > 0;) {
      const std::int64_t mine = axis_extent(one.axes, to.axes[i]);
      const std::int64_t theirs = axis_extent(one.axes, from.axes[i]);
      source += rest % mine / (mine / theirs) * stride;
      stride *= theirs;
      rest /= mine;
    }
    append_mean_rows(one.inputs[input].data() + source * sequence * columns, sequence, columns, rows_per_slice, result);
  }
  return result;
}

std::vector<OwnProbe> attention_probes(const Problem& problem) {
  std::vector<OwnProbe> all;
  for (std::size_t i = 0; i < problem.operand_count(); ++i) {
    all.push_back({"the mean of " + problem.inputs[i].name + " over its rows",
                   "add a workload on which the rows do not count alike", i, means_along_sequence});
  }
  return all;
}

std::string how_to_depend(std::string_view operand) {
  return fmt::format("let the answer depend on {}: on more than one key, and not on the mods alone", operand);
}

std::string how_to_be_finite() {
  return "let no score become +infinity or NaN; -infinity is how a score_mod masks a key";
}

}  // namespace

OperatorChecks attention_checks() {
  return {
      .rule = [](const Problem&, const Workload&, std::size_t) { return std::optional<DrawRule>(); },
      .settle = [](const Problem&, const Workload&, InputValues&, Rng&, const ParallelFor&) {},
      .settles = [](const Problem&, const Workload&, std::size_t) { return false; },
      .may_be_idle = [](const Problem&, std::size_t) { return false; },
      .conditioning = [](const Problem&, const Workload&, const InputValues&, double) { return std::optional(0.0); },
      .distributions = attention_distributions,
      .tolerance = attention_tolerance,
      .probes = attention_probes,
      .how_to_depend = how_to_depend,
      .how_to_be_finite = how_to_be_finite};
}

}  // namespace kw
