// Reductions over axes.

#include <array>
#include <limits>

#include "program/stages/decomposition_table.hpp"
#include "program/stages/moments.hpp"

namespace kw {
namespace {

/// The element of "input" in the frame of its own axes.
struct WholeInput {
  TensorView input;
  StageAxes frame;
  std::vector<std::size_t> reduced;
  StageExpr element;
};

WholeInput whole_input(const Decomposition& d) {
  WholeInput whole{d.tensor("input"), {}, {}, {}};
  whole.frame = named_axes(whole.input.type.shape);
  whole.reduced = d.axes("dim", whole.frame.size());
  if (whole.frame.empty()) whole.reduced.clear();
  whole.element = read(whole.input, whole.frame);
  return whole;
}

void reduce_elements(Decomposition& d, const WholeInput& whole, ReduceOp op, StageExpr body, StageExpr epilogue = {}) {
  auto split = split_axes(whole.frame, whole.reduced);
  Stage stage;
  stage.op = op;
  stage.axes = std::move(split.kept);
  stage.inner = std::move(split.reduced);
  stage.body = std::move(body);
  stage.epilogue = std::move(epilogue);
  d.reduce_in_parts(to_output(), std::move(stage));
}

template <ReduceOp Op>
Result<void> reduction(Decomposition& d) {
  const auto whole = whole_input(d);
  auto element = as_type(whole.element, d.result().dtype);
  if (d.op() == "nansum") element = select(element == element, element, converted(0, element->type));
  reduce_elements(d, whole, Op, element);
  return {};
}

Result<void> mean(Decomposition& d) {
  const auto whole = whole_input(d);
  const auto count = real_count(split_axes(whole.frame, whole.reduced).reduced);
  reduce_elements(d, whole, ReduceOp::sum, converted(whole.element, StageType::real),
                  reduction_result(StageType::real) / count);
  return {};
}

/// The position along the axes that are reduced, counted as if they were one.
StageExpr position_in(const StageAxes& axes) {
  StageExpr position = 0;
  for (const auto& axis : axes) position = position * StageExpr(axis.extent) + axis_index(axis.name);
  return position;
}

void position_of_extremum(Decomposition& d, std::size_t output, const WholeInput& whole, ReduceOp op) {
  auto split = split_axes(whole.frame, whole.reduced);
  Stage stage;
  stage.kind = StageKind::reduce;
  stage.op = op;
  stage.axes = std::move(split.kept);
  stage.inner = std::move(split.reduced);
  stage.body = whole.element->type == StageType::truth ? converted(whole.element, StageType::integer) : whole.element;
  stage.position = position_in(stage.inner);
  d.add(to_output(output), std::move(stage));
}

template <ReduceOp Op>
Result<void> position(Decomposition& d) {
  position_of_extremum(d, 0, whole_input(d), Op);
  return {};
}

/// max and min: values, and with a dim their positions too.
template <ReduceOp Value, ReduceOp Position>
Result<void> extremum(Decomposition& d) {
  if (d.wanted(0)) KW_TRY_VOID(reduction<Value>(d));
  if (d.wanted(1)) position_of_extremum(d, 1, whole_input(d), Position);
  return {};
}

/// log(sum(exp(x - max))) + max
Result<void> log_sum_exp(Decomposition& d) {
  const auto whole = whole_input(d);
  const auto split = split_axes(whole.frame, whole.reduced);
  const auto element = converted(whole.element, StageType::real);
  Stage largest;
  largest.op = ReduceOp::maximum;
  largest.axes = split.kept;
  largest.inner = split.reduced;
  largest.body = element;
  const auto most = load(d.reduce_in_parts(to_scratch("max"), std::move(largest)), indices_of(split.kept));
  // An infinite maximum has no differences: it is the result.
  const auto finite = absolute(most) < std::numeric_limits<double>::infinity();
  const auto shift = select(finite, most, 0.0);
  reduce_elements(d, whole, ReduceOp::sum, apply(StageOp::exp, element - shift),
                  apply(StageOp::log, reduction_result(StageType::real)) + shift);
  return {};
}

double correction_of(const Decomposition& d) {
  if (d.given("correction")) return d.real("correction");
  return d.flag("unbiased") ? 1.0 : 0.0;
}

/// var, std, var_mean and std_mean.
Result<void> variance(Decomposition& d) {
  const auto whole = whole_input(d);
  const bool both_moments = d.wanted(1);
  const auto mean = mean_over(d, both_moments ? to_output(1) : to_scratch("mean"), whole.input, whole.reduced);
  if (!d.wanted(0)) return {};
  const bool root = d.op().starts_with("std");
  static_cast<void>(variance_over(d, to_output(0), whole.input, mean, whole.reduced, correction_of(d), root));
  return {};
}

/// By selection, k being small: how many elements go before each one, then the ones with k or fewer.
Result<void> top_k(Decomposition& d) {
  const auto input = d.tensor("input");
  if (input.type.shape.empty()) return d.unsupported("topk of a single number", "leave it out");
  const auto frame = named_axes(input.type.shape);
  const auto axis = d.axis("dim", frame.size());
  auto rival = indices_of(frame);
  rival[axis] = axis_index("rival");
  const auto own = load(input, indices_of(frame));
  const auto other = load(input, rival);
  const bool largest = d.flag("largest");
  Stage before;
  before.kind = StageKind::reduce;
  before.axes = frame;
  before.inner = {{"rival", frame[axis].extent}};
  before.body = converted(either(largest ? other > own : other < own,
                                 both(other == own, axis_index("rival") < axis_index(frame[axis].name))),
                          StageType::integer);
  const auto rank = d.add(to_scratch("rank"), std::move(before));
  for (std::size_t output = 0; output < 2; ++output) {
    if (!d.wanted(output)) continue;
    Stage chosen;
    chosen.kind = StageKind::reduce;
    chosen.op = output == 0 ? ReduceOp::sum : ReduceOp::maximum;
    chosen.axes = frame;
    chosen.axes[axis] = {"place", d.integer("k")};
    chosen.inner = {frame[axis]};
    chosen.guards = {load(rank, indices_of(frame)) == axis_index("place")};
    chosen.body = output == 0 ? own : axis_index(frame[axis].name);
    d.add(to_output(output), std::move(chosen));
  }
  return {};
}

constexpr std::array k_reduction_decompositions = {
    DecompositionRow{"sum", reduction<ReduceOp::sum>},
    DecompositionRow{"nansum", reduction<ReduceOp::sum>},
    DecompositionRow{"prod", reduction<ReduceOp::product>},
    DecompositionRow{"mean", mean},
    DecompositionRow{"max", extremum<ReduceOp::maximum, ReduceOp::argmax>},
    DecompositionRow{"min", extremum<ReduceOp::minimum, ReduceOp::argmin>},
    DecompositionRow{"amax", reduction<ReduceOp::maximum>},
    DecompositionRow{"amin", reduction<ReduceOp::minimum>},
    DecompositionRow{"argmax", position<ReduceOp::argmax>},
    DecompositionRow{"argmin", position<ReduceOp::argmin>},
    DecompositionRow{"any", reduction<ReduceOp::any>},
    DecompositionRow{"all", reduction<ReduceOp::all>},
    DecompositionRow{"logsumexp", log_sum_exp},
    DecompositionRow{"var", variance},
    DecompositionRow{"std", variance},
    DecompositionRow{"var_mean", variance},
    DecompositionRow{"std_mean", variance},
    DecompositionRow{"topk", top_k},
};

}  // namespace

std::span<const DecompositionRow> reduction_decompositions() {
  return k_reduction_decompositions;
}

}  // namespace kw
