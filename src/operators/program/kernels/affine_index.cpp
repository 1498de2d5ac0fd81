#include "operators/program/kernels/affine_index.hpp"

#include <algorithm>

#include "program/stages/exact_extent.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

void collect_axes(const StageExpr& node, std::set<std::string>& axes) {
  if (!node) return;
  if (node->op == StageOp::axis) axes.insert(node->axis);
  for (const auto& operand : node->operands) collect_axes(operand, axes);
}

bool only_of(const StageExpr& expression, const std::set<std::string>& phases) {
  const auto named = axes_named(expression);
  return !named.empty() &&
         std::all_of(named.begin(), named.end(), [&](const std::string& axis) { return phases.count(axis) > 0; });
}

bool is_number(const AffineIndex& index) {
  return index.coefficients.empty() && index.terms.empty();
}

std::optional<AffineIndex> affine_product(const AffineIndex& a, const AffineIndex& b) {
  if (is_number(b)) return affine_times(a, b.constant);
  if (is_number(a)) return affine_times(b, a.constant);
  return std::nullopt;
}

std::optional<AffineIndex> affine_form(const StageExpr& node, const std::set<std::string>& phases) {
  AffineIndex index;
  switch (node->op) {
    case StageOp::integer:
      index.constant = node->integer;
      return index;
    case StageOp::axis:
      index.coefficients[node->axis] = 1;
      return index;
    case StageOp::add:
    case StageOp::subtract:
    case StageOp::multiply: {
      const auto a = affine_index(node->operands[0], phases);
      const auto b = affine_index(node->operands[1], phases);
      if (!a || !b) return std::nullopt;
      if (node->op == StageOp::multiply) return affine_product(*a, *b);
      const auto added = node->op == StageOp::add ? b : affine_times(*b, -1);
      if (!added) return std::nullopt;
      return affine_sum(*a, *added);
    }
    case StageOp::negate: {
      const auto a = affine_index(node->operands[0], phases);
      if (!a) return std::nullopt;
      return affine_times(*a, -1);
    }
    default:
      return std::nullopt;
  }
}

/// Of a term of one axis, by trying all of its indices.
std::optional<std::pair<std::int64_t, std::int64_t>> term_range(const StageExpr& term, const StageAxes& axes) {
  constexpr std::int64_t k_most_phases = 64;
  const auto named = axes_named(term);
  if (named.size() != 1) return std::nullopt;
  const auto axis =
      std::find_if(axes.begin(), axes.end(), [&](const StageAxis& one) { return one.name == *named.begin(); });
  if (axis == axes.end() || !axis->extent.is_constant() || axis->extent.value() > k_most_phases) return std::nullopt;
  std::optional<std::pair<std::int64_t, std::int64_t>> range;
  for (std::int64_t i = 0; i < axis->extent.value(); ++i) {
    const auto value = value_at(term, {{axis->name, i}});
    if (!value) return std::nullopt;
    range =
        range ? std::pair(std::min(range->first, *value), std::max(range->second, *value)) : std::pair(*value, *value);
  }
  return range;
}

/// Whether the extent is at least 0 whatever the axes are.
bool surely_not_negative(const Extent& extent) {
  return extent.value() >= 0 && (extent.is_constant() || extent.text().find('-') == std::string::npos);
}

}  // namespace

std::optional<std::int64_t> value_at(const StageExpr& node, const std::map<std::string, std::int64_t>& indices) {
  if (node->op == StageOp::integer && node->integer.is_constant()) return node->integer.value();
  if (node->op == StageOp::axis) {
    const auto found = indices.find(node->axis);
    return found == indices.end() ? std::nullopt : std::optional(found->second);
  }
  if (node->operands.size() != 2) return std::nullopt;
  const auto a = value_at(node->operands[0], indices);
  const auto b = value_at(node->operands[1], indices);
  if (!a || !b) return std::nullopt;
  switch (node->op) {
    case StageOp::add:
      return *a + *b;
    case StageOp::subtract:
      return *a - *b;
    case StageOp::multiply:
      return *a * *b;
    case StageOp::floor_divide:
    case StageOp::floor_modulo: {
      if (*b <= 0) return std::nullopt;
      const auto rest = (*a % *b + *b) % *b;
      return node->op == StageOp::floor_modulo ? rest : (*a - rest) / *b;
    }
    default:
      return std::nullopt;
  }
}

bool has_extents(const StageAxes& axes) {
  std::optional<Extent> product = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend() && product; ++axis) {
    product = exact_product(*product, axis->extent);
  }
  return product.has_value();
}

Extent extent_of(const StageAxes& axes) {
  const auto product = exact_product(extents_of(axes));
  KW_CHECK(product.has_value(), "the product of {} extents cannot be expressed", axes.size());
  return *product;
}

std::set<std::string> axes_named(const StageExpr& expression) {
  std::set<std::string> axes;
  collect_axes(expression, axes);
  return axes;
}

std::optional<AffineIndex> affine_index(const StageExpr& expression, const std::set<std::string>& phases) {
  if (auto form = affine_form(expression, phases)) return form;
  if (!only_of(expression, phases)) return std::nullopt;
  AffineIndex index;
  index.terms = {expression};
  return index;
}

std::optional<AffineIndex> affine_sum(const AffineIndex& a, const AffineIndex& b) {
  AffineIndex sum = a;
  const auto constant = exact_sum(a.constant, b.constant);
  if (!constant) return std::nullopt;
  sum.constant = *constant;
  for (const auto& [axis, coefficient] : b.coefficients) {
    const auto added = exact_sum(sum.coefficients[axis], coefficient);
    if (!added) return std::nullopt;
    sum.coefficients[axis] = *added;
    if (added->is_constant() && added->value() == 0) sum.coefficients.erase(axis);
  }
  sum.terms.insert(sum.terms.end(), b.terms.begin(), b.terms.end());
  return sum;
}

std::optional<AffineIndex> affine_times(const AffineIndex& a, const Extent& factor) {
  AffineIndex product;
  const auto constant = exact_product(a.constant, factor);
  if (!constant) return std::nullopt;
  product.constant = *constant;
  if (factor.is_constant() && factor.value() == 0) return product;
  for (const auto& [axis, coefficient] : a.coefficients) {
    const auto scaled = exact_product(coefficient, factor);
    if (!scaled) return std::nullopt;
    product.coefficients[axis] = *scaled;
  }
  for (const auto& term : a.terms) product.terms.push_back(term * StageExpr(factor));
  return product;
}

bool same_affine(const AffineIndex& a, const AffineIndex& b) {
  const auto same_coefficient = [](const auto& one, const auto& other) {
    return one.first == other.first && one.second.text() == other.second.text();
  };
  return a.constant.text() == b.constant.text() &&
         std::equal(a.coefficients.begin(), a.coefficients.end(), b.coefficients.begin(), b.coefficients.end(),
                    same_coefficient) &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(), same_expression);
}

std::optional<Extent> stride_along(const AffineIndex& address, const StageAxes& axes) {
  std::optional<Extent> stride, expected;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto found = address.coefficients.find(axes[i].name);
    if (found == address.coefficients.end()) return std::nullopt;
    if (!stride) stride = expected = found->second;
    if (found->second != *expected || found->second.text() != expected->text()) return std::nullopt;
    if (i == 0) break;
    expected = exact_product(*expected, axes[i].extent);
    if (!expected) return std::nullopt;
  }
  return stride;
}

bool is_one_run(const AffineIndex& address, const StageAxes& axes) {
  const auto stride = stride_along(address, axes);
  return stride && stride->is_constant() && stride->value() == 1;
}

std::optional<ExtentRange> range_of(const AffineIndex& index, const StageAxes& axes) {
  ExtentRange range{index.constant, index.constant};
  const auto grow = [](Extent& end, const Extent& by) {
    const auto grown = exact_sum(end, by);
    if (grown) end = *grown;
    return grown.has_value();
  };
  for (const auto& axis : axes) {
    const auto found = index.coefficients.find(axis.name);
    if (found == index.coefficients.end()) continue;
    const auto last = exact_difference(axis.extent, 1);
    const auto reach = last ? exact_product(found->second, *last) : std::nullopt;
    const bool upwards = surely_not_negative(found->second);
    if (!reach || (!upwards && !found->second.is_constant())) return std::nullopt;
    if (!grow(upwards ? range.largest : range.least, *reach)) return std::nullopt;
  }
  for (const auto& term : index.terms) {
    const auto of_term = term_range(term, axes);
    if (!of_term || !grow(range.least, of_term->first) || !grow(range.largest, of_term->second)) return std::nullopt;
  }
  return range;
}

}  // namespace kw
