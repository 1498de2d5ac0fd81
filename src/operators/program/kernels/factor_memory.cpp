#include "operators/program/kernels/factor_memory.hpp"

#include <algorithm>

#include "program/stages/exact_extent.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// The load of the factor that has the most elements.
const StageNode* largest_load(const StageExpr& element) {
  const StageNode* largest = nullptr;
  const auto count = [](const StageNode& load) {
    double elements = 1.0;
    for (const auto& extent : load.tensor.type.shape) elements *= static_cast<double>(extent.value());
    return elements;
  };
  for_each_load(element, [&](const StageNode& load) {
    if (largest == nullptr || count(load) > count(*largest)) largest = &load;
  });
  return largest;
}

std::optional<std::vector<AffineIndex>> affine_indices(const StageNode& load, const std::set<std::string>& phases) {
  std::vector<AffineIndex> indices;
  for (const auto& operand : load.operands) {
    auto index = affine_index(operand, phases);
    if (!index) return std::nullopt;
    indices.push_back(*std::move(index));
  }
  return indices;
}

/// What an index of the tensor is called in the copy, which begins at the least of them.
struct CopiedIndex {
  AffineIndex index;
  StageExpr place;
};

StageExpr with_copied_indices(const StageExpr& node, const std::vector<CopiedIndex>& indices,
                              const std::set<std::string>& phases) {
  if (node->type == StageType::integer && node->op != StageOp::integer) {
    if (const auto form = affine_index(node, phases)) {
      for (const auto& one : indices) {
        if (same_affine(one.index, *form)) return one.place;
      }
    }
  }
  if (node->operands.empty()) return node;
  StageNode changed = *node;
  for (auto& operand : changed.operands) operand = with_copied_indices(operand, indices, phases);
  return StageExpr(std::move(changed));
}

bool names_only(const StageExpr& expression, const StageAxes& axes) {
  const auto named = axes_named(expression);
  return std::all_of(named.begin(), named.end(), [&](const std::string& name) {
    return std::any_of(axes.begin(), axes.end(), [&](const StageAxis& axis) { return axis.name == name; });
  });
}

StageAxes all_axes(const Contraction& contraction) {
  StageAxes axes = contraction.split.stage.axes;
  axes.insert(axes.end(), contraction.inner.begin(), contraction.inner.end());
  return axes;
}

/// A copy whose elements lie at `places` of `shape`.
std::optional<FactorMemory> addressed(FactorCopy copy, const std::vector<AffineIndex>& places, const Shape& shape) {
  auto address = dense_address(places, shape);
  if (!address || !has_extents({copy.axes.begin(), copy.axes.end() - 1})) return std::nullopt;
  return FactorMemory{std::move(copy), 0, *std::move(address)};
}

/// A copy of the part of the tensor that is read, with what lies around it as zeros.
std::optional<FactorMemory> window_copy(const Contraction& contraction, const ContractionFactor& factor) {
  const auto& phases = contraction.split.phases;
  const auto* load = largest_load(factor.element);
  const auto indices = affine_indices(*load, phases);
  if (!indices) return std::nullopt;
  FactorCopy copy;
  std::vector<CopiedIndex> copied;
  std::vector<AffineIndex> places;
  Shape shape;
  for (std::size_t i = 0; i < indices->size(); ++i) {
    const auto& index = (*indices)[i];
    const auto range = range_of(index, all_axes(contraction));
    if (!range) return std::nullopt;
    const auto last = exact_difference(range->largest, range->least);
    const auto extent = last ? exact_sum(*last, 1) : std::nullopt;
    const auto start = exact_difference(0, range->least);
    if (!extent || !start) return std::nullopt;
    copy.axes.push_back({fmt::format("in_{}", i), *extent});
    shape.push_back(copy.axes.back().extent);
    const auto place = axis_index(copy.axes.back().name) + StageExpr(range->least);
    if (!index.coefficients.empty() || !index.terms.empty()) copied.push_back({index, place});
    AffineIndex first;
    first.constant = *start;
    auto from_start = affine_sum(index, first);
    if (!from_start) return std::nullopt;
    places.push_back(*std::move(from_start));
  }
  copy.element = with_copied_indices(factor.element, copied, phases);
  if (!names_only(copy.element, copy.axes)) return std::nullopt;
  for (const auto& guard : factor.guards) {
    copy.guards.push_back(with_copied_indices(guard, copied, phases));
    if (!names_only(copy.guards.back(), copy.axes)) return std::nullopt;
  }
  return addressed(std::move(copy), places, shape);
}

/// Every element that the products read, once for each of its rows and steps.
std::optional<FactorMemory> whole_copy(const Contraction& contraction, const ContractionFactor& factor) {
  FactorCopy copy;
  copy.element = factor.element;
  copy.guards = factor.guards;
  std::vector<AffineIndex> places;
  Shape shape;
  for (const auto& axis : all_axes(contraction)) {
    const bool guarded = std::any_of(factor.guards.begin(), factor.guards.end(),
                                     [&](const StageExpr& guard) { return axes_named(guard).count(axis.name) > 0; });
    if (factor.axes.count(axis.name) == 0 && !guarded) continue;
    copy.axes.push_back(axis);
    shape.push_back(axis.extent);
    AffineIndex place;
    place.coefficients[axis.name] = 1;
    places.push_back(std::move(place));
  }
  return addressed(std::move(copy), places, shape);
}

}  // namespace

std::optional<AffineIndex> dense_address(const std::vector<AffineIndex>& indices, const Shape& shape) {
  std::optional<AffineIndex> address = AffineIndex();
  for (std::size_t i = 0; i < indices.size() && address; ++i) {
    const auto outer = affine_times(*address, shape[i]);
    address = outer ? affine_sum(*outer, indices[i]) : std::nullopt;
  }
  return address;
}

std::optional<AffineIndex> load_address(const StageNode& load, const std::set<std::string>& phases) {
  const auto indices = affine_indices(load, phases);
  return indices ? dense_address(*indices, load.tensor.type.shape) : std::nullopt;
}

std::optional<FactorMemory> factor_memory(const Contraction& contraction, const ContractionFactor& factor,
                                          const std::vector<KernelBuffer>& buffers) {
  const auto& element = factor.element;
  if (element->op == StageOp::load && factor.guards.empty() && buffers[element->tensor.buffer].dtype == DType::f32) {
    if (auto address = load_address(*element, contraction.split.phases)) {
      return FactorMemory{std::nullopt, element->tensor.buffer, *std::move(address)};
    }
  }
  constexpr double k_most_growth = 4.0;
  const auto* load = largest_load(element);
  double read = 1.0;
  for (const auto& extent : load->tensor.type.shape) read *= static_cast<double>(extent.value());
  auto whole = whole_copy(contraction, factor);
  auto window = window_copy(contraction, factor);
  const double in_whole = whole ? count_of(whole->copy->axes) : 0.0;
  if (window && count_of(window->copy->axes) <= k_most_growth * std::max(read, in_whole)) return window;
  if (whole && in_whole <= k_most_growth * read) return whole;
  return std::nullopt;
}

}  // namespace kw
