#include "verify/fresh_data.hpp"

#include <algorithm>

namespace kw {
namespace {

/// Where a row's elements go, and with which sign.
class Turn {
 public:
  Turn(std::int64_t length, Rng& rng) : shift_(static_cast<std::size_t>(rng.below(length))) {
    for (std::int64_t i = 0; i < length; ++i) signs_.push_back(rng.below(2) == 0 ? 1.0F : -1.0F);
  }

  /// Turns `rows` rows, starting with row `first`.
  template <typename Number>
  void apply(std::vector<Number>& tensor, std::int64_t first, std::int64_t rows) const {
    const std::size_t length = signs_.size();
    std::vector<Number> turned(length);
    for (std::int64_t row = first; row < first + rows; ++row) {
      const auto begin = tensor.begin() + row * static_cast<std::int64_t>(length);
      for (std::size_t i = 0; i < length; ++i)
        turned[i] = static_cast<Number>(signs_[i]) * *(begin + static_cast<std::int64_t>(i));
      std::rotate_copy(turned.begin(), turned.begin() + static_cast<std::int64_t>(shift_), turned.end(), begin);
    }
  }

 private:
  std::size_t shift_;
  std::vector<float> signs_;
};

/// Attention: Q and K turned alike have the same dot products, and what is done to columns of V is done to those of O.
void turn_attention(const Axes& axes, CheckCase& one, Rng& rng) {
  const std::int64_t key_heads = axes.at("Hkv");
  const std::int64_t sharing = axes.at("Hq") / key_heads;
  const std::int64_t query_rows = sharing * axes.at("Sq");  // of all query heads that share a key head
  const std::int64_t key_rows = axes.at("Skv");
  for (std::int64_t slice = 0; slice < axes.at("B") * key_heads; ++slice) {
    const Turn products(axes.at("D"), rng);
    products.apply(one.inputs[0], slice * query_rows, query_rows);
    products.apply(one.inputs[1], slice * key_rows, key_rows);
    const Turn values(axes.at("Dv"), rng);
    values.apply(one.inputs[2], slice * key_rows, key_rows);
    values.apply(one.expected[0], slice * query_rows, query_rows);
  }
}

}  // namespace

CheckCase with_fresh_data(const Problem& problem, const CheckCase& one, Rng& rng) {
  CheckCase fresh = one;
  if (problem.attention() != nullptr) turn_attention(problem.workloads[one.workload].axes, fresh, rng);
  return fresh;
}

}  // namespace kw
