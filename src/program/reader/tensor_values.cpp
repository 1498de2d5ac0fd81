// Where the values of tensors before forward() come from: rules that draw them, torch.nn.init, and numbers that are
// written.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "program/reader/interpreter.hpp"

namespace kw {
namespace {

/// Numbers and texts that a function of torch.nn.init is given, by position or by name.
struct InitArguments {
  const PyArguments& arguments;

  [[nodiscard]] const PyValue* find(std::size_t index, std::string_view keyword) const {
    return index < arguments.positional.size() ? &arguments.positional[index] : arguments.keyword(keyword);
  }
  [[nodiscard]] double number(std::size_t index, std::string_view keyword, double otherwise) const {
    const auto* value = find(index, keyword);
    return value == nullptr ? otherwise : number_of(*value).value_or(otherwise);
  }
  [[nodiscard]] std::string text(std::size_t index, std::string_view keyword, const char* otherwise) const {
    const auto* value = find(index, keyword);
    const auto* written = value == nullptr ? nullptr : value->get<std::string>();
    return written == nullptr ? otherwise : *written;
  }
};

ElementDistribution spread_by(bool normal, double deviation) {
  if (normal) return {ElementDistribution::Kind::normal, 0.0, deviation};
  return {ElementDistribution::Kind::uniform, -deviation * std::sqrt(3.0), deviation * std::sqrt(3.0)};
}

/// https://pytorch.org/docs/stable/nn.init.html: fans are counted along axis 1 and axis 0, times what lies behind.
std::optional<ElementDistribution> scaled_by_fans(std::string_view name, const Shape& shape,
                                                  const InitArguments& given) {
  const bool xavier = name == "xavier_uniform_" || name == "xavier_normal_";
  const bool kaiming = name == "kaiming_uniform_" || name == "kaiming_normal_";
  if ((!xavier && !kaiming) || shape.size() < 2) return std::nullopt;
  double field = 1.0;
  for (std::size_t i = 2; i < shape.size(); ++i) field *= static_cast<double>(shape[i].value());
  const double fan_in = static_cast<double>(shape[1].value()) * field;
  const double fan_out = static_cast<double>(shape[0].value()) * field;
  const bool normal = name.ends_with("normal_");
  if (xavier) return spread_by(normal, given.number(0, "gain", 1.0) * std::sqrt(2.0 / (fan_in + fan_out)));
  const double slope = given.number(0, "a", 0.0);
  const auto nonlinearity = given.text(2, "nonlinearity", "leaky_relu");
  double gain = 1.0;
  if (nonlinearity == "relu") gain = std::sqrt(2.0);
  if (nonlinearity == "leaky_relu") gain = std::sqrt(2.0 / (1.0 + slope * slope));
  if (nonlinearity == "tanh") gain = 5.0 / 3.0;
  const double fan = given.text(1, "mode", "fan_in") == "fan_out" ? fan_out : fan_in;
  return spread_by(normal, gain / std::sqrt(std::max(fan, 1.0)));
}

/// A normal distribution cut off at both ends, by the normal one that spreads as far: with `k` deviations left on
/// either side the variance is 1 - 2 k phi(k) / (2 Phi(k) - 1) of the uncut one's.
ElementDistribution truncated_normal(const InitArguments& given) {
  const double mean = given.number(0, "mean", 0.0), deviation = given.number(1, "std", 1.0);
  const double k =
      std::min(mean - given.number(2, "a", -2.0), given.number(3, "b", 2.0) - mean) / std::max(deviation, 1e-300);
  const double inside = std::erf(k / std::numbers::sqrt2);  // 2 Phi(k) - 1
  const double density = std::exp(-k * k / 2.0) / std::sqrt(2.0 * std::numbers::pi);
  const double left = k > 0.0 && inside > 0.0 ? 1.0 - 2.0 * k * density / inside : 1.0;
  return {ElementDistribution::Kind::normal, mean, deviation * std::sqrt(std::max(left, 0.0))};
}

std::optional<ElementDistribution> initial_values(std::string_view name, const Shape& shape,
                                                  const InitArguments& given) {
  using Kind = ElementDistribution::Kind;
  if (name == "normal_")
    return ElementDistribution{Kind::normal, given.number(0, "mean", 0.0), given.number(1, "std", 1.0)};
  if (name == "uniform_")
    return ElementDistribution{Kind::uniform, given.number(0, "a", 0.0), given.number(1, "b", 1.0)};
  if (name == "zeros_" || name == "zero_") return ElementDistribution{Kind::constant, 0.0, 0.0};
  if (name == "ones_") return ElementDistribution{Kind::constant, 1.0, 0.0};
  if (name == "constant_" || name == "fill_")
    return ElementDistribution{Kind::constant, given.number(0, "val", 0.0), 0.0};
  if (name == "trunc_normal_") return truncated_normal(given);
  if (name == "orthogonal_" && shape.size() >= 2) {  // rows, or columns, of length 1
    double columns = 1.0;
    for (std::size_t i = 1; i < shape.size(); ++i) columns *= static_cast<double>(shape[i].value());
    const double longest = std::max(columns, static_cast<double>(shape[0].value()));
    return spread_by(true, given.number(0, "gain", 1.0) / std::sqrt(std::max(longest, 1.0)));
  }
  return scaled_by_fans(name, shape, given);
}

/// All of it: a literal has as many numbers as its own text, and whoever computes with the tensor reads them here.
std::string literal_text(const PyValue& value) {
  const auto* items = value.object<PySequence>();
  if (items == nullptr) {
    const auto number = number_of(value);
    return number ? fmt::format("{}", *number) : "?";
  }
  std::string text = "[";
  for (const auto& item : items->items) {
    text += (text.size() > 1 ? ", " : "") + literal_text(item);
  }
  return text + "]";
}

}  // namespace

Result<PyValue> PyInterpreter::make_source(const Shape& shape, const ElementDistribution& distribution,
                                           ElementType dtype, const SourcePlace& where) {
  const bool constant = distribution.kind == ElementDistribution::Kind::constant;
  const bool normal = distribution.kind == ElementDistribution::Kind::normal;
  std::vector<GivenArgument> given = {{"size", shape, where}, {"dtype", dtype, where}};
  if (constant) {
    given.push_back({"fill_value", distribution.first, where});
  } else {
    given.push_back({normal ? "mean" : "low", distribution.first, where});
    given.push_back({normal ? "std" : "high", distribution.second, where});
  }
  const auto* row = operator_named(constant ? "full" : normal ? "normal" : "uniform");
  return call_operator(*row, given, std::string(row->name), where, program_.sources);
}

Result<void> PyInterpreter::literal_shape(const PyValue& value, std::size_t level, Shape& shape, int& category,
                                          const SourcePlace& where) {
  constexpr std::size_t k_deepest = 8;
  const auto* items = value.object<PySequence>();
  if (items == nullptr) {
    if (!number_of(value) || level != shape.size())
      return fail_at(errc::program_type, where, fmt::format("torch.tensor of {} among numbers", kind_text(value)),
                     "give numbers, or lists of equal lengths");
    category = std::max(category, value.get<double>() != nullptr ? 2 : value.get<Extent>() != nullptr ? 1 : 0);
    return {};
  }
  KW_TRY_VOID(charge(static_cast<std::int64_t>(items->items.size()), where));
  const auto count = static_cast<std::int64_t>(items->items.size());
  if (level == shape.size() && level < k_deepest) shape.emplace_back(count);
  if (level >= shape.size() || shape[level].value() != count)
    return fail_at(errc::program_shape, where, "the lists of torch.tensor have different lengths");
  for (std::size_t i = 0; i < items->items.size(); ++i) {
    // The first item says how deep the lists are.
    if (i > 0 && (items->items[i].object<PySequence>() == nullptr) != (items->items[0].object<PySequence>() == nullptr))
      return fail_at(errc::program_shape, where, "numbers and lists side by side in torch.tensor");
    KW_TRY_VOID(literal_shape(items->items[i], level + 1, shape, category, where));
  }
  return {};
}

Result<PyValue> PyInterpreter::tensor_literal(const PyArguments& arguments, const SourcePlace& where) {
  if (arguments.positional.empty()) return fail_at(errc::program_call, where, "torch.tensor needs its values");
  const auto& value = arguments.positional[0];
  if (value.object<TensorBox>() != nullptr) return value;
  Shape shape;
  int category = value.object<PySequence>() == nullptr ? 0 : -1;
  KW_TRY_VOID(literal_shape(value, 0, shape, category, where));
  auto dtype = category == 0 ? ElementType::boolean : category == 1 ? ElementType::int64 : ElementType::float32;
  if (const auto* asked = arguments.keyword("dtype"); asked != nullptr && asked->get<ElementType>() != nullptr)
    dtype = *asked->get<ElementType>();
  if (const auto number = number_of(value))
    return make_source({}, {ElementDistribution::Kind::constant, *number, 0.0}, dtype, where);
  const std::vector<GivenArgument> given = {
      {"size", shape, where}, {"values", literal_text(value), where}, {"dtype", dtype, where}};
  return call_operator(*operator_named("tensor"), given, "torch.tensor", where, program_.sources);
}

/// nn.init.NAME(tensor) and tensor.NAME() for what gives a tensor new values before forward().
Result<std::optional<PyValue>> PyInterpreter::initialise(TensorBox& tensor, const std::string& name,
                                                         const PyArguments& arguments, const SourcePlace& where) {
  const auto type = type_of(tensor);
  const auto drawn = initial_values(name, type.shape, {arguments});
  if (!drawn || in_forward_) return std::optional<PyValue>();
  KW_TRY(const auto made, make_source(type.shape, *drawn, type.dtype, where));
  KW_TRY_VOID(change(tensor, made, where));
  return PyValue{&tensor};
}

namespace {

/// Which element of its first operand, a row, a node's output is.
std::optional<std::int64_t> index_in_row(const Node& part, std::size_t output) {
  if (part.op == "unbind") return std::ranges::find(part.outputs, output) - part.outputs.begin();
  const auto* at = part.op == "select" ? part.find("index") : nullptr;
  const auto* index = at == nullptr ? nullptr : std::get_if<Extent>(&at->value);
  return index == nullptr ? std::nullopt : std::optional(index->value());
}

double number_of(const Node& node, std::string_view name) {
  const auto* given = node.find(name);
  const auto* integer = given == nullptr ? nullptr : std::get_if<Extent>(&given->value);
  const auto* real = given == nullptr ? nullptr : std::get_if<double>(&given->value);
  return integer != nullptr ? static_cast<double>(integer->value()) : real != nullptr ? *real : std::nan("");
}

/// Of arange() and linspace().
std::optional<double> number_in_row(const Node& row, std::int64_t index, std::int64_t size) {
  const auto at = static_cast<double>(index < 0 ? index + size : index);
  const double first = number_of(row, "start");
  if (row.op == "arange") return first + at * number_of(row, "step");
  if (row.op != "linspace") return std::nullopt;
  return size < 2 ? first : first + (number_of(row, "end") - first) * at / static_cast<double>(size - 1);
}

}  // namespace

std::optional<double> PyInterpreter::known_number(std::size_t value) const {
  const auto& sources = program_.sources;
  const auto distribution = distribution_of(sources, value);
  if (distribution && distribution->kind == ElementDistribution::Kind::constant) return distribution->first;
  if (!sources.values[value].node) return std::nullopt;
  const auto& part = sources.nodes[*sources.values[value].node];
  const auto* row = part.arguments.empty() ? nullptr : std::get_if<ValueRef>(&part.arguments.front().value);
  const auto index = index_in_row(part, value);
  if (row == nullptr || !index) return std::nullopt;
  const auto& numbers = sources.values[row->value];
  if (numbers.type.shape.size() != 1 || !numbers.node) return std::nullopt;
  return number_in_row(sources.nodes[*numbers.node], *index, numbers.type.shape[0].value());
}

}  // namespace kw
