#include "operators/program/oracle/distances.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/special_functions.hpp"

namespace kw::program_oracle {

VectorPairs::VectorPairs(const Operand& first, const Operand& second, const Extents& common, std::size_t axis)
    : first_(first, common), second_(second, common), space_(split_space(common, {axis})) {}

double VectorPairs::distance(std::int64_t pair, double order, double eps) const {
  const auto start = space_.kept(pair);
  double total = 0.0;
  for (std::int64_t i = 0; i < space_.walked.count(); ++i) {
    const auto at = start + space_.walked(i);
    const double apart = std::fabs(first_[at] - second_[at] + eps);
    total = std::isinf(order) ? larger_of(total, apart) : total + std::pow(apart, order);
  }
  return std::isinf(order) ? total : std::pow(total, 1.0 / order);
}

VectorPairs::Products VectorPairs::products(std::int64_t pair) const {
  const auto start = space_.kept(pair);
  Products sums;
  for (std::int64_t i = 0; i < space_.walked.count(); ++i) {
    const auto at = start + space_.walked(i);
    sums.both += first_[at] * second_[at];
    sums.first += first_[at] * first_[at];
    sums.second += second_[at] * second_[at];
  }
  return sums;
}

Extents common_extents(const Extents& a, const Extents& b) {
  Extents common = a.size() >= b.size() ? a : b;
  const auto& shorter = a.size() >= b.size() ? b : a;
  const auto offset = common.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    if (common[i + offset] == 1) common[i + offset] = shorter[i];
  }
  return common;
}

namespace {

/// Each of the two norms is at least eps.
Result<Answer> cosine_similarity(const OracleCall& call) {
  const auto first = call.tensor("x1");
  const auto second = call.tensor("x2");
  const auto common = common_extents(first.extents(), second.extents());
  const double eps = call.number("eps");
  return each_element(
      [pairs = VectorPairs(first, second, common, call.axis("dim", common.size())), eps](std::int64_t i) {
        const auto products = pairs.products(i);
        return products.both / (larger_of(std::sqrt(products.first), eps) * larger_of(std::sqrt(products.second), eps));
      });
}

Result<Answer> pairwise_distance(const OracleCall& call) {
  const auto first = call.tensor("x1");
  const auto second = call.tensor("x2");
  const auto common = common_extents(first.extents(), second.extents());
  return each_element([pairs = VectorPairs(first, second, common, common.size() - 1), order = call.number("p"),
                       eps = call.number("eps")](std::int64_t i) { return pairs.distance(i, order, eps); });
}

constexpr std::array k_distance_answers = {
    OracleRow{"cosine_similarity", cosine_similarity},
    OracleRow{"pairwise_distance", pairwise_distance},
};

}  // namespace

std::span<const OracleRow> distance_answers() {
  return k_distance_answers;
}

}  // namespace kw::program_oracle
