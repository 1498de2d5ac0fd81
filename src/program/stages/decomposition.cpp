#include "program/stages/decomposition.hpp"

#include <algorithm>

#include "program/errors.hpp"

namespace kw {
namespace {

/// Makes the elements values that a buffer of `type` holds.
void store_as(Stage& stage, ElementType type) {
  if (result_type_of(stage) == stage_type_of(type)) return;
  if (!reduces(stage)) {
    stage.body = as_type(stage.body, type);
  } else {
    stage.epilogue = as_type(stage.epilogue ? stage.epilogue : reduction_result(result_type_of(stage)), type);
  }
}

}  // namespace

const ArgumentValue& Decomposition::value(std::string_view name) const {
  const auto* found = node().find(name);
  KW_CHECK(found != nullptr, "{} has no argument {}", op(), name);
  return found->value;
}

bool Decomposition::given(std::string_view name) const {
  const auto* found = node().find(name);
  return found != nullptr && !std::holds_alternative<std::monostate>(found->value);
}

bool Decomposition::is_tensor(std::string_view name) const {
  return std::holds_alternative<ValueRef>(value(name));
}

TensorView Decomposition::tensor(std::string_view name) const {
  const auto& view = views_[std::get<ValueRef>(value(name)).value];
  KW_CHECK(view.has_value(), "'{}' of {} was not computed", name, op());
  return *view;
}

std::vector<TensorView> Decomposition::tensors(std::string_view name) const {
  std::vector<TensorView> found;
  for (const auto& one : std::get<std::vector<ValueRef>>(value(name))) found.push_back(*views_[one.value]);
  return found;
}

double Decomposition::real(std::string_view name) const {
  const auto& held = value(name);
  if (const auto* integer = std::get_if<Extent>(&held)) return static_cast<double>(integer->value());
  if (const auto* flag = std::get_if<bool>(&held)) return *flag ? 1.0 : 0.0;
  return std::get<double>(held);
}

const Extent& Decomposition::integer(std::string_view name) const {
  return std::get<Extent>(value(name));
}

Shape Decomposition::integers(std::string_view name) const {
  if (!given(name)) return {};
  if (const auto* single = std::get_if<Extent>(&value(name))) return {*single};
  return std::get<Shape>(value(name));
}

bool Decomposition::flag(std::string_view name) const {
  return given(name) && std::get<bool>(value(name));
}

const std::string& Decomposition::text(std::string_view name) const {
  return std::get<std::string>(value(name));
}

StageExpr Decomposition::number(std::string_view name) const {
  const auto& held = value(name);
  if (const auto* integer = std::get_if<Extent>(&held)) return {*integer};
  if (const auto* flag = std::get_if<bool>(&held)) return kw::truth(*flag);
  return {std::get<double>(held)};
}

std::size_t Decomposition::axis(std::string_view name, std::size_t rank) const {
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  const auto written = integer(name).value();
  return static_cast<std::size_t>(written < 0 ? written + most : written);
}

std::vector<std::size_t> Decomposition::axes(std::string_view name, std::size_t rank) const {
  std::vector<std::size_t> found;
  for (const auto& written : integers(name)) {
    const auto most = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
    found.push_back(static_cast<std::size_t>(written.value() < 0 ? written.value() + most : written.value()));
  }
  if (!found.empty()) return found;
  for (std::size_t i = 0; i < rank; ++i) found.push_back(i);
  return found;
}

StageExpr Decomposition::operand(std::string_view name, const StageAxes& frame) const {
  return is_tensor(name) ? read(tensor(name), frame) : number(name);
}

const TensorType& Decomposition::result(std::size_t output) const {
  return graph_.values[node().outputs[output]].type;
}

bool Decomposition::wanted(std::size_t output) const {
  return output < node().outputs.size() && wanted_[node().outputs[output]];
}

StageAxes Decomposition::frame(std::size_t output) const {
  return named_axes(result(output).shape);
}

std::string Decomposition::buffer_name(const std::string& suffix) const {
  constexpr std::size_t k_longest = 20;
  const auto name = fmt::format("{}_{}{}{}", op().substr(0, k_longest), node_, suffix.empty() ? "" : "_", suffix);
  const auto taken = [&](const std::string& wanted) {
    return std::any_of(program_.buffers.begin(), program_.buffers.end(),
                       [&](const StageBuffer& buffer) { return buffer.name == wanted; });
  };
  std::string free = name;
  for (int i = 2; taken(free); ++i) free = fmt::format("{}_{}", name, i);
  return free;
}

TensorView Decomposition::add(const StageTarget& target, Stage stage) {
  auto view = declare(target, stage.axes, result_type_of(stage));
  define(view, std::move(stage));
  return view;
}

TensorView Decomposition::declare(const StageTarget& target, const StageAxes& axes, StageType type) {
  StageBuffer buffer;
  for (const auto& axis : axes) buffer.type.shape.push_back(axis.extent);
  if (target.output) {
    buffer.value = node().outputs[*target.output];
    buffer.type.dtype = result(*target.output).dtype;
    buffer.name = buffer_name(*target.output == 0 ? "" : fmt::format("{}", *target.output));
  } else {
    buffer.type.dtype = type == StageType::real      ? ElementType::float32
                        : type == StageType::integer ? ElementType::int64
                                                     : ElementType::boolean;
    buffer.name = buffer_name(target.name);
  }
  TensorView view{program_.buffers.size(), buffer.type};
  program_.buffers.push_back(std::move(buffer));
  if (target.output) alias(*target.output, view);
  return view;
}

void Decomposition::define(const TensorView& declared, Stage stage) {
  store_as(stage, declared.type.dtype);
  stage.node = node_;
  stage.buffer = declared.buffer;
  program_.stages.push_back(std::move(stage));
}

TensorView Decomposition::map(const StageTarget& target, StageAxes axes, StageExpr body) {
  Stage stage;
  stage.axes = std::move(axes);
  stage.body = std::move(body);
  return add(target, std::move(stage));
}

void Decomposition::map(std::size_t output, StageAxes axes, StageExpr body) {
  map(to_output(output), std::move(axes), std::move(body));
}

TensorView Decomposition::reduce_in_parts(const StageTarget& target, Stage stage) {
  stage.kind = StageKind::reduce;
  stage.in_parts = stage.op == ReduceOp::sum;
  const bool position = stage.op == ReduceOp::argmax || stage.op == ReduceOp::argmin;
  if (stage.inner.size() < 2 || position) return add(target, std::move(stage));
  const auto leading = static_cast<std::ptrdiff_t>(stage.inner.size() - 1);
  Stage part;
  part.kind = StageKind::reduce;
  part.op = stage.op;
  part.in_parts = stage.in_parts;
  part.axes = stage.axes;
  part.axes.insert(part.axes.end(), stage.inner.begin(), stage.inner.begin() + leading);
  part.inner.assign(stage.inner.begin() + leading, stage.inner.end());
  part.guards = std::move(stage.guards);
  part.body = std::move(stage.body);
  const auto parts = add(to_scratch(target.name.empty() ? "part" : target.name + "_part"), part);
  stage.inner.resize(static_cast<std::size_t>(leading));
  stage.guards.clear();
  stage.body = load(parts, indices_of(part.axes));
  return reduce_in_parts(target, std::move(stage));
}

void Decomposition::alias(std::size_t output, const TensorView& tensor) {
  views_[node().outputs[output]] = TensorView{tensor.buffer, result(output)};
}

tl::unexpected<Error> Decomposition::unsupported(std::string message, std::string hint) const {
  return fail_at(errc::program_unsupported, node().where, std::move(message), std::move(hint));
}

StageAxes named_axes(const Shape& shape) {
  constexpr std::string_view k_letters = "ijklmn";
  StageAxes axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    axes.push_back({shape.size() <= k_letters.size() ? std::string(1, k_letters[i]) : fmt::format("i{}", i), shape[i]});
  }
  return axes;
}

StageAxes named_axes(const Shape& shape, const std::vector<std::string>& names) {
  KW_CHECK(shape.size() == names.size(), "{} names of {} axes", names.size(), shape.size());
  StageAxes axes;
  for (std::size_t i = 0; i < shape.size(); ++i) axes.push_back({names[i], shape[i]});
  return axes;
}

StageIndices indices_of(const StageAxes& axes) {
  StageIndices indices;
  for (const auto& axis : axes) indices.push_back(axis_index(axis.name));
  return indices;
}

StageExpr read(const TensorView& tensor, const StageAxes& frame) {
  const auto& shape = tensor.type.shape;
  KW_CHECK(shape.size() <= frame.size(), "{} axes do not broadcast to {}", shape.size(), frame.size());
  const auto offset = frame.size() - shape.size();
  StageIndices indices;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    // An axis that is 1 for this binding alone is followed where the other one is the same axis.
    const auto& axis = frame[i + offset];
    const bool broadcasts = shape[i].value() == 1 && shape[i].text() != axis.extent.text();
    indices.push_back(broadcasts ? StageExpr(0) : axis_index(axis.name));
  }
  return load(tensor, std::move(indices));
}

StageExpr real_count(const StageAxes& axes) {
  Extent constant = 1;
  StageExpr count;
  for (const auto& axis : axes) {
    const auto product = Extent::product(constant, axis.extent);
    if (axis.extent.is_constant() && product) {
      constant = *product;
    } else {
      const auto factor = converted(axis.extent, StageType::real);
      count = count ? count * factor : factor;
    }
  }
  auto factor = converted(constant, StageType::real);
  if (!count) return factor;
  return constant.value() == 1 ? count : count * factor;
}

StageExpr inside(const StageExpr& index, const Extent& extent) {
  return both(index >= 0, index < extent);
}

StageExpr as_type(const StageExpr& value, ElementType type) {
  return converted(value, stage_type_of(type));
}

SplitAxes split_axes(const StageAxes& frame, const std::vector<std::size_t>& reduced) {
  SplitAxes split;
  for (std::size_t i = 0; i < frame.size(); ++i) {
    const bool taken = std::find(reduced.begin(), reduced.end(), i) != reduced.end();
    (taken ? split.reduced : split.kept).push_back(frame[i]);
  }
  return split;
}

TensorView with_kept_axes(TensorView tensor, const Shape& whole, const std::vector<std::size_t>& reduced) {
  tensor.type.shape = whole;
  for (const auto axis : reduced) tensor.type.shape[axis] = 1;
  return tensor;
}

}  // namespace kw
