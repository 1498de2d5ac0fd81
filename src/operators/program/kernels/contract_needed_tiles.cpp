#include "operators/program/kernels/contract_needed_tiles.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/sum_algebra.hpp"

namespace kw {
namespace {

/// An element's sum is needed where `holds` is what `condition` gives.
struct Needed {
  StageExpr condition;
  bool holds = true;
};

/// Of the one select on the way from the result to the element, of which a branch does without it.
std::optional<Needed> needed_of(const StageExpr& node) {
  if (node->op == StageOp::select && !has_result(node->operands[0])) {
    const bool first = has_result(node->operands[1]), second = has_result(node->operands[2]);
    if (first != second) return Needed{node->operands[0], first};
  }
  const StageExpr* only = nullptr;
  for (const auto& operand : node->operands) {
    if (!has_result(operand)) continue;
    if (only != nullptr) return std::nullopt;
    only = &operand;
  }
  return only == nullptr ? std::nullopt : needed_of(*only);
}

/// The first row times 1, or the tile's last one times -1: what makes a sum least.
std::string least_text(const Extent& coefficient, const char* first, const char* count) {
  return coefficient.value() > 0 ? first : fmt::format("-({} + {} - 1)", first, count);
}

bool is_one(const Extent& coefficient) {
  return coefficient.is_constant() && (coefficient.value() == 1 || coefficient.value() == -1);
}

}  // namespace

std::string needed_tile_text(KernelScope& scope, const Contraction& contraction) {
  const auto& epilogue = contraction.split.stage.epilogue;
  if (!epilogue || contraction.rows.size() != 1 || contraction.columns.size() != 1) return "";
  const auto needed = needed_of(epilogue);
  if (!needed) return "";
  const auto& condition = needed->condition;
  const bool strict = condition->op == StageOp::less;
  if ((!strict && condition->op != StageOp::less_equal) || condition->operands[0]->type != StageType::integer)
    return "";
  // a < b or a <= b; the opposite is b <= a or b < a.
  auto less = affine_index(condition->operands[0], {}), more = affine_index(condition->operands[1], {});
  if (!less || !more) return "";
  if (!needed->holds) std::swap(less, more);
  const auto opposite = affine_times(*more, Extent(-1));
  const auto difference = opposite ? affine_sum(*less, *opposite) : std::nullopt;
  if (!difference || !difference->terms.empty() || difference->coefficients.size() != 2) return "";
  const auto row = difference->coefficients.find(contraction.rows[0].name);
  const auto column = difference->coefficients.find(contraction.columns[0].name);
  const auto none = difference->coefficients.end();
  if (row == none || column == none || !is_one(row->second) || !is_one(column->second)) return "";
  const auto constant = scope.extent(difference->constant);
  return fmt::format("{} + {}{} {} 0", least_text(row->second, "first_row", "TILE_M"),
                     least_text(column->second, "first_column", "TILE_N"), constant == "0" ? "" : " + " + constant,
                     strict == needed->holds ? "<" : "<=");
}

}  // namespace kw
