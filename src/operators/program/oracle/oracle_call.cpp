#include "operators/program/oracle/oracle_call.hpp"

#include <algorithm>
#include <utility>

#include "operators/program/oracle/dense_tensor.hpp"
#include "operators/program/oracle/oracle_errors.hpp"

namespace kw::program_oracle {
namespace {

/// A number that stands where a tensor may stand.
Operand number_operand(const ArgumentValue& value) {
  if (const auto* integer = std::get_if<Extent>(&value))
    return Operand::number(ElementType::int64, static_cast<double>(integer->value()));
  if (const auto* truth = std::get_if<bool>(&value)) return Operand::number(ElementType::boolean, *truth ? 1.0 : 0.0);
  return Operand::number(ElementType::float32, std::get<double>(value));
}

}  // namespace

const ArgumentValue& OracleCall::value(std::string_view name) const {
  const auto* found = node_.find(name);
  KW_CHECK(found != nullptr, "{} has no argument {}", node_.op, name);
  return found->value;
}

bool OracleCall::given(std::string_view name) const {
  const auto* found = node_.find(name);
  return found != nullptr && !std::holds_alternative<std::monostate>(found->value);
}

Operand OracleCall::tensor(std::string_view name) const {
  const auto& held = value(name);
  if (const auto* reference = std::get_if<ValueRef>(&held)) return operand_of_(reference->value);
  return number_operand(held);
}

std::optional<Operand> OracleCall::optional_tensor(std::string_view name) const {
  if (!given(name)) return std::nullopt;
  return tensor(name);
}

std::vector<Operand> OracleCall::tensors(std::string_view name) const {
  std::vector<Operand> operands;
  for (const auto& one : std::get<std::vector<ValueRef>>(value(name))) operands.push_back(operand_of_(one.value));
  return operands;
}

Operand OracleCall::converted_input() const {
  auto input = tensor("input");
  const auto type = output_type();
  if (!given("dtype") || is_floating(type)) return input;
  return {type, input.extents(), [input, type](std::int64_t i) { return held_as(type, input[i]); }};
}

double OracleCall::number(std::string_view name) const {
  const auto& held = value(name);
  if (const auto* integer = std::get_if<Extent>(&held)) return static_cast<double>(integer->value());
  if (const auto* truth = std::get_if<bool>(&held)) return *truth ? 1.0 : 0.0;
  return std::get<double>(held);
}

double OracleCall::number_or(std::string_view name, double otherwise) const {
  return given(name) ? number(name) : otherwise;
}

std::int64_t OracleCall::integer(std::string_view name) const {
  return std::get<Extent>(value(name)).value();
}

Extents OracleCall::integers(std::string_view name) const {
  const auto& held = value(name);
  if (std::holds_alternative<std::monostate>(held)) return {};
  if (const auto* single = std::get_if<Extent>(&held)) return {single->value()};
  return values_of(std::get<Shape>(held));
}

bool OracleCall::truth(std::string_view name) const {
  return std::get<bool>(value(name));
}

const std::string& OracleCall::text(std::string_view name) const {
  return std::get<std::string>(value(name));
}

bool OracleCall::is_text(std::string_view name) const {
  return std::holds_alternative<std::string>(value(name));
}

std::size_t OracleCall::axis(std::string_view name, std::size_t rank) const {
  return axis_of(integer(name), rank);
}

std::vector<std::size_t> OracleCall::axes(std::string_view name, std::size_t rank) const {
  std::vector<std::size_t> found;
  for (const auto written : integers(name)) found.push_back(axis_of(written, rank));
  if (found.empty()) {
    for (std::size_t i = 0; i < rank; ++i) found.push_back(i);
  }
  return found;
}

ElementType OracleCall::output_type(std::size_t output) const {
  return graph_.values[node_.outputs[output]].type.dtype;
}

Extents OracleCall::output_extents(std::size_t output) const {
  return values_of(graph_.values[node_.outputs[output]].type.shape);
}

tl::unexpected<Error> OracleCall::refuse(std::string why, std::string hint) const {
  return fail_at(errc::oracle_unanswered, node_.where, std::move(why), std::move(hint));
}

std::size_t axis_of(std::int64_t written, std::size_t rank) {
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  return static_cast<std::size_t>(written < 0 ? written + most : written);
}

}  // namespace kw::program_oracle
