#include "operators/program/kernels/contraction_axes.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "operators/program/kernels/affine_index.hpp"
#include "program/stages/decomposition.hpp"
#include "program/stages/exact_extent.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

using NodeTest = std::function<bool(const StageExpr& node)>;

void find_node(const StageExpr& node, const NodeTest& test, StageExpr& found) {
  if (!node || found) return;
  if (test(node)) {
    found = node;
    return;
  }
  for (const auto& operand : node->operands) find_node(operand, test, found);
}

/// The first node of the body and the guards that fits.
StageExpr first_node(const Stage& stage, const NodeTest& test) {
  StageExpr found;
  for (const auto& guard : stage.guards) find_node(guard, test, found);
  find_node(stage.body, test, found);
  return found;
}

const StageAxis* axis_of(const StageAxes& axes, const std::string& name) {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const StageAxis& axis) { return axis.name == name; });
  return found == axes.end() ? nullptr : &*found;
}

std::string new_axis_name(const Stage& stage, std::string wanted) {
  while (axis_of(stage.axes, wanted) != nullptr || axis_of(stage.inner, wanted) != nullptr) wanted += "_";
  return wanted;
}

bool divides(const StageExpr& node) {
  return node->op == StageOp::floor_divide || node->op == StageOp::floor_modulo;
}

/// Axes that take the place of one.
void replace_axis(StageAxes& axes, const std::string& name, const StageAxes& by) {
  const auto place = std::find_if(axes.begin(), axes.end(), [&](const StageAxis& axis) { return axis.name == name; });
  const auto at = axes.erase(place);
  axes.insert(at, by.begin(), by.end());
}

void set_axes(SplitStage& split, const AxisValues& values) {
  rewrite_stage(split.stage, [&](const StageExpr& node) {
    if (node->op != StageOp::axis) return StageExpr();
    const auto found = values.find(node->axis);
    return found == values.end() ? StageExpr() : found->second;
  });
  for (auto& index : split.place) index = with_axes(index, values);
  split.stored = with_axes(split.stored, values);
}

/// An axis of the output that is divided by a part of its extent.
bool split_group(SplitStage& split) {
  auto& stage = split.stage;
  const auto node = first_node(stage, [&](const StageExpr& one) {
    if (!divides(one) || one->operands[0]->op != StageOp::axis || one->operands[1]->op != StageOp::integer)
      return false;
    const auto* axis = axis_of(stage.axes, one->operands[0]->axis);
    const auto& part = one->operands[1]->integer;
    if (axis == nullptr || split.phases.count(axis->name) > 0 || part.value() <= 1 ||
        axis->extent.value() % part.value() != 0)
      return false;
    const auto parts = exact_quotient(axis->extent, part);
    const auto together = parts ? exact_product(*parts, part) : std::nullopt;
    return together && together->text() == axis->extent.text();
  });
  if (!node) return false;
  const auto whole = *axis_of(stage.axes, node->operands[0]->axis);
  const auto part = node->operands[1]->integer;
  const StageAxis group{new_axis_name(stage, whole.name + "_group"), Extent::quotient(whole.extent, part).value()};
  const StageAxis member{new_axis_name(stage, whole.name + "_member"), part};
  rewrite_stage(stage, [&](const StageExpr& one) {
    const bool same = divides(one) && one->operands[0]->op == StageOp::axis && one->operands[0]->axis == whole.name &&
                      one->operands[1]->op == StageOp::integer && one->operands[1]->integer.text() == part.text();
    if (!same) return StageExpr();
    return axis_index(one->op == StageOp::floor_divide ? group.name : member.name);
  });
  set_axes(split, {{whole.name, axis_index(group.name) * StageExpr(part) + axis_index(member.name)}});
  replace_axis(stage.axes, whole.name, {group, member});
  return true;
}

/// What a stride divides: place + constant - tap * dilation.
struct Strided {
  std::string place, tap;
  std::int64_t dilation = 1, stride = 1;
  StageExpr constant;
};

std::optional<Strided> strided(const Stage& stage, const StageExpr& node) {
  if (!divides(node) || node->operands[1]->op != StageOp::integer || !node->operands[1]->integer.is_constant())
    return std::nullopt;
  const auto index = affine_index(node->operands[0], {});
  if (!index || index->coefficients.size() != 2) return std::nullopt;
  Strided found;
  found.stride = node->operands[1]->integer.value();
  found.constant = StageExpr(index->constant);
  for (const auto& [axis, coefficient] : index->coefficients) {
    if (!coefficient.is_constant()) return std::nullopt;
    if (axis_of(stage.axes, axis) != nullptr && coefficient.value() == 1) found.place = axis;
    if (axis_of(stage.inner, axis) != nullptr && coefficient.value() < 0) {
      found.tap = axis;
      found.dilation = -coefficient.value();
    }
  }
  constexpr std::int64_t k_most_stride = 16;
  const bool known = !found.place.empty() && !found.tap.empty() && index->constant.is_constant();
  if (!known || found.stride <= 1 || found.stride > k_most_stride) return std::nullopt;
  return found;
}

/// The number whose product with `a` leaves 1 when divided by `n`; they have no common divisor.
std::int64_t inverse_modulo(std::int64_t a, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (a * i % n == 1 % n) return i;
  }
  return 0;
}

bool split_phase(SplitStage& split) {
  auto& stage = split.stage;
  const auto node = first_node(stage, [&](const StageExpr& one) { return strided(stage, one).has_value(); });
  if (!node) return false;
  const auto found = *strided(stage, node);
  const auto whole = *axis_of(stage.axes, found.place);
  const auto taps = *axis_of(stage.inner, found.tap);
  const auto steps = exact_quotient_up(whole.extent, found.stride);
  const StageAxis phase{new_axis_name(stage, whole.name + "_phase"), found.stride};
  // Taps of a phase lie `between` apart, and none has one where the common divisor of stride and dilation does not
  // divide the phase.
  const auto common = std::gcd(found.stride, found.dilation);
  const auto between = found.stride / common;
  const auto tap_steps = exact_quotient_up(taps.extent, between);
  if (!steps || !tap_steps) return false;
  const StageAxis step{new_axis_name(stage, whole.name + "_step"), *steps};
  const StageAxis tap{new_axis_name(stage, taps.name + "_step"), *tap_steps};
  const auto start = axis_index(phase.name) + found.constant;
  const auto first_tap = floor_modulo(floor_divide(start, static_cast<int>(common)) *
                                          StageExpr(Extent(inverse_modulo(found.dilation / common % between, between))),
                                      StageExpr(Extent(between)));
  const auto quotient =
      axis_index(step.name) - axis_index(tap.name) * StageExpr(Extent(found.dilation / common)) +
      floor_divide(start - first_tap * StageExpr(Extent(found.dilation)), StageExpr(Extent(found.stride)));
  const auto rest = floor_modulo(start, static_cast<int>(common));
  rewrite_stage(stage, [&](const StageExpr& one) {
    const auto same = strided(stage, one);
    const bool is_same = same && same->place == found.place && same->tap == found.tap && same->stride == found.stride &&
                         same->dilation == found.dilation && same->constant->integer == found.constant->integer;
    if (!is_same) return StageExpr();
    return one->op == StageOp::floor_divide ? quotient : rest;
  });
  const auto tap_place = axis_index(tap.name) * StageExpr(Extent(between)) + first_tap;
  set_axes(split, {{whole.name, axis_index(step.name) * StageExpr(Extent(found.stride)) + axis_index(phase.name)},
                   {taps.name, tap_place}});
  stage.guards.push_back(tap_place < StageExpr(taps.extent));
  split.stored = both(split.stored, axis_index(step.name) * StageExpr(Extent(found.stride)) + axis_index(phase.name) <
                                        StageExpr(whole.extent));
  replace_axis(stage.axes, whole.name, {step, phase});
  replace_axis(stage.inner, taps.name, {tap});
  split.phases.insert(phase.name);
  return true;
}

/// The parts of a conjunction that do not hold for every index.
void add_conditions(const StageExpr& guard, std::vector<StageExpr>& conditions) {
  if (guard->op == StageOp::both) {
    for (const auto& operand : guard->operands) add_conditions(operand, conditions);
    return;
  }
  const bool constant = guard->op == StageOp::equal && guard->operands[0]->op == StageOp::integer &&
                        guard->operands[1]->op == StageOp::integer &&
                        guard->operands[0]->integer.text() == guard->operands[1]->integer.text();
  if (!constant) conditions.push_back(guard);
}

}  // namespace

SplitStage split_stage(Stage stage) {
  SplitStage split;
  split.output = stage.axes;
  split.place = indices_of(stage.axes);
  split.stage = std::move(stage);
  // Each split takes one division away.
  constexpr int k_most_splits = 8;
  for (int i = 0; i < k_most_splits && (split_group(split) || split_phase(split)); ++i) {
  }
  std::vector<StageExpr> conditions;
  for (const auto& guard : split.stage.guards) add_conditions(guard, conditions);
  split.stage.guards = std::move(conditions);
  return split;
}

}  // namespace kw
