// PyTorch's activations, written as its documentation writes them.

#include <array>
#include <cmath>
#include <numbers>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/special_functions.hpp"

namespace kw::program_oracle {
namespace {

double sigmoid_of(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}
double relu_of(double x) {
  return larger_of(x, 0.0);
}
double between(double x, double least, double most) {
  return smaller_of(larger_of(x, least), most);
}
double selu_of(double x) {
  constexpr double k_alpha = 1.6732632423543772848170429916717;
  constexpr double k_scale = 1.0507009873554804934193349852946;
  return k_scale * (x > 0.0 ? x : k_alpha * std::expm1(x));
}

template <double (*function)(double)>
Result<Answer> activation(const OracleCall& call) {
  return each_in_place([input = call.tensor("input")](std::int64_t i) { return function(input[i]); });
}

/// With one number that the call gives.
template <typename Function>
Result<Answer> set_activation(const OracleCall& call, const char* name, Function function) {
  return each_in_place([input = call.tensor("input"), setting = call.number(name), function](std::int64_t i) {
    return function(input[i], setting);
  });
}

/// With two of them.
template <typename Function>
Result<Answer> twice_set_activation(const OracleCall& call, const char* first, const char* second, Function function) {
  return each_in_place([input = call.tensor("input"), one = call.number(first), two = call.number(second),
                        function](std::int64_t i) { return function(input[i], one, two); });
}

Result<Answer> leaky_relu(const OracleCall& call) {
  return set_activation(call, "negative_slope", [](double x, double slope) { return x > 0.0 ? x : x * slope; });
}

Result<Answer> elu(const OracleCall& call) {
  return set_activation(call, "alpha", [](double x, double alpha) { return x > 0.0 ? x : alpha * std::expm1(x); });
}

Result<Answer> celu(const OracleCall& call) {
  return set_activation(call, "alpha",
                        [](double x, double alpha) { return x > 0.0 ? x : alpha * std::expm1(x / alpha); });
}

Result<Answer> softshrink(const OracleCall& call) {
  return set_activation(call, "lambd", [](double x, double lambda) {
    if (std::isnan(x)) return x;
    return x > lambda ? x - lambda : x < -lambda ? x + lambda : 0.0;
  });
}

Result<Answer> hardshrink(const OracleCall& call) {
  return set_activation(call, "lambd", [](double x, double lambda) { return x >= -lambda && x <= lambda ? 0.0 : x; });
}

Result<Answer> hardtanh(const OracleCall& call) {
  return twice_set_activation(call, "min_val", "max_val", between);
}

Result<Answer> threshold(const OracleCall& call) {
  return twice_set_activation(call, "threshold", "value",
                              [](double x, double bound, double value) { return x <= bound ? value : x; });
}

Result<Answer> softplus(const OracleCall& call) {
  return twice_set_activation(call, "beta", "threshold", [](double x, double beta, double bound) {
    return x * beta > bound ? x : std::log1p(std::exp(x * beta)) / beta;
  });
}

double gelu_of(double x) {
  return x * 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double gelu_by_tanh(double x) {
  const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + std::tanh(inner));
}

Result<Answer> gelu(const OracleCall& call) {
  return call.text("approximate") == "tanh" ? activation<gelu_by_tanh>(call) : activation<gelu_of>(call);
}

/// One slope, or one for each channel: axis 1 where there is one.
Result<Answer> prelu(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto weight = call.tensor("weight");
  const bool one = weight.count() == 1;
  const Lines channels(input.extents(), 1);
  return each_in_place([input, weight, one, channels](std::int64_t i) {
    const double x = input[i];
    return x > 0.0 ? x : x * weight[one ? 0 : channels.position_of(i)];
  });
}

/// Outside of training: the middle of the slopes that training draws.
Result<Answer> rrelu(const OracleCall& call) {
  return twice_set_activation(call, "lower", "upper", [](double x, double lower, double upper) {
    return x > 0.0 ? x : x * (lower + upper) / 2.0;
  });
}

/// The first half of the axis times the sigmoid of the second.
Result<Answer> glu(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto axis = call.axis("dim", input.rank());
  const Lines whole(input.extents(), axis);
  const Lines half(call.output_extents(), axis);
  return each_element([input, whole, half](std::int64_t i) {
    const auto first = whole.start(half.line_of(i)) + half.position_of(i) * whole.stride;
    return input[first] * sigmoid_of(input[first + half.length * half.stride]);
  });
}

double unchanged(double x) {
  return x;
}

constexpr std::array k_activation_answers = {
    OracleRow{"sigmoid", activation<sigmoid_of>},
    OracleRow{"tanh", activation<[](double x) { return std::tanh(x); }>},
    OracleRow{"relu", activation<relu_of>},
    OracleRow{"relu6", activation<[](double x) { return between(x, 0.0, 6.0); }>},
    OracleRow{"leaky_relu", leaky_relu},
    OracleRow{"elu", elu},
    OracleRow{"selu", activation<selu_of>},
    OracleRow{"celu", celu},
    OracleRow{"gelu", gelu},
    OracleRow{"silu", activation<[](double x) { return x * sigmoid_of(x); }>},
    OracleRow{"mish", activation<[](double x) { return x * std::tanh(log_one_plus_exp(x)); }>},
    OracleRow{"hardtanh", hardtanh},
    OracleRow{"hardswish", activation<[](double x) { return x * between(x + 3.0, 0.0, 6.0) / 6.0; }>},
    OracleRow{"hardsigmoid", activation<[](double x) { return between(x + 3.0, 0.0, 6.0) / 6.0; }>},
    OracleRow{"softplus", softplus},
    OracleRow{"softsign", activation<[](double x) { return x / (1.0 + std::fabs(x)); }>},
    OracleRow{"softshrink", softshrink},
    OracleRow{"hardshrink", hardshrink},
    OracleRow{"tanhshrink", activation<[](double x) { return x - std::tanh(x); }>},
    OracleRow{"threshold", threshold},
    OracleRow{"logsigmoid", activation<[](double x) { return -log_one_plus_exp(-x); }>},
    OracleRow{"prelu", prelu},
    OracleRow{"rrelu", rrelu},
    OracleRow{"glu", glu},
    // What is left to answer of these is not random.
    OracleRow{"dropout", activation<unchanged>},
    OracleRow{"dropout1d", activation<unchanged>},
    OracleRow{"dropout2d", activation<unchanged>},
    OracleRow{"dropout3d", activation<unchanged>},
    OracleRow{"alpha_dropout", activation<unchanged>},
};

}  // namespace

std::span<const OracleRow> activation_answers() {
  return k_activation_answers;
}

}  // namespace kw::program_oracle
