#include "mod/frontend/call_table.hpp"

#include <algorithm>
#include <utility>

#include "mod/frontend/python_numbers.hpp"

namespace kw {

tl::unexpected<Error> CallSite::error(ErrorCode code, std::string message, std::string hint) const {
  return fail(Error{code, std::move(message), std::move(hint), where});
}

Result<ExprId> CallSite::node(std::size_t index) {
  return tracer.node_of(arguments[index], where);
}

Result<ExprId> CallSite::real(std::size_t index) {
  KW_TRY(const auto argument, node(index));
  return tracer.builder().convert(argument, ScalarType::real);
}

Result<std::pair<ExprId, ExprId>> CallSite::common(std::size_t first, std::size_t second) {
  KW_TRY(const auto left, node(first));
  KW_TRY(const auto right, node(second));
  auto& builder = tracer.builder();
  const auto type = std::max(builder.type(left), builder.type(right));
  return std::pair{builder.convert(left, type), builder.convert(right, type)};
}

Result<double> CallSite::number(std::size_t index, double absent) {
  const auto& value = arguments[index];
  if (value.is_none()) return absent;
  if (value.is_number()) return python_float(value);
  const auto name = split_parameters(row.parameters)[index].name;
  return error(errc::mod_unsupported, fmt::format("'{}' of {} is a number known before the kernel runs", name, shown),
               "write the formula out with torch.where");
}

bool CallSite::all_numbers() const {
  return std::all_of(arguments.begin(), arguments.end(),
                     [](const ModValue& value) { return value.is_number() || value.is_none(); });
}

bool CallSite::python_could_know() {
  return std::all_of(arguments.begin(), arguments.end(), [&](const ModValue& value) {
    const auto* traced = value.as<NodeRef>();
    return value.as<TensorRef>() == nullptr && (traced == nullptr || tracer.is_static(traced->id));
  });
}

tl::unexpected<Error> CallSite::refuse_traced(std::string_view instead) const {
  return error(errc::mod_unsupported,
               fmt::format("{} works on Python numbers, but this value is only known in the kernel", shown),
               fmt::format("write {}", instead));
}

std::vector<CallParameter> split_parameters(std::string_view parameters) {
  std::vector<CallParameter> list;
  while (!parameters.empty()) {
    const auto word = parameters.substr(0, parameters.find(' '));
    parameters.remove_prefix(std::min(parameters.size(), word.size() + 1));
    const bool optional = word.back() == '?';
    list.push_back({word.substr(0, word.size() - (optional ? 1 : 0)), optional});
  }
  return list;
}

Result<ModValue> call_real_function(CallSite& site) {
  KW_TRY(const auto node, site.real(0));
  return node_value(site.tracer.builder().unary(site.row.op, node));
}

Result<ModValue> call_operator(CallSite& site) {
  return site.tracer.binary(site.row.symbol, site.arguments[0], site.arguments[1], site.where);
}
Result<ModValue> call_unary_operator(CallSite& site) {
  return site.tracer.unary(site.row.symbol, site.arguments[0], site.where);
}

/// torch.floor leaves integers as they are; ceil is floor on the mirrored axis.
Result<ModValue> call_floor(CallSite& site) {
  KW_TRY(const auto node, site.node(0));
  auto& builder = site.tracer.builder();
  if (builder.type(node) != ScalarType::real) return node_value(node);
  if (site.row.symbol == "floor") return node_value(builder.unary(ExprOp::floor, node));
  return node_value(builder.unary(ExprOp::negate, builder.unary(ExprOp::floor, builder.unary(ExprOp::negate, node))));
}

Result<ModValue> call_absolute(CallSite& site) {
  const auto& value = site.arguments[0];
  if (value.is_number()) {
    const bool negative = python_float(value) < 0.0;
    return python_unary(negative ? "-" : "+", value, site.where);
  }
  KW_TRY(const auto node, site.node(0));
  auto& builder = site.tracer.builder();
  if (builder.type(node) == ScalarType::boolean) return node_value(node);
  return node_value(builder.unary(ExprOp::absolute, node));
}

Result<ModValue> call_extremum(CallSite& site) {
  if (site.arguments[1].is_none()) {
    return site.error(errc::mod_unsupported, fmt::format("{} of one argument reduces a tensor", site.shown),
                      "a mod sees one score at a time; give two arguments");
  }
  KW_TRY(const auto nodes, site.common(0, 1));
  auto& builder = site.tracer.builder();
  if (builder.type(nodes.first) == ScalarType::boolean) {
    const auto op = site.row.op == ExprOp::minimum ? ExprOp::bit_and : ExprOp::bit_or;
    return node_value(builder.binary(op, nodes.first, nodes.second));
  }
  return node_value(builder.binary(site.row.op, nodes.first, nodes.second));
}

std::span<const CallRow> call_table() {
  static const std::vector<CallRow> table = [] {
    std::vector<CallRow> rows;
    for (const auto part : {torch_rows(), rounding_rows(), activation_rows(), creation_rows(), shape_rows(),
                            math_rows(), python_rows(), list_rows(), autograd_rows(), function_rows()}) {
      rows.insert(rows.end(), part.begin(), part.end());
    }
    return rows;
  }();
  return table;
}

}  // namespace kw
