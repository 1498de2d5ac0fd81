#include "operators/program/kernels/row_element.hpp"

#include <algorithm>

#include "program/stages/access.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

/// The one axis of the row's columns, if it has one.
const StageAxis* column_of(const Stage& stage, std::size_t rows) {
  if (stage.kind == StageKind::reduce) return stage.inner.size() == 1 ? &stage.inner[0] : nullptr;
  return stage.kind == StageKind::map && stage.axes.size() == rows + 1 ? &stage.axes.back() : nullptr;
}

/// Which of the load's indices is the column's own, where no other one depends on it.
std::optional<std::size_t> index_of_column(const StageNode& load, const std::string& column) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < load.operands.size(); ++i) {
    const StageExpr& index = load.operands[i];
    if (!depends_on(index, column)) continue;
    if (found || index->op != StageOp::axis) return std::nullopt;
    found = i;
  }
  return found;
}

/// Whether both are elements of the same row of the same tensor.
bool are_of_one_row(const StageNode& a, const StageNode& b, std::size_t column) {
  if (a.tensor.buffer != b.tensor.buffer || a.operands.size() != b.operands.size()) return false;
  for (std::size_t i = 0; i < a.operands.size(); ++i) {
    if (i != column && !same_expression(a.operands[i], b.operands[i])) return false;
  }
  return true;
}

}  // namespace

std::vector<const StageNode*> loads_of_row_element(const Stage& stage, std::size_t rows, const RowElement& element) {
  std::vector<const StageNode*> found;
  const auto* column = column_of(stage, rows);
  if (column == nullptr || column->extent.text() != element.length.text()) return found;
  for_each_load(stage.body, [&](const StageNode& load) {
    const bool at_column = index_of_column(load, column->name) == element.column;
    if (at_column && are_of_one_row(load, *element.load, element.column)) found.push_back(&load);
  });
  return found;
}

std::optional<RowElement> common_row_element(const std::vector<const Stage*>& readings, std::size_t rows,
                                             const std::vector<KernelBuffer>& buffers,
                                             const std::function<bool(const RowElement&)>& is_worth) {
  for (auto reading = readings.begin(); reading != readings.end(); ++reading) {
    const Stage& first = **reading;
    const auto* column = column_of(first, rows);
    if (column == nullptr || first.kind != StageKind::reduce || !first.guards.empty()) continue;
    for (const auto* load : certain_loads(first.body)) {
      const auto index = index_of_column(*load, column->name);
      if (buffers[load->tensor.buffer].dtype != DType::f32 || !index) continue;
      const RowElement element{&first, load, *index, column->extent};
      const auto reads = [&](const Stage* later) { return !loads_of_row_element(*later, rows, element).empty(); };
      if (is_worth(element) && std::any_of(reading + 1, readings.end(), reads)) return element;
    }
  }
  return std::nullopt;
}

}  // namespace kw
