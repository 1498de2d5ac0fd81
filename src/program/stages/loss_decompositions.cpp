// Losses of pairs of elements or of rows.

#include <array>
#include <cmath>
#include <numbers>

#include "program/stages/decomposition_table.hpp"
#include "program/stages/losses.hpp"
#include "program/stages/moments.hpp"

namespace kw {
namespace {

using LossFunction = StageExpr (*)(const Decomposition& d, const StageExpr& x, const StageExpr& target);

template <LossFunction Function>
Result<void> pair_loss(Decomposition& d) {
  KW_TRY(const auto frame, common_frame(d, {"input", "target"}));
  const auto x = converted(read(d.tensor("input"), frame), StageType::real);
  return reduced_loss(d, frame, Function(d, x, converted(read(d.tensor("target"), frame), StageType::real)));
}

StageExpr squared(const Decomposition&, const StageExpr& x, const StageExpr& target) {
  const auto difference = x - target;
  return difference * difference;
}

/// smooth_l1_loss and huber_loss, which is the former times its bound.
StageExpr rounded_off(const Decomposition& d, const StageExpr& x, const StageExpr& target) {
  const bool smooth = d.op() == "smooth_l1_loss";
  const double bound = d.real(smooth ? "beta" : "delta");
  const auto difference = absolute(x - target);
  if (bound == 0.0) return difference;
  const auto inner = difference * difference * (smooth ? 0.5 / bound : 0.5);
  const auto outer = smooth ? difference - 0.5 * bound : (difference - 0.5 * bound) * bound;
  return select(difference < bound, inner, outer);
}

StageExpr divergence(const Decomposition& d, const StageExpr& x, const StageExpr& target) {
  if (d.flag("log_target")) return apply(StageOp::exp, target) * (target - x);
  // Nothing is said of what never happens, whose logarithm is infinite.
  return select(target == 0, 0.0, target * apply(StageOp::log, target)) - target * x;
}

StageExpr soft_margin(const Decomposition&, const StageExpr& x, const StageExpr& target) {
  return apply(StageOp::log1p, apply(StageOp::exp, -(target * x)));
}

StageExpr poisson(const Decomposition& d, const StageExpr& x, const StageExpr& target) {
  auto loss =
      d.flag("log_input") ? apply(StageOp::exp, x) - target * x : x - target * apply(StageOp::log, x + d.real("eps"));
  if (d.flag("full")) {
    // Stirling's formula for the factorial.
    const auto stirling =
        target * apply(StageOp::log, target) - target + apply(StageOp::log, target * (2.0 * std::numbers::pi)) * 0.5;
    loss = loss + select(target > 1.0, stirling, 0.0);
  }
  return loss;
}

StageExpr hinge(const Decomposition& d, const StageExpr& x, const StageExpr& target) {
  return select(target == 1.0, x, maximum(StageExpr(d.real("margin")) - x, 0.0));
}

/// The target may have the shape of the input or one value per row; the variance too.
Result<void> gaussian(Decomposition& d) {
  KW_TRY(const auto frame, common_frame(d, {"input", "target"}));
  auto spread = d.tensor("var");
  if (spread.type.shape.size() + 1 == frame.size()) spread.type.shape.emplace_back(1);
  const auto difference = read(d.tensor("input"), frame) - read(d.tensor("target"), frame);
  const auto variance = maximum(read(spread, frame), d.real("eps"));
  auto loss = (apply(StageOp::log, variance) + difference * difference / variance) * 0.5;
  if (d.flag("full")) loss = loss + 0.5 * std::log(2.0 * std::numbers::pi);
  return reduced_loss(d, frame, loss);
}

StageExpr weighted(const Decomposition& d, const StageAxes& frame, const StageExpr& loss) {
  return d.given("weight") ? loss * read(d.tensor("weight"), frame) : loss;
}

/// Logarithms are not less than -100.
Result<void> binary_cross_entropy(Decomposition& d) {
  KW_TRY(const auto frame, common_frame(d, {"input", "target", "weight"}));
  const auto x = read(d.tensor("input"), frame);
  const auto target = converted(read(d.tensor("target"), frame), StageType::real);
  const auto yes = maximum(apply(StageOp::log, x), -100.0);
  const auto no = maximum(apply(StageOp::log1p, -x), -100.0);
  return reduced_loss(d, frame, weighted(d, frame, (target - 1.0) * no - target * yes));
}

/// (1 - t) x + (1 + (w - 1) t) (log(1 + exp(-|x|)) + max(-x, 0))
Result<void> binary_cross_entropy_with_logits(Decomposition& d) {
  KW_TRY(const auto frame, common_frame(d, {"input", "target", "weight", "pos_weight"}));
  const auto x = read(d.tensor("input"), frame);
  const auto target = converted(read(d.tensor("target"), frame), StageType::real);
  auto softplus = apply(StageOp::log1p, apply(StageOp::exp, -absolute(x))) + maximum(-x, 0.0);
  if (d.given("pos_weight")) {
    softplus = softplus * ((read(d.tensor("pos_weight"), frame) - 1.0) * target + 1.0);
  }
  return reduced_loss(d, frame, weighted(d, frame, (StageExpr(1.0) - target) * x + softplus));
}

Result<void> margin_ranking(Decomposition& d) {
  KW_TRY(const auto frame, common_frame(d, {"input1", "input2", "target"}));
  const auto difference = read(d.tensor("input1"), frame) - read(d.tensor("input2"), frame);
  return reduced_loss(d, frame, maximum(-read(d.tensor("target"), frame) * difference + d.real("margin"), 0.0));
}

/// 1 - cos for pairs that belong together, else what cos is above the margin.
Result<void> cosine_embedding(Decomposition& d) {
  KW_TRY(const auto frame, common_frame(d, {"input1", "input2"}));
  constexpr double k_eps = 1e-12;
  const std::vector<std::size_t> last = {frame.size() - 1};
  const auto first = read(d.tensor("input1"), frame);
  const auto second = read(d.tensor("input2"), frame);
  const StageAxes rows(frame.begin(), frame.end() - 1);
  const auto total = [&](const char* name, const StageExpr& body) {
    auto sum = sum_over(d, to_scratch(name), frame, last, body);
    sum.type.shape.pop_back();
    return load(sum, indices_of(rows));
  };
  const auto both_lengths = (total("square1", first * first) + k_eps) * (total("square2", second * second) + k_eps);
  const auto cosine = total("product", first * second) / apply(StageOp::sqrt, both_lengths);
  const auto target = read(d.tensor("target"), rows);
  return reduced_loss(d, rows, select(target == 1, StageExpr(1.0) - cosine, maximum(cosine - d.real("margin"), 0.0)));
}

/// Distances along the last axis, of which the negative one has to be larger by the margin.
Result<void> triplet_margin(Decomposition& d) {
  KW_TRY(const auto frame, common_frame(d, {"anchor", "positive", "negative"}));
  const StageAxes rows(frame.begin(), frame.end() - 1);
  const double p = d.real("p");
  const auto distance = [&](const char* name, const char* a, const char* b) {
    const auto difference = absolute(read(d.tensor(a), frame) - read(d.tensor(b), frame) + d.real("eps"));
    const auto sum = reduction_result(StageType::real);
    Stage stage;
    stage.kind = StageKind::reduce;
    stage.axes = rows;
    stage.inner = {frame.back()};
    stage.body = p == 1.0 ? difference : p == 2.0 ? difference * difference : apply(StageOp::power, difference, p);
    if (p != 1.0) stage.epilogue = p == 2.0 ? apply(StageOp::sqrt, sum) : apply(StageOp::power, sum, 1.0 / p);
    return load(d.add(to_scratch(name), std::move(stage)), indices_of(rows));
  };
  const auto near = distance("positive", "anchor", "positive");
  auto far = distance("negative", "anchor", "negative");
  if (d.flag("swap")) far = minimum(far, distance("swapped", "positive", "negative"));
  return reduced_loss(d, rows, maximum(near - far + d.real("margin"), 0.0));
}

constexpr std::array k_loss_decompositions = {
    DecompositionRow{"mse_loss", pair_loss<squared>},
    DecompositionRow{"l1_loss", pair_loss<[](const Decomposition&, const StageExpr& x, const StageExpr& target) {
                       return absolute(x - target);
                     }>},
    DecompositionRow{"smooth_l1_loss", pair_loss<rounded_off>},
    DecompositionRow{"huber_loss", pair_loss<rounded_off>},
    DecompositionRow{"kl_div", pair_loss<divergence>},
    DecompositionRow{"soft_margin_loss", pair_loss<soft_margin>},
    DecompositionRow{"poisson_nll_loss", pair_loss<poisson>},
    DecompositionRow{"hinge_embedding_loss", pair_loss<hinge>},
    DecompositionRow{"gaussian_nll_loss", gaussian},
    DecompositionRow{"binary_cross_entropy", binary_cross_entropy},
    DecompositionRow{"binary_cross_entropy_with_logits", binary_cross_entropy_with_logits},
    DecompositionRow{"margin_ranking_loss", margin_ranking},
    DecompositionRow{"cosine_embedding_loss", cosine_embedding},
    DecompositionRow{"triplet_margin_loss", triplet_margin},
};

}  // namespace

std::span<const DecompositionRow> loss_decompositions() {
  return k_loss_decompositions;
}

}  // namespace kw
