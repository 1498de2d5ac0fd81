// F.scaled_dot_product_attention. A query that sees no key has the answer 0, as PyTorch has had it since 2.5.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "operators/program/oracle/answers.hpp"

namespace kw::program_oracle {
namespace {

struct AttentionShape {
  std::int64_t queries = 1;
  std::int64_t keys = 1;
  std::int64_t size = 1;        ///< of a query and a key
  std::int64_t value_size = 1;  ///< of a value and the result
};

class Attention {
 public:
  explicit Attention(const OracleCall& call)
      : query_(call.tensor("query")), key_(call.tensor("key")), value_(call.tensor("value")) {
    const auto rank = query_.rank();
    shape_ = {query_.extent(rank - 2), key_.extent(rank - 2), query_.extent(rank - 1), value_.extent(rank - 1)};
    auto heads = call.output_extents();
    heads.resize(rank - 2);
    query_head_ = StridedMap(heads, broadcast_strides(outer(query_), heads));
    grouped_ = call.truth("enable_gqa");
    key_head_ = shared_heads(key_, heads);
    value_head_ = shared_heads(value_, heads);
    scale_ = call.number_or("scale", 1.0 / std::sqrt(static_cast<double>(shape_.size)));
    causal_ = call.truth("is_causal");
    if (const auto mask = call.optional_tensor("attn_mask")) {
      boolean_mask_ = mask->dtype() == ElementType::boolean;
      auto scores = heads;
      scores.insert(scores.end(), {shape_.queries, shape_.keys});
      mask_ = Broadcast(*mask, scores);
    }
  }

  /// One row of the result: all of it, for a part takes the weights of all keys too.
  void fill(std::int64_t row, std::span<double> into) const {
    const auto head = row / shape_.queries;
    const auto scores = weights(row);
    const auto values = value_head_(head) * shape_.keys * shape_.value_size;
    std::ranges::fill(into, 0.0);
    for (std::int64_t k = 0; k < shape_.keys; ++k) {
      const double weight = scores[static_cast<std::size_t>(k)];
      if (weight != 0.0) add_scaled(into, weight, value_, values + k * shape_.value_size, 1);
    }
  }

 private:
  static Extents outer(const Operand& operand) { return {operand.extents().begin(), operand.extents().end() - 2}; }

  /// From a head of the result to one of keys or values; with grouped queries several neighbours share one.
  [[nodiscard]] StridedMap shared_heads(const Operand& operand, const Extents& heads) const {
    const auto own = outer(operand);
    if (!grouped_ || own.empty()) return {heads, broadcast_strides(own, heads)};
    // The last axis as [own heads, queries that share one].
    auto extents = heads;
    extents.back() = own.back();
    extents.push_back(heads.back() / own.back());
    auto strides = broadcast_strides(own, Extents(extents.begin(), extents.end() - 1));
    strides.push_back(0);
    return {extents, strides};
  }

  /// The softmax of a query's scores.
  [[nodiscard]] std::vector<double> weights(std::int64_t row) const {
    constexpr double k_hidden = -std::numeric_limits<double>::infinity();
    const auto head = row / shape_.queries;
    const auto query = (query_head_(head) * shape_.queries + row % shape_.queries) * shape_.size;
    const auto keys = key_head_(head) * shape_.keys * shape_.size;
    std::vector<double> own(static_cast<std::size_t>(shape_.size));
    for (std::int64_t e = 0; e < shape_.size; ++e) own[static_cast<std::size_t>(e)] = query_[query + e];
    std::vector<double> scores(static_cast<std::size_t>(shape_.keys));
    multiply_columns(scores, own, key_, keys, shape_.size);
    double largest = k_hidden;
    for (std::int64_t k = 0; k < shape_.keys; ++k) {
      double& score = scores[static_cast<std::size_t>(k)];
      score *= scale_;
      if (causal_ && k > row % shape_.queries) score = k_hidden;
      if (mask_) {
        const double mask = (*mask_)[row * shape_.keys + k];
        score = !boolean_mask_ ? score + mask : mask != 0.0 ? score : k_hidden;
      }
      largest = std::isnan(score) || score > largest ? score : largest;
    }
    double total = 0.0;
    for (auto& score : scores) {
      score = largest == k_hidden ? 0.0 : std::exp(score - largest);
      total += score;
    }
    for (auto& score : scores) score = total == 0.0 ? 0.0 : score / total;
    return scores;
  }

  Operand query_;
  Operand key_;
  Operand value_;
  AttentionShape shape_;
  StridedMap query_head_;
  StridedMap key_head_;
  StridedMap value_head_;
  double scale_ = 1.0;
  bool grouped_ = false;
  bool causal_ = false;
  bool boolean_mask_ = false;
  std::optional<Broadcast> mask_;
};

Result<Answer> attention(const OracleCall& call) {
  const auto attention = std::make_shared<const Attention>(call);
  const auto extents = call.output_extents();
  return ByLine{
      Lines(extents, extents.size() - 1),
      [attention](std::int64_t row, std::span<std::vector<double>> outputs) { attention->fill(row, outputs.front()); }};
}

constexpr std::array k_attention_answers = {OracleRow{"scaled_dot_product_attention", attention}};

}  // namespace

std::span<const OracleRow> attention_answers() {
  return k_attention_answers;
}

}  // namespace kw::program_oracle
