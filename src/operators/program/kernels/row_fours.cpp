#include "operators/program/kernels/row_fours.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "operators/program/kernels/affine_index.hpp"
#include "program/stages/access.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

/// What has to hold of the kernel's parameters.
struct Conditions {
  std::vector<Extent> multiples;  ///< of four
  std::set<std::size_t> buffers;  ///< that begin at a multiple of sixteen bytes

  /// False where four never divides the extent.
  bool add_multiple(const Extent& extent) {
    if (extent.is_constant()) return extent.value() % 4 == 0;
    const auto same = [&](const Extent& one) { return one.text() == extent.text(); };
    if (std::none_of(multiples.begin(), multiples.end(), same)) multiples.push_back(extent);
    return true;
  }

  /// Whether the index is a multiple of four where the column's is, and goes with it one by one.
  bool add_run(const StageExpr& expression, const std::string& column) {
    const auto index = affine_index(expression, {});
    if (!index || !index->terms.empty() || !add_multiple(index->constant)) return false;
    const auto own = index->coefficients.find(column);
    if (own == index->coefficients.end() || own->second.text() != "1") return false;
    return std::all_of(index->coefficients.begin(), index->coefficients.end(),
                       [&](const auto& one) { return one.first == column || add_multiple(one.second); });
  }

  [[nodiscard]] bool hold_as_read() const {
    return std::all_of(multiples.begin(), multiples.end(), [](const Extent& one) { return one.value() % 4 == 0; });
  }

  [[nodiscard]] std::vector<std::string> texts(KernelScope& scope) const {
    std::vector<std::string> conditions;
    for (const auto& one : multiples) conditions.push_back(scope.extent(one) + " % 4 == 0");
    std::vector<std::string> addresses;
    for (const auto buffer : buffers) addresses.push_back("(unsigned long)" + scope.buffer(buffer).name);
    conditions.push_back(fmt::format("({}) % 16 == 0", fmt::join(addresses, " | ")));
    return conditions;
  }
};

/// Whether it is known under which conditions neighbours lie in sixteen bytes; `conditions` are then those as well.
bool add_place(const StageNode& load, const std::string& column, const KernelScope& scope, Conditions& conditions) {
  if (scope.buffer(load.tensor.buffer).dtype != DType::f32 || !is_contiguous(load, column)) return false;
  auto tried = conditions;
  if (!tried.add_run(load.operands.back(), column)) return false;
  // Also of a vector: the four of its last element is not to reach beyond it.
  if (!tried.add_multiple(load.tensor.type.shape.back())) return false;
  tried.buffers.insert(load.tensor.buffer);
  conditions = std::move(tried);
  return true;
}

/// Whether the guard is one for four neighbours: part * length + column < extent is, where four divides both.
bool add_guard(const StageExpr& guard, const std::string& column, Conditions& conditions) {
  if (!depends_on(guard, column)) return true;
  const auto& operands = guard->operands;
  if (guard->op == StageOp::both) {
    return std::all_of(operands.begin(), operands.end(),
                       [&](const StageExpr& one) { return add_guard(one, column, conditions); });
  }
  const bool below = guard->op == StageOp::less;  // index < bound
  if (!below && guard->op != StageOp::less_equal) return false;
  const auto& bound = operands[below ? 1 : 0];
  return bound->op == StageOp::integer && conditions.add_multiple(bound->integer) &&
         conditions.add_run(operands[below ? 0 : 1], column);
}

}  // namespace

std::optional<RowFours> row_fours(const Stage& stage, const std::string& column, const Extent& length,
                                  const StageNode* stored, KernelScope& scope) {
  Conditions conditions;
  if (!conditions.add_multiple(length)) return std::nullopt;
  for (const auto& guard : stage.guards) {
    if (!add_guard(guard, column, conditions)) return std::nullopt;
  }
  if (stored != nullptr && !add_place(*stored, column, scope, conditions)) return std::nullopt;
  RowFours fours;
  for (const auto* load : certain_loads(stage.body)) {
    if (add_place(*load, column, scope, conditions)) fours.loads.push_back(load);
  }
  if (fours.loads.empty()) return std::nullopt;
  fours.conditions = conditions.texts(scope);
  fours.hold_as_read = conditions.hold_as_read();
  return fours;
}

std::optional<std::vector<std::string>> stored_fours(const StageNode& stored, const std::string& column,
                                                     const Extent& length, KernelScope& scope) {
  Conditions conditions;
  if (!conditions.add_multiple(length) || !add_place(stored, column, scope, conditions)) return std::nullopt;
  return conditions.texts(scope);
}

FourReads four_reads(const RowFours& fours, const std::string& place, KernelScope& scope, const ReadFour& read) {
  FourReads reads;
  for (const auto* load : fours.loads) {
    const auto four = scope.new_name(fmt::format("four_{}", reads.elements.size()));
    const auto element = scope.new_name(fmt::format("element_{}", reads.elements.size()));
    auto lines = read ? read(*load, four) : std::vector<std::string>();
    if (lines.empty()) {
      lines.push_back(fmt::format("const float4 {} = *(const float4*)({} + {});", four,
                                  scope.buffer(load->tensor.buffer).name, scope.place_text(*load)));
    }
    reads.loads.insert(reads.loads.end(), lines.begin(), lines.end());
    reads.elements.push_back(fmt::format(
        "const float {0} = {2} == 0 ? {1}.x : {2} == 1 ? {1}.y : {2} == 2 ? {1}.z : {1}.w;", element, four, place));
    scope.call_value(load, element);
  }
  return reads;
}

}  // namespace kw
