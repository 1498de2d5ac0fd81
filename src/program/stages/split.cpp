#include "program/stages/split.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/stages/access.hpp"
#include "program/stages/decomposition.hpp"
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

/// Of neighbouring elements, long parts begin at multiples of four: kernels read four at once.
std::optional<Extent> length_of_part(const Extent& whole, std::int64_t parts, bool neighbours) {
  constexpr std::int64_t k_long = 256;
  if (!neighbours || whole.value() / parts < k_long) return exact_quotient_up(whole, parts);
  const auto fours = exact_quotient_up(whole, 4 * parts);
  return fours ? exact_product(*fours, 4) : std::nullopt;
}

/// The parts of inner[0]: as many as there are elements, or `parts` of equal length, the last ones shorter or empty.
/// Leaves the stage as it is where that length cannot be expressed. `cut` is how many elements along the axis a part of
/// it has, where it was cut.
void split_outermost(Stage& part, std::int64_t parts, StageExpr& cut) {
  auto& outermost = part.inner[0];
  if (outermost.extent.value() <= parts && part.inner.size() > 1) {
    part.axes.push_back(outermost);
    part.inner.erase(part.inner.begin());
    return;
  }
  const StageAxis whole = outermost;
  const auto length = length_of_part(whole.extent, parts, part.inner.size() == 1);
  if (!length) return;
  const StageAxis which{free_axis_name(part, "part"), Extent(parts)};
  outermost.extent = *length;
  const auto index = axis_index(which.name) * StageExpr(outermost.extent) + axis_index(whole.name);
  const AxisValues values{{whole.name, index}};
  for (auto& guard : part.guards) guard = with_axes(guard, values);
  part.body = with_axes(part.body, values);
  const bool exact = whole.extent.is_constant() && whole.extent.value() == parts * outermost.extent.value();
  if (!exact) part.guards.insert(part.guards.begin(), index < StageExpr(whole.extent));
  const auto left = StageExpr(whole.extent) - axis_index(which.name) * StageExpr(outermost.extent);
  cut = exact ? StageExpr(outermost.extent) : maximum(minimum(left, outermost.extent), 0);
  part.axes.push_back(which);
}

ElementType stored_type(StageType type) {
  if (type == StageType::real) return ElementType::float32;
  return type == StageType::integer ? ElementType::int64 : ElementType::boolean;
}

/// The stage for the parts of stages[index], which is then what gathers them.
struct Parts {
  Stage part;
  StageExpr elements;  ///< that the part has, as a real
  StageAxes axes;      ///< along which the parts are
  std::int64_t made = 1;
};

/// `made` is 1 where the axes are too short. With `rows_last` the parts' axes come before the others, so that
/// neighbouring results are of neighbouring rows.
Parts parts_of(const Stage& whole, std::int64_t parts, bool rows_last) {
  Parts result{whole, {}, {}, 1};
  auto& part = result.part;
  part.epilogue = {};
  // A short axis is a part each; what is missing to the number of parts comes from the next one.
  StageExpr cut;
  while (result.made < parts && !part.inner.empty()) {
    const auto before = part.axes.size();
    const auto missing = std::max<std::int64_t>((parts + result.made - 1) / result.made, 2);
    if (part.inner[0].extent.value() < 2) break;
    const bool last = part.inner.size() == 1;
    if (last && part.inner[0].extent.value() < missing) break;
    split_outermost(part, missing, cut);
    if (part.axes.size() == before) break;
    result.made *= part.axes.back().extent.value();
    if (last || cut) break;
  }
  StageAxes others(part.inner.begin() + (cut ? 1 : 0), part.inner.end());
  result.elements = real_count(others);
  const auto first_of_parts = part.axes.begin() + static_cast<std::ptrdiff_t>(whole.axes.size());
  result.axes.assign(first_of_parts, part.axes.end());
  if (rows_last) std::rotate(part.axes.begin(), first_of_parts, part.axes.end());
  if (cut) result.elements = converted(cut, StageType::real) * result.elements;
  return result;
}

/// A buffer for the parts' results, and a load of the one at the part's axes.
StageExpr store_parts(StageProgram& program, Stage& part, const std::string& name) {
  StageBuffer buffer;
  buffer.name = name;
  for (const auto& axis : part.axes) buffer.type.shape.push_back(axis.extent);
  buffer.type.dtype = stored_type(result_type_of(part));
  part.buffer = program.buffers.size();
  StageIndices indices;
  for (const auto& axis : part.axes) indices.push_back(axis_index(axis.name));
  auto result = load(TensorView{part.buffer, buffer.type}, indices);
  program.buffers.push_back(std::move(buffer));
  return result;
}

/// `whole` gathers `body` over the parts' axes.
void gather_parts(Stage& whole, const Parts& parts, StageExpr body) {
  whole.inner = parts.axes;
  whole.guards.clear();
  whole.body = std::move(body);
}

bool sums_reals(const Stage& stage) {
  return stage.kind == StageKind::reduce && stage.op == ReduceOp::sum && stage.body->type == StageType::real &&
         !stage.position;
}

/// Whether the axes have the same extents; `names` has then the first one's for each of the second's.
bool match(const StageAxes& first, const StageAxes& second, AxisValues& names) {
  if (first.size() != second.size()) return false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].extent.text() != second[i].extent.text()) return false;
    names[second[i].name] = axis_index(first[i].name);
  }
  return true;
}

/// The difference of which `stage` sums the square; null where it does not.
const StageNode* squared_difference(const Stage& stage) {
  const auto& product = *stage.body;
  if (product.op != StageOp::multiply || !same_expression(product.operands[0], product.operands[1])) return nullptr;
  return product.operands[0]->op == StageOp::subtract ? product.operands[0].get() : nullptr;
}

bool is_own_place(const StageNode& load, const StageAxes& axes) {
  const auto places = reshaped_indices(load.operands, load.tensor.type.shape, extents_of(axes));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool own = places[i]->op == StageOp::axis && places[i]->axis == axes[i].name;
    if (!own && axes[i].extent.text() != "1") return false;
  }
  return true;
}

}  // namespace

bool can_split(const Stage& stage) {
  return stage.kind == StageKind::reduce && !stage.position && !stage.inner.empty();
}

std::int64_t split_reduction(StageProgram& program, std::size_t index, std::int64_t parts) {
  if (!can_split(program.stages[index])) return 1;
  auto split = parts_of(program.stages[index], parts, has_contiguous_rows(program.stages[index]));
  if (split.made == 1) return 1;
  auto& whole = program.stages[index];
  const auto gathered = store_parts(program, split.part, program.buffers[whole.buffer].name + "_parts");
  gather_parts(whole, split, gathered);
  program.stages.insert(program.stages.begin() + static_cast<std::ptrdiff_t>(index), std::move(split.part));
  return split.made;
}

bool are_moments(const Stage& first, const Stage& second) {
  if (!sums_reals(first) || !sums_reals(second) || first.guards.size() != second.guards.size()) return false;
  AxisValues names;
  if (!match(first.axes, second.axes, names) || !match(first.inner, second.inner, names)) return false;
  for (std::size_t i = 0; i < first.guards.size(); ++i) {
    if (!same_expression(first.guards[i], with_axes(second.guards[i], names))) return false;
  }
  const auto* difference = squared_difference(second);
  if (difference == nullptr) return false;
  const auto& subtracted = *difference->operands[1];
  return subtracted.op == StageOp::load && subtracted.tensor.buffer == first.buffer &&
         is_own_place(subtracted, second.axes) &&
         same_expression(with_axes(difference->operands[0], names), first.body);
}

std::int64_t split_moments(StageProgram& program, std::size_t first, std::size_t second, std::int64_t parts) {
  const bool rows_last = has_contiguous_rows(program.stages[first]);
  auto sums = parts_of(program.stages[first], parts, rows_last);
  auto squares = parts_of(program.stages[second], parts, rows_last);
  if (sums.made == 1 || sums.made != squares.made) return 1;
  auto& whole_sum = program.stages[first];
  auto& whole_squares = program.stages[second];
  const auto r = squared_difference(whole_squares)->operands[1];
  const auto name = [&](const Stage& stage) { return program.buffers[stage.buffer].name + "_parts"; };
  // An empty part has a mean of 0.
  sums.part.epilogue = reduction_result(StageType::real) / maximum(sums.elements, 1.0);
  const auto mean = store_parts(program, sums.part, name(whole_sum));
  gather_parts(whole_sum, sums, mean * sums.elements);
  StageIndices own;
  for (const auto& axis : squares.part.axes) own.push_back(axis_index(axis.name));
  const auto own_mean = load(mean->tensor, own);
  const auto* difference = squared_difference(squares.part);
  const auto apart = difference->operands[0] - own_mean;
  squares.part.body = apart * apart;
  const auto gathered = store_parts(program, squares.part, name(whole_squares));
  const auto shift = own_mean - r;
  gather_parts(whole_squares, squares, gathered + squares.elements * shift * shift);
  const auto at = [&](std::size_t index) { return program.stages.begin() + static_cast<std::ptrdiff_t>(index); };
  program.stages.insert(at(second), std::move(squares.part));
  program.stages.insert(at(first), std::move(sums.part));
  return sums.made;
}

}  // namespace kw
