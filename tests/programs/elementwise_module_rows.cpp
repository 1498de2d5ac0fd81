// Elementwise functions of random modules. What is discontinuous takes exact values alone.

#include <fmt/format.h>

#include "tests/programs/module_drawing.hpp"

namespace kw {
namespace {

struct Function {
  const char* text;
  double most = 0;  ///< of the result; 0: as large as the operand
};

constexpr Function k_continuous[] = {
    {"F.gelu({0})"},
    {"F.gelu({0}, approximate='tanh')"},
    {"F.silu({0})"},
    {"F.mish({0})"},
    {"F.elu({0}, alpha=0.7)"},
    {"F.selu({0})"},
    {"F.celu({0})"},
    {"F.softplus({0})"},
    {"F.softplus({0}, beta=2, threshold=1)"},
    {"F.hardswish({0})"},
    {"F.softsign({0})", 1},
    {"F.logsigmoid({0})"},
    {"F.tanhshrink({0})"},
    {"F.softshrink({0}, 0.3)"},
    {"F.hardsigmoid({0})", 1},
    {"torch.sigmoid({0})", 1},
    {"torch.tanh({0})", 1},
    {"torch.sin({0})", 1},
    {"torch.cos({0})", 1},
    {"torch.atan({0})", 2},
    {"torch.erf({0})", 1},
    {"torch.erfc({0})", 2},
    {"torch.asinh({0})"},
    {"torch.square({0} * 0.5)", 1024},
    {"{0} ** 2 / 16", 256},
    {"torch.exp(torch.clamp({0}, -3, 3))", 20},
    {"torch.exp(-{0} * {0})", 1},
    {"torch.exp2(torch.clamp({0}, -4, 4))", 16},
    {"torch.expm1(torch.clamp({0}, max=2))", 7},
    {"torch.sinh(torch.clamp({0}, -3, 3))", 10},
    {"torch.cosh(torch.clamp({0}, -3, 3))", 10},
    {"torch.log(torch.abs({0}) + 0.5)", 5},
    {"torch.log1p(torch.abs({0}))", 5},
    {"torch.log2({0} * {0} + 1)", 13},
    {"torch.sqrt(torch.abs({0}) + 0.1)"},
    {"torch.rsqrt(torch.abs({0}) + 0.5)", 1.5},
    {"torch.reciprocal(torch.abs({0}) + 0.5)", 2},
    {"1 / (1 + {0} ** 2)", 1},
    {"torch.pow(torch.abs({0}) + 0.1, 1.5)", 600},
    {"torch.logit(torch.sigmoid({0}) * 0.9 + 0.05)", 3},
    {"torch.asin(torch.tanh({0}) * 0.9)", 2},
    {"torch.acos(torch.tanh({0}) * 0.9)", 4},
    {"torch.sinc({0})", 1},
    {"{0} * 0.5 + 1"},
    {"2 - {0}"},
    {"{0} / 3"},
    {"nn.functional.normalize({0}, dim=-1, eps=0.1)", 1},
};

/// Exact values stay exact.
constexpr Function k_exact[] = {
    {"torch.relu({0})"},
    {"torch.abs({0})"},
    {"-{0}"},
    {"F.relu6({0})", 6},
    {"torch.clamp({0}, min=-0.5, max=1)", 1},
    {"F.hardtanh({0}, -1.5, 0.5)", 1.5},
    {"torch.clamp_min({0}, 0.25)"},
    {"torch.nan_to_num({0})"},
    {"{0}.clone()"},
};

/// Of exact values alone.
constexpr Function k_jumping[] = {
    {"torch.floor({0} * 4)", 256},
    {"torch.ceil({0})"},
    {"torch.round({0} * 2)", 128},
    {"torch.trunc({0} * 4)", 256},
    {"torch.sign({0})", 1},
    {"({0} > 0.5).float()", 1},
    {"({0} <= 0).to(torch.float32) * {0}"},
    {"F.threshold({0}, 0.1, -2.0)"},
    {"F.hardshrink({0}, 0.5)"},
    {"{0}.masked_fill({0} < -0.5, 0.125)"},
    {"torch.where({0} > 0, {0}, {0} * 0.25)"},
    {"torch.heaviside({0}, torch.tensor(0.5))", 1},
    {"torch.logical_and({0} > 0, {0} < 1).float()", 1},
    {"torch.frac({0})", 1},
    {"(~({0} > 0)).float()", 1},
};

std::optional<ModuleValue> drawn_function(ModuleDrawer& d, std::span<const Function> functions, std::size_t x,
                                          ModuleElements elements) {
  const auto& one = functions[static_cast<std::size_t>(d.between(0, std::ssize(functions) - 1))];
  const auto& operand = d.value(x);
  const double most = one.most == 0 ? operand.most + 1 : one.most;
  return ModuleValue{one.text, {x}, {}, operand.shape, false, elements, most};
}

std::optional<ModuleValue> continuous(ModuleDrawer& d) {
  const auto x = d.pick(1, 6);
  if (!x) return std::nullopt;
  return drawn_function(d, k_continuous, *x, ModuleElements::rounded);
}

std::optional<ModuleValue> exact(ModuleDrawer& d) {
  const auto x = d.pick(0, 6);
  if (!x) return std::nullopt;
  return drawn_function(d, k_exact, *x, d.value(*x).elements);
}

std::optional<ModuleValue> jumping(ModuleDrawer& d) {
  const auto x = d.pick_if([](const ModuleValue& one) { return one.elements == ModuleElements::exact; });
  if (!x) return std::nullopt;
  return drawn_function(d, k_jumping, *x, ModuleElements::rounded);
}

constexpr Function k_of_two[] = {
    {"{0} + {1}"},
    {"{0} - {1}"},
    {"{0} * {1}", 4096},
    {"{0} / (torch.abs({1}) + 0.5)", 128},
    {"torch.maximum({0}, {1})"},
    {"torch.minimum({0}, {1})"},
    {"torch.lerp({0}, {1}, 0.3)"},
    {"torch.add({0}, {1}, alpha=0.5)"},
    {"torch.sub({0}, {1}, alpha=2)", 192},
    {"torch.rsub({0}, {1})"},
    {"torch.hypot({0}, {1})"},
    {"torch.atan2({0}, torch.abs({1}) + 0.5)", 2},
    {"torch.logaddexp({0}, {1})"},
    {"torch.addcmul({0}, {1}, {0}, value=0.1)", 512},
    {"torch.addcdiv({0}, {1}, torch.abs({0}) + 1, value=0.5)"},
    {"torch.pow(torch.abs({0}) + 0.5, torch.tanh({1}))", 65},
    {"torch.xlogy({0}, torch.abs({1}) + 0.5)", 300},
    {"torch.fmax({0}, {1})"},
    {"torch.where({0} * 0 == 0, {1}, {0})"},
};

std::optional<ModuleValue> of_two(ModuleDrawer& d) {
  const auto x = d.pick(0, 6);
  if (!x) return std::nullopt;
  const auto y = d.partner(*x);
  auto step = drawn_function(d, k_of_two, *x, ModuleElements::rounded);
  step->operands = {*x, y};
  step->most = std::max(step->most, d.value(y).most);
  return step;
}

/// With a parameter that is repeated along some axes of the value, and may have fewer.
std::optional<ModuleValue> with_parameter(ModuleDrawer& d) {
  const auto x = d.pick(1, 5);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  shape.erase(shape.begin(), shape.begin() + (d.chance(2) ? 0 : d.between(0, std::ssize(shape) - 1)));
  for (auto& dim : shape) {
    if (d.chance(2)) dim = dim_of(1);
  }
  auto step = drawn_function(d, k_of_two, *x, ModuleElements::rounded);
  std::string text = step->text;
  for (auto at = text.find("{1}"); at != std::string::npos; at = text.find("{1}")) text.replace(at, 3, "{s}_0");
  step->text = text;
  step->members = {fmt::format("nn.Parameter(torch.randn({}))", shape_list(shape))};
  return step;
}

/// A value against one of its own reductions, repeated.
std::optional<ModuleValue> with_own_mean(ModuleDrawer& d) {
  const auto x = d.pick(1, 5);
  if (!x) return std::nullopt;
  const auto axis = d.spelled(d.axis_of(*x), d.value(*x).shape.size());
  const auto* reduced = d.one_of({"{0}.mean(dim=AXIS, keepdim=True)", "{0}.amax(AXIS, keepdim=True)",
                                  "torch.sum({0}, dim=AXIS, keepdim=True)", "torch.amin({0}, AXIS, True)"});
  std::string text = fmt::format("{{0}} {} {}", d.one_of({"-", "+"}), reduced);
  text.replace(text.find("AXIS"), 4, axis);
  return ModuleValue{text, {*x}, {}, d.value(*x).shape, false, ModuleElements::rounded, d.value(*x).most * 18};
}

std::optional<ModuleValue> learned_slope(ModuleDrawer& d) {
  const auto x = d.pick(2, 5);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  const auto count = d.chance(2) ? dim_of(1) : shape[1];
  return ModuleValue{"{s}_0({0})",    {*x},  {fmt::format("nn.PReLU({})", count.text)},
                     shape,           false, ModuleElements::rounded,
                     d.value(*x).most};
}

std::optional<ModuleValue> gated(ModuleDrawer& d) {
  const auto x = d.pick(1, 5);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  const auto axis = d.axis_of(*x);
  if (shape[axis].value % 2 != 0) return std::nullopt;
  const auto text = fmt::format("F.glu({{0}}, dim={})", d.spelled(axis, shape.size()));
  shape[axis] = floor_divided(shape[axis], 2);
  return ModuleValue{text, {*x}, {}, shape, false, ModuleElements::rounded, d.value(*x).most};
}

constexpr DrawnRow k_rows[] = {
    {"continuous", 16, continuous},
    {"exact", 5, exact},
    {"jumping", 4, jumping},
    {"of_two", 12, of_two},
    {"with_parameter", 8, with_parameter},
    {"with_own_mean", 4, with_own_mean},
    {"learned_slope", 1, learned_slope},
    {"gated", 1, gated},
};

}  // namespace

std::span<const DrawnRow> elementwise_module_rows() {
  return k_rows;
}

}  // namespace kw
