#include "program/operators/operator_call.hpp"

#include <algorithm>

#include "program/operators/schema.hpp"

namespace kw {

const ArgumentValue& OperatorCall::value(std::string_view name) const {
  const auto* found = node_.find(name);
  KW_CHECK(found != nullptr, "{} has no argument {}", node_.op, name);
  return found->value;
}

bool OperatorCall::given(std::string_view name) const {
  return !std::holds_alternative<std::monostate>(value(name));
}

const TensorType& OperatorCall::tensor(std::string_view name) const {
  return graph_.type(std::get<ValueRef>(value(name)));
}

const TensorType* OperatorCall::optional_tensor(std::string_view name) const {
  const auto* reference = std::get_if<ValueRef>(&value(name));
  return reference == nullptr ? nullptr : &graph_.type(*reference);
}

std::vector<const TensorType*> OperatorCall::tensors(std::string_view name) const {
  std::vector<const TensorType*> types;
  for (const auto& one : std::get<std::vector<ValueRef>>(value(name))) types.push_back(&graph_.type(one));
  return types;
}

const Extent& OperatorCall::integer(std::string_view name) const {
  return std::get<Extent>(value(name));
}

const Shape& OperatorCall::integers(std::string_view name) const {
  return std::get<Shape>(value(name));
}

bool OperatorCall::truth(std::string_view name) const {
  return std::get<bool>(value(name));
}

double OperatorCall::real(std::string_view name) const {
  const auto& held = value(name);
  if (const auto* integer = std::get_if<Extent>(&held)) return static_cast<double>(integer->value());
  return std::get<double>(held);
}

const std::string& OperatorCall::text(std::string_view name) const {
  return std::get<std::string>(value(name));
}

Result<std::size_t> OperatorCall::axis(std::string_view name, std::size_t rank) const {
  return axis(integer(name), name, rank);
}

Result<std::size_t> OperatorCall::axis(const Extent& written, std::string_view name, std::size_t rank) const {
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  const auto index = written.value();
  if (index < -most || index >= most) {
    return value_error(fmt::format("{} {} of {} is out of range for a tensor of {} axes", name, index, shown_, rank),
                       fmt::format("write a number from {} to {}", -most, most - 1));
  }
  return static_cast<std::size_t>(index < 0 ? index + most : index);
}

Result<std::vector<std::size_t>> OperatorCall::axes(std::string_view name, std::size_t rank) const {
  std::vector<std::size_t> found;
  const auto* list = std::get_if<Shape>(&value(name));
  if (const auto* single = std::get_if<Extent>(&value(name))) {
    KW_TRY(const auto one, axis(*single, name, rank));
    return std::vector<std::size_t>{one};
  }
  if (list == nullptr || list->empty()) {
    for (std::size_t i = 0; i < rank; ++i) found.push_back(i);
    return found;
  }
  for (const auto& written : *list) {
    KW_TRY(const auto one, axis(written, name, rank));
    if (std::find(found.begin(), found.end(), one) != found.end()) {
      return value_error(fmt::format("{} of {} names axis {} twice", name, shown_, one));
    }
    found.push_back(one);
  }
  return found;
}

void OperatorCall::canonical(std::string_view name, ArgumentValue value) {
  const auto found = std::find_if(node_.arguments.begin(), node_.arguments.end(),
                                  [&](const Argument& one) { return one.name == name; });
  KW_CHECK(found != node_.arguments.end(), "{} has no argument {}", node_.op, name);
  found->value = std::move(value);
}

void OperatorCall::derive(std::string name, ArgumentValue value) {
  node_.arguments.push_back({std::move(name), std::move(value), false, false});
}

tl::unexpected<Error> OperatorCall::shape_error(std::string message, std::string hint) const {
  return fail_at(errc::program_shape, node_.where, std::move(message), std::move(hint));
}

tl::unexpected<Error> OperatorCall::value_error(std::string message, std::string hint) const {
  return fail_at(errc::program_value, node_.where, std::move(message), std::move(hint));
}

tl::unexpected<Error> OperatorCall::type_error(std::string message, std::string hint) const {
  return fail_at(errc::program_type, node_.where, std::move(message), std::move(hint));
}

tl::unexpected<Error> OperatorCall::unsupported(std::string message, std::string hint) const {
  return fail_at(errc::program_unsupported, node_.where, std::move(message), std::move(hint));
}

Result<void> OperatorCall::require_rank(std::string_view name, std::size_t least, std::size_t most) const {
  const auto& shape = tensor(name).shape;
  if (shape.size() >= least && shape.size() <= most) return {};
  const auto wanted = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  return shape_error(
      fmt::format("'{}' of {} has {} axes {}, not {}", name, shown_, shape.size(), argument_text(shape), wanted));
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  const auto& longer = a.size() >= b.size() ? a : b;
  const auto& shorter = a.size() >= b.size() ? b : a;
  Shape shape = longer;
  const auto offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    auto& extent = shape[i + offset];
    if (shorter[i] == extent) {
      if (extent.is_constant()) extent = shorter[i];
    } else if (extent.value() == 1) {
      extent = shorter[i];
    } else if (shorter[i].value() != 1) {
      return fail(Error{errc::program_shape,
                        fmt::format("shapes {} and {} do not broadcast: {} against {} on axis {}", argument_text(a),
                                    argument_text(b), extent.value(), shorter[i].value(), i + offset)});
    }
  }
  return shape;
}

ElementType OperatorCall::result_type(std::initializer_list<const char*> names) const {
  // By priority: tensors with axes, tensors without, numbers.
  std::optional<ElementType> by_priority[3];
  for (const auto* name : names) {
    const auto* operand = &value(name);
    std::size_t priority = 2;
    std::optional<ElementType> type;
    if (const auto* tensor = std::get_if<ValueRef>(operand)) {
      priority = graph_.type(*tensor).shape.empty() ? 1 : 0;
      type = graph_.type(*tensor).dtype;
    } else if (std::holds_alternative<double>(*operand)) {
      type = ElementType::float32;
    } else if (std::holds_alternative<Extent>(*operand)) {
      type = ElementType::int64;
    } else if (std::holds_alternative<bool>(*operand)) {
      type = ElementType::boolean;
    }
    if (!type) continue;
    auto& into = by_priority[priority];
    into = into ? promoted(*into, *type) : *type;
  }
  std::optional<ElementType> result;
  for (const auto& type : by_priority) {
    if (!type) continue;
    if (!result || category_of(*type) > category_of(*result)) result = type;
  }
  return result.value_or(ElementType::float32);
}

ElementType as_float(ElementType type) {
  return is_floating(type) ? type : ElementType::float32;
}

Result<void> keep_type(OperatorCall& call) {
  call.output(call.tensor("input"));
  return {};
}

Result<void> float_type(OperatorCall& call) {
  const auto& input = call.tensor("input");
  call.output(as_float(input.dtype), input.shape);
  return {};
}

Result<void> boolean_type(OperatorCall& call) {
  call.output(ElementType::boolean, call.tensor("input").shape);
  return {};
}

}  // namespace kw
