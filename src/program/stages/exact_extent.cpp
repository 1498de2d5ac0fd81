#include "program/stages/exact_extent.hpp"

namespace kw {
namespace {

bool both_constant(const Extent& a, const Extent& b) {
  return a.is_constant() && b.is_constant();
}

bool is_zero_extent(const Extent& extent) {
  return extent.is_constant() && extent.value() == 0;
}

std::optional<Extent> unless(bool given_up, const Extent& result) {
  return given_up ? std::nullopt : std::optional(result);
}

}  // namespace

std::optional<Extent> exact_sum(const Extent& a, const Extent& b) {
  const auto sum = Extent::sum(a, b);
  if (!sum) return std::nullopt;
  if (!sum->is_constant() || both_constant(a, b)) return *sum;
  // A constant of parts that vary: they cancel, or the sum was given up.
  const auto rest = Extent::difference(*sum, b);
  return unless(!rest || rest->text() != a.text(), *sum);
}

std::optional<Extent> exact_difference(const Extent& a, const Extent& b) {
  const auto negative = exact_product(b, -1);
  return negative ? exact_sum(a, *negative) : std::nullopt;
}

std::optional<Extent> exact_product(const Extent& a, const Extent& b) {
  const auto product = Extent::product(a, b);
  if (!product) return std::nullopt;
  const bool expected = both_constant(a, b) || is_zero_extent(a) || is_zero_extent(b);
  return unless(product->is_constant() && !expected, *product);
}

std::optional<Extent> exact_product(const Shape& extents) {
  std::optional<Extent> product = 1;
  for (const auto& extent : extents) {
    product = exact_product(*product, extent);
    if (!product) break;
  }
  return product;
}

std::optional<Extent> exact_quotient(const Extent& a, const Extent& b) {
  const auto quotient = Extent::quotient(a, b);
  if (!quotient) return std::nullopt;
  if (!quotient->is_constant() || both_constant(a, b)) return *quotient;
  const auto whole = exact_product(*quotient, b);
  return unless(!whole || whole->text() != a.text(), *quotient);
}

std::optional<Extent> exact_remainder(const Extent& a, const Extent& b) {
  const auto remainder = Extent::remainder(a, b);
  if (!remainder) return std::nullopt;
  return unless(remainder->is_constant() && !both_constant(a, b) && !is_zero_extent(a), *remainder);
}

std::optional<Extent> exact_quotient_up(const Extent& a, std::int64_t by) {
  const auto raised = exact_sum(a, by - 1);
  return raised ? exact_quotient(*raised, by) : std::nullopt;
}

}  // namespace kw
