// What keeps the axis that it works along: softmax and running reductions.

#include <array>

#include "program/stages/decomposition_table.hpp"
#include "program/stages/moments.hpp"

namespace kw {
namespace {

/// softmax, softmin and log_softmax: the maximum is taken away before the exponential.
Result<void> softmax(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto frame = named_axes(input.type.shape);
  const auto axes = frame.empty() ? std::vector<std::size_t>{} : std::vector<std::size_t>{d.axis("dim", frame.size())};
  auto x = converted(read(input, frame), StageType::real);
  if (d.op() == "softmin") x = -x;
  const auto split = split_axes(frame, axes);
  Stage largest;
  largest.kind = StageKind::reduce;
  largest.op = ReduceOp::maximum;
  largest.axes = split.kept;
  largest.inner = split.reduced;
  largest.body = x;
  const auto most = with_kept_axes(d.add(to_scratch("max"), std::move(largest)), input.type.shape, axes);
  const auto shifted = x - read(most, frame);
  const auto exponential = apply(StageOp::exp, shifted);
  const auto total = read(sum_over(d, to_scratch("sum"), frame, axes, exponential), frame);
  d.map(0, frame, d.op() == "log_softmax" ? shifted - apply(StageOp::log, total) : exponential / total);
  return {};
}

void running(Decomposition& d, std::size_t output, ReduceOp op, bool position) {
  const auto input = d.tensor("input");
  const auto frame = named_axes(input.type.shape);
  Stage stage;
  stage.kind = StageKind::scan;
  stage.op = op;
  stage.axes = frame;
  stage.inner = {frame[d.axis("dim", frame.size())]};
  stage.body = read(input, frame);
  if (position) {
    stage.position = axis_index(stage.inner[0].name);
    if (stage.body->type == StageType::truth) stage.body = converted(stage.body, StageType::integer);
  } else {
    stage.body = as_type(stage.body, d.result(output).dtype);
  }
  d.add(to_output(output), std::move(stage));
}

/// A single number is its own running result.
bool single_number(Decomposition& d) {
  if (!d.tensor("input").type.shape.empty()) return false;
  if (d.wanted(0)) d.map(0, {}, load(d.tensor("input"), {}));
  if (d.wanted(1)) d.map(1, {}, 0);
  return true;
}

template <ReduceOp Op>
Result<void> scan(Decomposition& d) {
  if (!single_number(d)) running(d, 0, Op, false);
  return {};
}

template <ReduceOp Value, ReduceOp Position>
Result<void> running_extremum(Decomposition& d) {
  if (single_number(d)) return {};
  if (d.wanted(0)) running(d, 0, Value, false);
  if (d.wanted(1)) running(d, 1, Position, true);
  return {};
}

constexpr std::array k_scan_decompositions = {
    DecompositionRow{"softmax", softmax},
    DecompositionRow{"softmin", softmax},
    DecompositionRow{"log_softmax", softmax},
    DecompositionRow{"cumsum", scan<ReduceOp::sum>},
    DecompositionRow{"cumprod", scan<ReduceOp::product>},
    DecompositionRow{"cummax", running_extremum<ReduceOp::maximum, ReduceOp::argmax>},
    DecompositionRow{"cummin", running_extremum<ReduceOp::minimum, ReduceOp::argmin>},
    DecompositionRow{"logcumsumexp", scan<ReduceOp::log_sum_exp>},
};

}  // namespace

std::span<const DecompositionRow> scan_decompositions() {
  return k_scan_decompositions;
}

}  // namespace kw
