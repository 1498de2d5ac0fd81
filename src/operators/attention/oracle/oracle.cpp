#include "operators/attention/oracle/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "base/widest_vectors.hpp"
#include "mod/analysis/row_evaluator.hpp"
#include "operators/attention/attention.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_rows = 32;   // query rows per task
constexpr std::int64_t k_keys = 512;  // keys whose transposed copy stays in cache
// Between rows of that copy: not a power of two, or all elements of a key would fall into the same few cache lines.
constexpr std::int64_t k_key_stride = k_keys + 8;
constexpr std::int64_t k_unroll = 32;  // a constant inner trip count is what lets g++ -O2 vectorise
constexpr double k_minus_infinity = -std::numeric_limits<double>::infinity();

std::int64_t round_up(std::int64_t n) {
  return (n + k_unroll - 1) / k_unroll * k_unroll;
}

/// sum[i] += factor * addend[i]; n is a multiple of k_unroll.
KW_WIDEST_VECTORS void add_scaled(double* __restrict sum, const double* __restrict addend, double factor,
                                  std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += k_unroll) {
    for (std::int64_t j = 0; j < k_unroll; ++j) sum[i + j] += factor * addend[i + j];
  }
}

/// The same with four factors and as many rows of addends, one after the other: sums are loaded and stored once.
KW_WIDEST_VECTORS void add_four_scaled(double* __restrict sum, const double* __restrict addends, std::int64_t stride,
                                       const double* factors, std::int64_t n) {
  const double f0 = factors[0], f1 = factors[1], f2 = factors[2], f3 = factors[3];
  for (std::int64_t i = 0; i < n; i += k_unroll) {
    const double* const from = addends + i;
    for (std::int64_t j = 0; j < k_unroll; ++j) {
      sum[i + j] =
          sum[i + j] + f0 * from[j] + f1 * from[stride + j] + f2 * from[2 * stride + j] + f3 * from[3 * stride + j];
    }
  }
}

/// Of `count` rows of addends. Those with a factor of 0 are left out: 0 times what is no number would be none.
void add_all_scaled(double* sum, const double* addends, std::int64_t stride, const double* factors, std::int64_t count,
                    std::int64_t n) {
  std::int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const double* const four = factors + k;
    if (four[0] != 0.0 && four[1] != 0.0 && four[2] != 0.0 && four[3] != 0.0) {
      add_four_scaled(sum, addends + k * stride, stride, four, n);
      continue;
    }
    for (std::int64_t j = k; j < k + 4; ++j) {
      if (factors[j] != 0.0) add_scaled(sum, addends + j * stride, factors[j], n);
    }
  }
  for (; k < count; ++k) {
    if (factors[k] != 0.0) add_scaled(sum, addends + k * stride, factors[k], n);
  }
}

/// n is a multiple of k_unroll.
KW_WIDEST_VECTORS void multiply(double* row, double factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += k_unroll) {
    for (std::int64_t j = 0; j < k_unroll; ++j) row[i + j] *= factor;
  }
}
KW_WIDEST_VECTORS void divide(double* row, double divisor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += k_unroll) {
    for (std::int64_t j = 0; j < k_unroll; ++j) row[i + j] /= divisor;
  }
}

/// What is left of a score that is too large for a float to tell it from its neighbours.
double as_float_holds(double score) {
  return std::fabs(score) < k_coarse_score ? score : static_cast<double>(static_cast<float>(score));
}

struct OracleShape {
  std::int64_t query_heads, key_heads, queries, keys, head_size, value_size;
};

/// One query row and where its answer goes.
struct RowTask {
  ModRowEvaluator::Row place;
  const float* query;  // [D]
  double* output;      // [Dv]
  double* lse;         // may be null
};

/// At most k_rows rows that see the same keys and values.
class RowBlock {
 public:
  RowBlock(const AttentionSpec& spec, const Axes& axes, const CaptureData& captures, const OracleShape& shape)
      : shape_(shape), scale_(spec.scale_for(axes)), padded_keys_((shape.keys + k_keys - 1) / k_keys * k_keys) {
    if (spec.score_mod) score_mod_.emplace(*spec.score_mod, axes, captures);
    if (spec.mask_mod) mask_mod_.emplace(*spec.mask_mod, axes, captures);
    mask_.resize(static_cast<std::size_t>(shape.keys));
  }

  /// `keys` [Skv, D], `values` [Skv, Dv].
  void run(const float* keys, const float* values, std::span<const RowTask> rows) {
    dot_products(keys, rows);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto row = scores_row(r);
      multiply(row.data(), scale_, padded_keys_);
      if (score_mod_) score_mod_->run(rows[r].place, 0, row);
      for (auto& score : row) score = as_float_holds(score);
      if (mask_mod_) mask(rows[r].place, row);
      const double row_lse = softmax(row);
      if (rows[r].lse != nullptr) *rows[r].lse = row_lse;
    }
    weighted_values(values, rows);
  }

 private:
  [[nodiscard]] double* scores_at(std::size_t r) {
    return scores_.data() + static_cast<std::int64_t>(r) * padded_keys_;
  }
  [[nodiscard]] std::span<double> scores_row(std::size_t r) {
    return {scores_at(r), static_cast<std::size_t>(shape_.keys)};
  }

  void dot_products(const float* keys, std::span<const RowTask> rows) {
    scores_.assign(rows.size() * static_cast<std::size_t>(padded_keys_), 0.0);
    transposed_.resize(static_cast<std::size_t>(shape_.head_size * k_key_stride));
    for (std::int64_t begin = 0; begin < shape_.keys; begin += k_keys) {
      const auto width = std::min(k_keys, shape_.keys - begin);
      transpose(keys + begin * shape_.head_size, width);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        query_.assign(rows[r].query, rows[r].query + shape_.head_size);
        add_all_scaled(scores_at(r) + begin, transposed_.data(), k_key_stride, query_.data(), shape_.head_size,
                       round_up(width));
      }
    }
  }

  /// A block of keys, with zeros behind the last. Eight keys at a time, which lie side by side in a line of the cache.
  void transpose(const float* keys, std::int64_t width) {
    if (width < k_keys) std::fill(transposed_.begin(), transposed_.end(), 0.0);
    for (std::int64_t first = 0; first < width; first += 8) {
      const std::int64_t end = std::min(width, first + 8);
      for (std::int64_t d = 0; d < shape_.head_size; ++d) {
        double* const to = transposed_.data() + d * k_key_stride;
        for (std::int64_t k = first; k < end; ++k) to[k] = keys[k * shape_.head_size + d];
      }
    }
  }

  void mask(const ModRowEvaluator::Row& place, std::span<double> row) {
    mask_mod_->run(place, 0, mask_);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (mask_[k] == 0.0) row[k] = k_minus_infinity;
    }
  }

  /// Scores become weights, and log(sum(exp(score))) is the answer. A row of minus infinities has no weights and stays
  /// all 0; its logarithm is minus infinity.
  double softmax(std::span<double> row) const {
    double largest = k_minus_infinity;
    for (const double score : row) largest = score > largest || std::isnan(score) ? score : largest;
    if (largest == k_minus_infinity) {
      std::fill(row.begin(), row.end(), 0.0);
      return k_minus_infinity;
    }
    double total = 0.0;
    for (auto& score : row) {
      score = std::exp(score - largest);
      total += score;
    }
    divide(row.data(), total, padded_keys_);
    return largest + std::log(total);
  }

  void weighted_values(const float* values, std::span<const RowTask> rows) {
    const auto width = round_up(shape_.value_size);
    const auto sums_at = [&](std::size_t r) { return sums_.data() + static_cast<std::int64_t>(r) * width; };
    values_.assign(static_cast<std::size_t>(k_keys * width), 0.0);
    sums_.assign(rows.size() * static_cast<std::size_t>(width), 0.0);
    for (std::int64_t begin = 0; begin < shape_.keys; begin += k_keys) {
      const auto keys = std::min(k_keys, shape_.keys - begin);
      for (std::int64_t k = 0; k < keys; ++k) {
        std::copy_n(values + (begin + k) * shape_.value_size, shape_.value_size, values_.data() + k * width);
      }
      for (std::size_t r = 0; r < rows.size(); ++r) {
        add_all_scaled(sums_at(r), values_.data(), width, scores_at(r) + begin, keys, width);
      }
    }
    for (std::size_t r = 0; r < rows.size(); ++r) std::copy_n(sums_at(r), shape_.value_size, rows[r].output);
  }

  OracleShape shape_;
  double scale_;
  std::int64_t padded_keys_;
  std::optional<ModRowEvaluator> score_mod_;
  std::optional<ModRowEvaluator> mask_mod_;
  std::vector<double> scores_;      // [rows, padded_keys_], 0 behind the last key
  std::vector<double> mask_;        // [keys]
  std::vector<double> transposed_;  // [head_size, k_key_stride]: a block of K
  std::vector<double> query_;       // [head_size]
  std::vector<double> values_;      // [k_keys, value_size rounded up]: a block of V
  std::vector<double> sums_;        // [rows, value_size rounded up]
};

OracleShape shape_of(const Axes& axes) {
  return {axes.at("Hq"), axes.at("Hkv"), axes.at("Sq"), axes.at("Skv"), axes.at("D"), axes.at("Dv")};
}

ModRowEvaluator::Row place_of(const OracleShape& shape, std::int64_t row) {
  const std::int64_t slice = row / shape.queries;
  return {slice / shape.query_heads, slice % shape.query_heads, row % shape.queries};
}

/// Of a row numbered along [B, Hq, Sq]: which [Skv, D] of all keys it sees.
std::int64_t key_slice_of(const OracleShape& shape, std::int64_t row) {
  const auto place = place_of(shape, row);
  return place.batch * shape.key_heads + place.head / (shape.query_heads / shape.key_heads);
}

/// What every row of an answer is computed from.
class AttentionOracle {
 public:
  AttentionOracle(const Problem& problem, const Axes& axes, const InputValues& inputs)
      : spec_(*attention_of(problem)),
        axes_(axes),
        inputs_(inputs),
        captures_(captures_among(problem.captures, axes, std::span(inputs).subspan(problem.operand_count()))),
        shape_(shape_of(axes)) {}

  [[nodiscard]] const OracleShape& shape() const { return shape_; }
  [[nodiscard]] bool has_lse() const { return spec_.lse; }

  [[nodiscard]] std::int64_t key_slice(std::int64_t row) const { return key_slice_of(shape_, row); }

  /// `lse` may be null.
  [[nodiscard]] RowTask task(std::int64_t row, double* output, double* lse) const {
    return {place_of(shape_, row), inputs_[0].data() + row * shape_.head_size, output, lse};
  }

  /// At most k_rows, all of one key slice.
  void run(std::int64_t key_slice, std::span<const RowTask> rows) const {
    RowBlock(spec_, axes_, captures_, shape_)
        .run(inputs_[1].data() + key_slice * shape_.keys * shape_.head_size,
             inputs_[2].data() + key_slice * shape_.keys * shape_.value_size, rows);
  }

 private:
  const AttentionSpec& spec_;
  const Axes& axes_;
  const InputValues& inputs_;
  CaptureData captures_;
  OracleShape shape_;
};

/// The answers to `rows`, which ascend, one behind the other in `output` and, where it is not null, in `lse`. Rows that
/// see the same keys share their conversion to double.
void answer(const AttentionOracle& oracle, std::span<const std::int64_t> rows, double* output, double* lse,
            const ParallelFor& parallel) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool full = !begins.empty() && i - begins.back() == static_cast<std::size_t>(k_rows);
    if (i == 0 || full || oracle.key_slice(rows[i]) != oracle.key_slice(rows[i - 1])) begins.push_back(i);
  }
  parallel(std::ssize(begins), [&](std::int64_t block) {
    const auto next = static_cast<std::size_t>(block) + 1;
    const std::size_t end = next < begins.size() ? begins[next] : rows.size();
    std::vector<RowTask> tasks;
    for (std::size_t i = begins[next - 1]; i < end; ++i) {
      double* row_output = output + static_cast<std::int64_t>(i) * oracle.shape().value_size;
      tasks.push_back(oracle.task(rows[i], row_output, lse == nullptr ? nullptr : lse + i));
    }
    oracle.run(oracle.key_slice(rows[begins[next - 1]]), tasks);
  });
}

}  // namespace

OutputValues attention_oracle(const Problem& problem, const Axes& axes, const InputValues& inputs,
                              const ParallelFor& parallel) {
  const AttentionOracle oracle(problem, axes, inputs);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(attention_oracle_rows(problem, axes, {}).rows));
  std::iota(rows.begin(), rows.end(), 0);
  OutputValues outputs = {std::vector<double>(rows.size() * static_cast<std::size_t>(oracle.shape().value_size), 0.0)};
  if (oracle.has_lse()) outputs.emplace_back(rows.size(), 0.0);
  answer(oracle, rows, outputs[0].data(), oracle.has_lse() ? outputs[1].data() : nullptr, parallel);
  return outputs;
}

AnswerRows attention_oracle_rows(const Problem&, const Axes& axes, const AnswerWork& whole) {
  constexpr std::int64_t k_most_heads = 48;
  const std::int64_t heads = axes.at("B") * axes.at("Hq");
  return {heads * axes.at("Sq"), heads, k_most_heads, k_most_heads, whole};
}

std::vector<AnswerSample> attention_oracle_sample(const Problem& problem, const Axes& axes, const InputValues& inputs,
                                                  std::span<const std::int64_t> rows, const ParallelFor& parallel) {
  const AttentionOracle oracle(problem, axes, inputs);
  const std::int64_t width = oracle.shape().value_size;
  AnswerSample output;
  for (const std::int64_t row : rows) {
    for (std::int64_t i = 0; i < width; ++i) output.elements.push_back(row * width + i);
  }
  output.values.resize(output.elements.size());
  AnswerSample lse{{rows.begin(), rows.end()}, std::vector<double>(rows.size())};
  answer(oracle, rows, output.values.data(), lse.values.data(), parallel);
  std::vector<AnswerSample> samples = {std::move(output)};
  if (oracle.has_lse()) samples.push_back(std::move(lse));
  return samples;
}

std::optional<OperandReads> attention_oracle_reads(const Problem&, const Axes& axes,
                                                   std::span<const std::int64_t> rows) {
  const OracleShape shape = shape_of(axes);
  OperandReads reads(3);
  std::int64_t last_slice = -1;
  for (const std::int64_t row : rows) {
    reads[0].push_back({row * shape.head_size, (row + 1) * shape.head_size});
    const std::int64_t slice = key_slice_of(shape, row);
    if (slice == last_slice) continue;
    last_slice = slice;
    const std::int64_t first = slice * shape.keys;
    reads[1].push_back({first * shape.head_size, (first + shape.keys) * shape.head_size});
    reads[2].push_back({first * shape.value_size, (first + shape.keys) * shape.value_size});
  }
  return reads;
}

}  // namespace kw
