// Losses against classes: cross_entropy of scores, nll_loss of logarithms of probabilities.

#include <array>

#include "program/stages/decomposition_table.hpp"
#include "program/stages/losses.hpp"
#include "program/stages/moments.hpp"

namespace kw {
namespace {

/// The axes of the scores, of which one counts classes, and those of the rows.
struct ClassAxes {
  TensorView scores;
  StageAxes whole;
  StageAxes rows;
  std::size_t axis = 0;
};

ClassAxes class_axes(const Decomposition& d) {
  ClassAxes axes{d.tensor("input"), {}, {}, 0};
  axes.whole = named_axes(axes.scores.type.shape);
  axes.axis = axes.whole.size() > 1 ? 1 : 0;
  axes.rows = split_axes(axes.whole, {axes.axis}).kept;
  return axes;
}

/// log(sum(exp(score))) of each row, with the maximum taken away before the exponential.
StageExpr log_sum_exp_of_rows(Decomposition& d, const ClassAxes& axes) {
  const auto score = read(axes.scores, axes.whole);
  Stage largest;
  largest.kind = StageKind::reduce;
  largest.op = ReduceOp::maximum;
  largest.axes = axes.rows;
  largest.inner = {axes.whole[axes.axis]};
  largest.body = score;
  const auto most = load(d.add(to_scratch("max"), std::move(largest)), indices_of(axes.rows));
  Stage sum;
  sum.kind = StageKind::reduce;
  sum.axes = axes.rows;
  sum.inner = {axes.whole[axes.axis]};
  sum.body = apply(StageOp::exp, score - most);
  sum.epilogue = apply(StageOp::log, reduction_result(StageType::real)) + most;
  return load(d.add(to_scratch("log_sum_exp"), std::move(sum)), indices_of(axes.rows));
}

StageExpr class_weight(const Decomposition& d, const StageExpr& number) {
  return d.given("weight") ? load(d.tensor("weight"), {number}) : StageExpr(1.0);
}

/// The sum over the classes of each row.
StageExpr sum_of_classes(Decomposition& d, const ClassAxes& axes, const char* name, const StageExpr& body) {
  Stage sum;
  sum.kind = StageKind::reduce;
  sum.axes = axes.rows;
  sum.inner = {axes.whole[axes.axis]};
  sum.body = body;
  return load(d.add(to_scratch(name), std::move(sum)), indices_of(axes.rows));
}

/// Against probabilities: -sum(weight * target * (score - log_sum_exp)); the mean is that of rows.
Result<void> against_probabilities(Decomposition& d, const ClassAxes& axes) {
  const auto total = log_sum_exp_of_rows(d, axes);
  auto target = read(d.tensor("target"), axes.whole);
  const double smoothing = d.real("label_smoothing");
  const StageExpr classes = axes.whole[axes.axis].extent;
  if (smoothing > 0.0) target = target * (1.0 - smoothing) + StageExpr(smoothing) / classes;
  const auto weight = class_weight(d, axis_index(axes.whole[axes.axis].name));
  const auto loss = sum_of_classes(d, axes, "row", weight * target * (total - read(axes.scores, axes.whole)));
  return reduced_loss(d, axes.rows, loss);
}

/// Rows whose target is ignore_index count neither in the sum nor in what the mean divides by.
Result<void> against_classes(Decomposition& d, const ClassAxes& axes, bool smoothed) {
  const bool logarithms = d.op() == "nll_loss";
  const StageExpr total = logarithms ? StageExpr(0.0) : log_sum_exp_of_rows(d, axes);
  const auto target = read(d.tensor("target"), axes.rows);
  const auto counts = target != StageExpr(d.integer("ignore_index"));
  auto place = indices_of(axes.rows);
  place.insert(place.begin() + static_cast<std::ptrdiff_t>(axes.axis), target);
  const auto weight = class_weight(d, target);
  const auto score = load(axes.scores, std::move(place));
  auto loss = weight * (logarithms ? -score : total - score);
  if (smoothed) {
    const double smoothing = d.real("label_smoothing");
    const StageExpr classes = axes.whole[axes.axis].extent;
    const auto each = class_weight(d, axis_index(axes.whole[axes.axis].name));
    const auto spread = sum_of_classes(d, axes, "spread", each * (total - read(axes.scores, axes.whole)));
    loss = loss * (1.0 - smoothing) + spread * (StageExpr(smoothing) / classes);
  }
  loss = select(counts, loss, 0.0);
  if (d.text("reduction") != "mean") return reduced_loss(d, axes.rows, loss);
  const auto sum_of_rows = [&](const char* name, const StageExpr& body) {
    Stage stage;
    stage.kind = StageKind::reduce;
    stage.inner = axes.rows;
    stage.body = body;
    return load(d.reduce_in_parts(to_scratch(name), std::move(stage)), {});
  };
  if (axes.rows.empty()) {
    d.map(0, {}, loss / select(counts, weight, 0.0));
    return {};
  }
  const auto sum = sum_of_rows("sum", loss);
  d.map(0, {}, sum / sum_of_rows("count", select(counts, weight, 0.0)));
  return {};
}

Result<void> class_loss(Decomposition& d) {
  const auto axes = class_axes(d);
  if (is_floating(d.tensor("target").type.dtype)) return against_probabilities(d, axes);
  return against_classes(d, axes, d.op() == "cross_entropy" && d.real("label_smoothing") > 0.0);
}

constexpr std::array k_class_loss_decompositions = {
    DecompositionRow{"cross_entropy", class_loss},
    DecompositionRow{"nll_loss", class_loss},
};

}  // namespace

std::span<const DecompositionRow> class_loss_decompositions() {
  return k_class_loss_decompositions;
}

}  // namespace kw
