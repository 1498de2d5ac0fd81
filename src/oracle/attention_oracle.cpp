#include "oracle/attention_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "spec/mod_row_evaluator.hpp"

// One binary for every x86 machine, yet the two hot loops use the widest vectors there are. Not under sanitizers, whose
// start-up and the run-time choice of a clone do not get along.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define KW_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define KW_WIDEST_VECTORS
#endif

namespace kw {
namespace {

constexpr std::int64_t k_rows = 32;    // query rows per task
constexpr std::int64_t k_keys = 512;   // keys whose transposed copy stays in cache
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

struct Shape {
  std::int64_t query_heads, key_heads, queries, keys, head_size, value_size;
};

struct Inputs {
  const float* query;  // [Hq, Sq, D] of one batch and so on
  const float* key;
  const float* value;
};

/// One task: rows [first, first + count) of one (batch, head).
class RowBlock {
 public:
  RowBlock(const AttentionSpec& spec, const Axes& axes, const CaptureData& captures, const Shape& shape)
      : shape_(shape), scale_(spec.scale_for(axes)), padded_keys_((shape.keys + k_keys - 1) / k_keys * k_keys) {
    if (spec.score_mod) score_mod_.emplace(*spec.score_mod, axes, captures);
    if (spec.mask_mod) mask_mod_.emplace(*spec.mask_mod, axes, captures);
    scores_.assign(static_cast<std::size_t>(k_rows * padded_keys_), 0.0);
    mask_.resize(static_cast<std::size_t>(shape.keys));
  }

  /// `output` and `lse` belong to (batch, head), not to the block; `lse` may be null.
  void run(const Inputs& inputs, ModRowEvaluator::Row first, std::int64_t count, double* output, double* lse) {
    dot_products(inputs, first.query, count);
    for (std::int64_t r = 0; r < count; ++r) {
      const auto row = scores_row(r);
      const ModRowEvaluator::Row place{first.batch, first.head, first.query + r};
      for (auto& score : row) score *= scale_;
      if (score_mod_) score_mod_->run(place, 0, row);
      if (mask_mod_) mask(place, row);
      const double row_lse = softmax(row);
      if (lse != nullptr) lse[place.query] = row_lse;
    }
    weighted_values(inputs, first.query, count, output);
  }

 private:
  [[nodiscard]] double* scores_at(std::int64_t r) { return scores_.data() + r * padded_keys_; }
  [[nodiscard]] std::span<double> scores_row(std::int64_t r) {
    return {scores_at(r), static_cast<std::size_t>(shape_.keys)};
  }

  void dot_products(const Inputs& inputs, std::int64_t first_query, std::int64_t count) {
    std::fill(scores_.begin(), scores_.end(), 0.0);
    transposed_.resize(static_cast<std::size_t>(shape_.head_size * k_keys));
    for (std::int64_t begin = 0; begin < shape_.keys; begin += k_keys) {
      const auto width = std::min(k_keys, shape_.keys - begin);
      std::fill(transposed_.begin(), transposed_.end(), 0.0);
      for (std::int64_t k = 0; k < width; ++k) {
        const float* key = inputs.key + (begin + k) * shape_.head_size;
        for (std::int64_t d = 0; d < shape_.head_size; ++d)
          transposed_[static_cast<std::size_t>(d * k_keys + k)] = key[d];
      }
      for (std::int64_t r = 0; r < count; ++r) {
        const float* query = inputs.query + (first_query + r) * shape_.head_size;
        for (std::int64_t d = 0; d < shape_.head_size; ++d) {
          add_scaled(scores_at(r) + begin, transposed_.data() + d * k_keys, query[d], round_up(width));
        }
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
  static double softmax(std::span<double> row) {
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
    for (auto& score : row) score /= total;
    return largest + std::log(total);
  }

  void weighted_values(const Inputs& inputs, std::int64_t first_query, std::int64_t count, double* output) {
    const auto width = round_up(shape_.value_size);
    values_.assign(static_cast<std::size_t>(k_keys * width), 0.0);
    sums_.assign(static_cast<std::size_t>(k_rows * width), 0.0);
    for (std::int64_t begin = 0; begin < shape_.keys; begin += k_keys) {
      const auto keys = std::min(k_keys, shape_.keys - begin);
      for (std::int64_t k = 0; k < keys; ++k) {
        std::copy_n(inputs.value + (begin + k) * shape_.value_size, shape_.value_size, values_.data() + k * width);
      }
      for (std::int64_t r = 0; r < count; ++r) {
        for (std::int64_t k = 0; k < keys; ++k) {
          const double weight = scores_at(r)[begin + k];
          if (weight != 0.0) add_scaled(sums_.data() + r * width, values_.data() + k * width, weight, width);
        }
      }
    }
    for (std::int64_t r = 0; r < count; ++r) {
      std::copy_n(sums_.data() + r * width, shape_.value_size, output + (first_query + r) * shape_.value_size);
    }
  }

  Shape shape_;
  double scale_;
  std::int64_t padded_keys_;
  std::optional<ModRowEvaluator> score_mod_;
  std::optional<ModRowEvaluator> mask_mod_;
  std::vector<double> scores_;      // [k_rows, padded_keys_]
  std::vector<double> mask_;        // [keys]
  std::vector<double> transposed_;  // [head_size, k_keys]: a block of K
  std::vector<double> values_;      // [k_keys, value_size rounded up]: a block of V
  std::vector<double> sums_;        // [k_rows, value_size rounded up]
};

}  // namespace

OutputValues attention_oracle(const Problem& problem, const Axes& axes, const InputValues& inputs,
                              const ParallelFor& parallel) {
  const auto& spec = *problem.attention();
  const Shape shape{axes.at("Hq"), axes.at("Hkv"), axes.at("Sq"), axes.at("Skv"), axes.at("D"), axes.at("Dv")};
  const auto batches = axes.at("B");
  const auto blocks = (shape.queries + k_rows - 1) / k_rows;
  const auto captures = captures_among(problem, axes, inputs);
  const auto rows = static_cast<std::size_t>(batches * shape.query_heads * shape.queries);
  OutputValues outputs = {std::vector<double>(rows * static_cast<std::size_t>(shape.value_size), 0.0)};
  if (spec.lse) outputs.emplace_back(rows, 0.0);
  parallel(batches * shape.query_heads * blocks, [&](std::int64_t task) {
    const auto first_query = task % blocks * k_rows;
    const auto head = task / blocks % shape.query_heads;
    const auto batch = task / blocks / shape.query_heads;
    const auto query_slice = batch * shape.query_heads + head;
    const auto key_slice = batch * shape.key_heads + head / (shape.query_heads / shape.key_heads);
    const Inputs slices{inputs[0].data() + query_slice * shape.queries * shape.head_size,
                        inputs[1].data() + key_slice * shape.keys * shape.head_size,
                        inputs[2].data() + key_slice * shape.keys * shape.value_size};
    RowBlock block(spec, axes, captures, shape);
    block.run(slices, {batch, head, first_query}, std::min(k_rows, shape.queries - first_query),
              outputs[0].data() + query_slice * shape.queries * shape.value_size,
              spec.lse ? outputs[1].data() + query_slice * shape.queries : nullptr);
  });
  return outputs;
}

}  // namespace kw
