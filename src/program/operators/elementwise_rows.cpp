// Operators that compute each element from the one at the same place, and PyTorch's activations.

#include <array>

#include "program/operators/operator_table.hpp"

namespace kw {
namespace {

Result<void> clamp_rule(OperatorCall& call) {
  if (!call.given("min") && !call.given("max")) {
    return call.value_error(fmt::format("{} needs a min or a max", call.shown()));
  }
  Shape shape = call.tensor("input").shape;
  for (const auto* name : {"min", "max"}) {
    if (const auto* bound = call.optional_tensor(name)) {
      KW_TRY(shape, broadcast(shape, bound->shape));
    }
  }
  const auto type = call.result_type({"input", "min", "max"});
  call.output(type, std::move(shape));
  return {};
}

Result<void> glu_rule(OperatorCall& call) {
  auto type = call.tensor("input");
  KW_TRY(const auto axis, call.axis("dim", type.shape.size()));
  if (type.shape.empty() || type.shape[axis].value() % 2 != 0) {
    return call.shape_error(
        fmt::format("{} halves axis {} of {}, which is odd", call.shown(), axis, argument_text(type.shape)));
  }
  KW_TRY(type.shape[axis], Extent::quotient(type.shape[axis], 2));
  call.output(std::move(type));
  return {};
}

Result<void> prelu_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  const auto& weight = call.tensor("weight");
  KW_TRY(const auto count, element_count(weight.shape));
  const std::int64_t channels = input.shape.size() < 2 ? 1 : input.shape[1].value();
  if (count.value() != 1 && count.value() != channels) {
    return call.shape_error(fmt::format("{} has {} weights for {} channels", call.shown(), count.value(), channels));
  }
  call.derive("num_parameters", count);
  call.output(input);
  return {};
}

Result<void> dropout_rule(OperatorCall& call) {
  if (const double p = call.real("p"); !(p >= 0.0 && p <= 1.0)) {
    return call.value_error(fmt::format("{} with the probability {}, which is not between 0 and 1", call.shown(), p));
  }
  if (call.truth("training") && call.real("p") > 0.0) call.random();
  call.output(call.tensor("input"));
  return {};
}

Result<void> rrelu_rule(OperatorCall& call) {
  if (call.truth("training")) call.random();
  call.output(call.tensor("input"));
  return {};
}

Result<void> nan_rule(OperatorCall& call) {
  call.output(call.tensor("input"));
  return {};
}

constexpr std::string_view k_unary = "Tensor input";
constexpr std::string_view k_in_place = "Tensor input, bool inplace=False";

constexpr std::array k_elementwise_rows = {
    OperatorRow{"abs", k_unary, "tmi torch.absolute x.absolute", keep_type},
    OperatorRow{"neg", k_unary, "tmi torch.negative x.negative", keep_type},
    OperatorRow{"sign", k_unary, "tmi torch.sgn", keep_type},
    OperatorRow{"floor", k_unary, "tmi", keep_type},
    OperatorRow{"ceil", k_unary, "tmi", keep_type},
    OperatorRow{"round", "Tensor input, int decimals=0", "tmi", keep_type},
    OperatorRow{"trunc", k_unary, "tmi torch.fix", keep_type},
    OperatorRow{"frac", k_unary, "tmi", keep_type},
    OperatorRow{"square", k_unary, "tmi", keep_type},
    OperatorRow{"clone", k_unary, "tm", keep_type},
    OperatorRow{"contiguous", k_unary, "m", keep_type},
    OperatorRow{"exp", k_unary, "tmi", float_type},
    OperatorRow{"exp2", k_unary, "tmi torch.special.exp2", float_type},
    OperatorRow{"expm1", k_unary, "tmi torch.special.expm1", float_type},
    OperatorRow{"log", k_unary, "tmi", float_type},
    OperatorRow{"log2", k_unary, "tmi", float_type},
    OperatorRow{"log10", k_unary, "tmi", float_type},
    OperatorRow{"log1p", k_unary, "tmi torch.special.log1p", float_type},
    OperatorRow{"sqrt", k_unary, "tmi", float_type},
    OperatorRow{"rsqrt", k_unary, "tmi", float_type},
    OperatorRow{"reciprocal", k_unary, "tmi", float_type},
    OperatorRow{"sin", k_unary, "tmi", float_type},
    OperatorRow{"cos", k_unary, "tmi", float_type},
    OperatorRow{"tan", k_unary, "tmi", float_type},
    OperatorRow{"asin", k_unary, "tmi torch.arcsin", float_type},
    OperatorRow{"acos", k_unary, "tmi torch.arccos", float_type},
    OperatorRow{"atan", k_unary, "tmi torch.arctan", float_type},
    OperatorRow{"sinh", k_unary, "tmi", float_type},
    OperatorRow{"cosh", k_unary, "tmi", float_type},
    OperatorRow{"asinh", k_unary, "tmi torch.arcsinh", float_type},
    OperatorRow{"acosh", k_unary, "tmi torch.arccosh", float_type},
    OperatorRow{"atanh", k_unary, "tmi torch.arctanh", float_type},
    OperatorRow{"erf", k_unary, "tmi torch.special.erf", float_type},
    OperatorRow{"erfc", k_unary, "tmi torch.special.erfc", float_type},
    OperatorRow{"erfinv", k_unary, "tmi torch.special.erfinv", float_type},
    OperatorRow{"lgamma", k_unary, "tmi", float_type},
    OperatorRow{"digamma", k_unary, "tmi", float_type},
    OperatorRow{"sinc", k_unary, "tmi", float_type},
    OperatorRow{"logit", "Tensor input, float? eps=None", "tmi torch.special.logit", float_type},
    OperatorRow{"deg2rad", k_unary, "tmi", float_type},
    OperatorRow{"rad2deg", k_unary, "tmi", float_type},
    OperatorRow{"isnan", k_unary, "tm", boolean_type},
    OperatorRow{"isinf", k_unary, "tm", boolean_type},
    OperatorRow{"isfinite", k_unary, "tm", boolean_type},
    OperatorRow{"logical_not", k_unary, "tmi", boolean_type},
    OperatorRow{"bitwise_not", k_unary, "tmi", keep_type},
    OperatorRow{"clamp", "Tensor input, Operand? min=None, Operand? max=None", "tmi torch.clip x.clip x.clip_",
                clamp_rule},
    OperatorRow{"clamp_min", "Tensor input, Operand min", "tmi", keep_type},
    OperatorRow{"clamp_max", "Tensor input, Operand max", "tmi", keep_type},
    OperatorRow{"nan_to_num", "Tensor input, float nan=0.0, float? posinf=None, float? neginf=None", "tmi", nan_rule},
};

constexpr std::array k_activation_rows = {
    OperatorRow{"sigmoid", k_unary, "tfmi torch.special.expit", float_type},
    OperatorRow{"tanh", k_unary, "tfmi", float_type},
    OperatorRow{"relu", k_in_place, "tfmi", keep_type},
    OperatorRow{"relu6", k_in_place, "f", keep_type},
    OperatorRow{"leaky_relu", "Tensor input, float negative_slope=0.01, bool inplace=False",
                "fi torch.nn.functional.leaky_relu_", keep_type},
    OperatorRow{"elu", "Tensor input, float alpha=1.0, bool inplace=False", "fi", keep_type},
    OperatorRow{"selu", k_in_place, "tfi", keep_type},
    OperatorRow{"celu", "Tensor input, float alpha=1.0, bool inplace=False", "tf", keep_type},
    OperatorRow{"gelu", "Tensor input, str approximate='none'", "f", keep_type},
    OperatorRow{"silu", k_in_place, "f", keep_type},
    OperatorRow{"mish", k_in_place, "f", keep_type},
    OperatorRow{"hardtanh", "Tensor input, float min_val=-1.0, float max_val=1.0, bool inplace=False", "f", keep_type},
    OperatorRow{"hardswish", k_in_place, "f", keep_type},
    OperatorRow{"hardsigmoid", k_in_place, "f", keep_type},
    OperatorRow{"softplus", "Tensor input, float beta=1.0, float threshold=20.0", "f", keep_type},
    OperatorRow{"softsign", k_unary, "f", keep_type},
    OperatorRow{"softshrink", "Tensor input, float lambd=0.5", "f", keep_type},
    OperatorRow{"hardshrink", "Tensor input, float lambd=0.5", "tf x.hardshrink", keep_type},
    OperatorRow{"tanhshrink", k_unary, "f", keep_type},
    OperatorRow{"threshold", "Tensor input, float threshold, float value, bool inplace=False", "tf", keep_type},
    OperatorRow{"logsigmoid", k_unary, "f", keep_type},
    OperatorRow{"prelu", "Tensor input, Tensor weight", "tfm", prelu_rule},
    OperatorRow{
        "rrelu",
        "Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False, bool inplace=False",
        "tf", rrelu_rule},
    OperatorRow{"glu", "Tensor input, int dim=-1", "f", glu_rule},
    OperatorRow{"dropout", "Tensor input, float p=0.5, bool training=True, bool inplace=False", "tf", dropout_rule},
    OperatorRow{"dropout1d", "Tensor input, float p=0.5, bool training=True, bool inplace=False", "f", dropout_rule},
    OperatorRow{"dropout2d", "Tensor input, float p=0.5, bool training=True, bool inplace=False", "f", dropout_rule},
    OperatorRow{"dropout3d", "Tensor input, float p=0.5, bool training=True, bool inplace=False", "f", dropout_rule},
    OperatorRow{"alpha_dropout", "Tensor input, float p=0.5, bool training=False, bool inplace=False", "f",
                dropout_rule},
};

}  // namespace

std::span<const OperatorRow> elementwise_rows() {
  return k_elementwise_rows;
}

std::span<const OperatorRow> activation_operator_rows() {
  return k_activation_rows;
}

}  // namespace kw
