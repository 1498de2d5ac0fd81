// Activations.

#include <array>
#include <numbers>

#include "program/stages/decomposition_table.hpp"
#include "program/stages/formulas.hpp"

namespace kw {
namespace {

/// An element from the element of "input" and the node's numbers.
using ActivationFunction = StageExpr (*)(const Decomposition& d, const StageExpr& x);

template <ActivationFunction Function>
Result<void> activation(Decomposition& d) {
  const auto frame = d.frame();
  d.map(0, frame, Function(d, as_type(read(d.tensor("input"), frame), d.result().dtype)));
  return {};
}

/// log(1 + exp(x)) without overflow, also for large x.
StageExpr soft_plus(const StageExpr& x) {
  return maximum(x, 0.0) + apply(StageOp::log1p, apply(StageOp::exp, -absolute(x)));
}

StageExpr clipped(const StageExpr& x, double least, double most) {
  return minimum(maximum(x, least), most);
}

StageExpr exponential_unit(const StageExpr& x, double scale, double alpha, double input_scale) {
  const auto below = apply(StageOp::expm1, x * input_scale) * (alpha * scale);
  return select(x > 0, scale == 1.0 ? x : x * scale, below);
}

StageExpr elu(const Decomposition& d, const StageExpr& x) {
  return select(x > 0, x, apply(StageOp::expm1, x) * d.real("alpha"));
}

StageExpr selu(const Decomposition&, const StageExpr& x) {
  constexpr double k_alpha = 1.6732632423543772;
  constexpr double k_scale = 1.0507009873554805;
  return exponential_unit(x, k_scale, k_alpha, 1.0);
}

StageExpr celu(const Decomposition& d, const StageExpr& x) {
  return exponential_unit(x, 1.0, d.real("alpha"), 1.0 / d.real("alpha"));
}

StageExpr gelu(const Decomposition& d, const StageExpr& x) {
  if (d.text("approximate") == "tanh") {
    const auto inner = (x + x * x * x * 0.044715) * (std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
    return x * 0.5 * (StageExpr(1.0) + apply(StageOp::tanh, inner));
  }
  return x * 0.5 * (StageExpr(1.0) + apply(StageOp::erf, x * (1.0 / std::numbers::sqrt2)));
}

/// min(max(x + 3, 0), 6) / 6
StageExpr hard_logistic(const StageExpr& x) {
  return clipped(x + 3.0, 0.0, 6.0) * (1.0 / 6.0);
}

StageExpr softplus(const Decomposition& d, const StageExpr& x) {
  const auto scaled = x * d.real("beta");
  return select(scaled > d.real("threshold"), x, apply(StageOp::log1p, apply(StageOp::exp, scaled)) / d.real("beta"));
}

/// x tanh(ln(1 + e^x)) (Misra 2019) by one exponential: tanh(ln u) = (u^2 - 1) / (u^2 + 1), and of u = 1 + e^x that is
/// n / (n + 2) for n = e^x (e^x + 2). Above 20 it is 1 up to 1e-17, and n would be infinite above 44 in f32.
StageExpr mish(const StageExpr& x) {
  const auto power = apply(StageOp::exp, x);
  const auto n = power * (power + 2.0);
  return select(x > 20.0, x, x * (n / (n + 2.0)));
}

StageExpr softshrink(const Decomposition& d, const StageExpr& x) {
  const double bound = d.real("lambd");
  return select(x > bound, x - bound, select(x < -bound, x + bound, 0.0));
}

StageExpr hardshrink(const Decomposition& d, const StageExpr& x) {
  const double bound = d.real("lambd");
  return select(either(x > bound, x < -bound), x, 0.0);
}

StageExpr leaky(const StageExpr& x, const StageExpr& slope) {
  return select(x > 0, x, x * slope);
}

/// A slope for all, or one per channel.
Result<void> prelu(Decomposition& d) {
  const auto frame = d.frame();
  const auto x = read(d.tensor("input"), frame);
  const auto weight = d.tensor("weight");
  const bool single = weight.type.shape.empty() || weight.type.shape[0].value() == 1 || frame.size() < 2;
  const auto slope =
      weight.type.shape.empty() ? load(weight, {}) : load(weight, {single ? StageExpr(0) : axis_index(frame[1].name)});
  d.map(0, frame, leaky(x, slope));
  return {};
}

/// The first half of an axis, gated by the second.
Result<void> glu(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto frame = d.frame();
  const auto axis = d.axis("dim", frame.size());
  auto behind = indices_of(frame);
  behind[axis] = behind[axis] + frame[axis].extent;
  d.map(0, frame, load(input, indices_of(frame)) * logistic(load(input, behind)));
  return {};
}

/// Random in training mode, where it is the mean of what it gives.
Result<void> rrelu(Decomposition& d) {
  if (d.flag("training")) return d.unsupported("rrelu in training mode is random", "read it in mode eval");
  const auto frame = d.frame();
  d.map(0, frame, leaky(read(d.tensor("input"), frame), (d.real("lower") + d.real("upper")) / 2.0));
  return {};
}

Result<void> identity(Decomposition& d) {
  d.alias(0, d.tensor("input"));
  return {};
}

constexpr std::array k_activation_decompositions = {
    DecompositionRow{"sigmoid", activation<[](const Decomposition&, const StageExpr& x) { return logistic(x); }>},
    DecompositionRow{"tanh",
                     activation<[](const Decomposition&, const StageExpr& x) { return apply(StageOp::tanh, x); }>},
    DecompositionRow{"relu", activation<[](const Decomposition&, const StageExpr& x) { return maximum(x, 0); }>},
    DecompositionRow{"relu6",
                     activation<[](const Decomposition&, const StageExpr& x) { return clipped(x, 0.0, 6.0); }>},
    DecompositionRow{
        "leaky_relu",
        activation<[](const Decomposition& d, const StageExpr& x) { return leaky(x, d.real("negative_slope")); }>},
    DecompositionRow{"elu", activation<elu>},
    DecompositionRow{"selu", activation<selu>},
    DecompositionRow{"celu", activation<celu>},
    DecompositionRow{"gelu", activation<gelu>},
    DecompositionRow{"silu", activation<[](const Decomposition&, const StageExpr& x) { return x * logistic(x); }>},
    DecompositionRow{"mish", activation<[](const Decomposition&, const StageExpr& x) { return mish(x); }>},
    DecompositionRow{"hardtanh", activation<[](const Decomposition& d, const StageExpr& x) {
                       return clipped(x, d.real("min_val"), d.real("max_val"));
                     }>},
    DecompositionRow{"hardswish",
                     activation<[](const Decomposition&, const StageExpr& x) { return x * hard_logistic(x); }>},
    DecompositionRow{"hardsigmoid",
                     activation<[](const Decomposition&, const StageExpr& x) { return hard_logistic(x); }>},
    DecompositionRow{"softplus", activation<softplus>},
    DecompositionRow{
        "softsign",
        activation<[](const Decomposition&, const StageExpr& x) { return x / (StageExpr(1.0) + absolute(x)); }>},
    DecompositionRow{"softshrink", activation<softshrink>},
    DecompositionRow{"hardshrink", activation<hardshrink>},
    DecompositionRow{"tanhshrink",
                     activation<[](const Decomposition&, const StageExpr& x) { return x - apply(StageOp::tanh, x); }>},
    DecompositionRow{"threshold", activation<[](const Decomposition& d, const StageExpr& x) {
                       return select(x > d.real("threshold"), x, as_type(d.number("value"), d.result().dtype));
                     }>},
    DecompositionRow{"logsigmoid", activation<[](const Decomposition&, const StageExpr& x) { return -soft_plus(-x); }>},
    DecompositionRow{"prelu", prelu},
    DecompositionRow{"rrelu", rrelu},
    DecompositionRow{"glu", glu},
    DecompositionRow{"dropout", identity},
    DecompositionRow{"dropout1d", identity},
    DecompositionRow{"dropout2d", identity},
    DecompositionRow{"dropout3d", identity},
    DecompositionRow{"alpha_dropout", identity},
};

}  // namespace

std::span<const DecompositionRow> activation_decompositions() {
  return k_activation_decompositions;
}

}  // namespace kw
