#include "program/stages/split.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/stages/exact_extent.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

std::string free_axis_name(const Stage& stage, std::string name) {
  const auto taken = [&](const StageAxes& axes) {
    return std::any_of(axes.begin(), axes.end(), [&](const StageAxis& axis) { return axis.name == name; });
  };
  while (taken(stage.axes) || taken(stage.inner)) name += "_";
  return name;
}

/// The parts of inner[0]: as many as there are elements, or `parts` of equal length, the last ones shorter or empty.
/// Leaves the stage as it is where that length cannot be expressed.
void split_outermost(Stage& part, std::int64_t parts) {
  auto& outermost = part.inner[0];
  if (outermost.extent.value() <= parts && part.inner.size() > 1) {
    part.axes.push_back(outermost);
    part.inner.erase(part.inner.begin());
    return;
  }
  const StageAxis whole = outermost;
  const auto length = exact_quotient_up(whole.extent, parts);
  if (!length) return;
  const StageAxis which{free_axis_name(part, "part"), Extent(parts)};
  outermost.extent = *length;
  const auto index = axis_index(which.name) * StageExpr(outermost.extent) + axis_index(whole.name);
  const AxisValues values{{whole.name, index}};
  for (auto& guard : part.guards) guard = with_axes(guard, values);
  part.body = with_axes(part.body, values);
  const bool exact = whole.extent.is_constant() && whole.extent.value() % parts == 0;
  if (!exact) part.guards.insert(part.guards.begin(), index < StageExpr(whole.extent));
  part.axes.push_back(which);
}

ElementType stored_type(StageType type) {
  if (type == StageType::real) return ElementType::float32;
  return type == StageType::integer ? ElementType::int64 : ElementType::boolean;
}

}  // namespace

bool can_split(const Stage& stage) {
  return stage.kind == StageKind::reduce && !stage.position && !stage.inner.empty();
}

std::int64_t split_reduction(StageProgram& program, std::size_t index, std::int64_t parts) {
  Stage whole = program.stages[index];
  if (!can_split(whole)) return 1;
  Stage part = whole;
  part.epilogue = {};
  const auto outer = part.axes.size();
  // A short axis is a part each; what is missing to the number of parts comes from the next one.
  std::int64_t made = 1;
  while (made < parts && !part.inner.empty()) {
    const auto before = part.axes.size();
    const auto missing = std::max<std::int64_t>((parts + made - 1) / made, 2);
    if (part.inner[0].extent.value() < 2) break;
    const bool last = part.inner.size() == 1;
    if (last && part.inner[0].extent.value() < missing) break;
    split_outermost(part, missing);
    if (part.axes.size() == before) break;
    made *= part.axes.back().extent.value();
    if (last) break;
  }
  if (made == 1) return 1;
  StageBuffer buffer;
  buffer.name = program.buffers[whole.buffer].name + "_parts";
  for (const auto& axis : part.axes) buffer.type.shape.push_back(axis.extent);
  buffer.type.dtype = stored_type(result_type_of(part));
  part.buffer = program.buffers.size();
  StageIndices indices;
  for (const auto& axis : part.axes) indices.push_back(axis_index(axis.name));
  whole.inner.assign(part.axes.begin() + static_cast<std::ptrdiff_t>(outer), part.axes.end());
  whole.guards.clear();
  whole.body = load(TensorView{part.buffer, buffer.type}, indices);
  program.buffers.push_back(std::move(buffer));
  program.stages[index] = std::move(whole);
  program.stages.insert(program.stages.begin() + static_cast<std::ptrdiff_t>(index), std::move(part));
  return made;
}

}  // namespace kw
