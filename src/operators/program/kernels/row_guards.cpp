#include "operators/program/kernels/row_guards.hpp"

#include <algorithm>

#include "operators/program/kernels/affine_index.hpp"
#include "program/stages/access.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

/// How long the column is where it and what no other column changes are less than an extent; absent for other guards.
StageExpr length_within(const StageExpr& guard, const StageAxes& columns) {
  if (guard->op != StageOp::less || guard->operands[0]->type != StageType::integer) return {};
  const auto& index = guard->operands[0];
  const auto& column = columns[0].name;
  const auto form = affine_index(index, {});
  const auto own = form ? form->coefficients.find(column) : std::map<std::string, Extent>::const_iterator();
  if (!form || own == form->coefficients.end() || own->second.text() != "1") return {};
  const auto other = [&](const StageAxis& axis) { return axis.name != column && depends_on(guard, axis.name); };
  if (depends_on(guard->operands[1], column) || std::any_of(columns.begin(), columns.end(), other)) return {};
  return guard->operands[1] - with_axes(index, {{column, StageExpr(0)}});
}

}  // namespace

RowGuards row_guards(const Stage& reduction) {
  RowGuards found;
  for (const auto& guard : reduction.guards) {
    const auto length = reduction.inner.empty() ? StageExpr() : length_within(guard, reduction.inner);
    if (!length) {
      found.others = both(found.others, guard);
      continue;
    }
    found.length = minimum(found.length ? found.length : StageExpr(reduction.inner[0].extent), length);
  }
  if (found.length) found.length = maximum(found.length, 0);
  return found;
}

}  // namespace kw
