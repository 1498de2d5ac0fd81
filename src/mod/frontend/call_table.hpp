#pragma once
// The rows of the table in mod_calls.hpp and what a row's handler is given. The rows stand in mod_torch_rows.cpp,
// mod_activation_rows.cpp, mod_creation_rows.cpp and mod_python_rows.cpp.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "mod/frontend/tracer.hpp"
#include "mod/frontend/value.hpp"

namespace kw {

struct CallRow;
struct CallSite {
  ModTracer& tracer;
  const CallRow& row;
  const std::string& shown;  ///< the function as the user wrote it
  const SourcePlace& where;
  std::vector<ModValue> arguments;                         ///< one per parameter, None where an optional one is absent
  std::vector<std::pair<std::string, ModValue>> keywords;  ///< of a variadic row only

  [[nodiscard]] tl::unexpected<Error> error(ErrorCode code, std::string message, std::string hint = {}) const;
  [[nodiscard]] Result<ExprId> node(std::size_t index);
  /// The same, converted to a float.
  [[nodiscard]] Result<ExprId> real(std::size_t index);
  /// Two arguments in the type both promote to.
  [[nodiscard]] Result<std::pair<ExprId, ExprId>> common(std::size_t first, std::size_t second);
  /// A float that Python knows; `absent` for None.
  [[nodiscard]] Result<double> number(std::size_t index, double absent);
  /// Every argument is None or a number Python knows.
  [[nodiscard]] bool all_numbers() const;
  /// ... or made of axes, so that Python could know it.
  [[nodiscard]] bool python_could_know();
  [[nodiscard]] tl::unexpected<Error> refuse_traced(std::string_view instead) const;
};

struct CallRow {
  std::string_view path;        ///< "torch.where"; methods of values are torch functions of their object
  std::string_view parameters;  ///< names separated by spaces; '?' after those that may be absent
  Result<ModValue> (*handler)(CallSite& site);
  ExprOp op = ExprOp::constant;           ///< for handlers that make one node
  std::string_view symbol = {};           ///< for handlers that stand for an operator
  double (*on_number)(double) = nullptr;  ///< for math functions: the value on a number
  bool variadic = false;                  ///< any number of positional arguments
  bool keywords = false;                  ///< a variadic row that reads keyword arguments itself
};

struct CallParameter {
  std::string_view name;
  bool optional = false;
};
[[nodiscard]] std::vector<CallParameter> split_parameters(std::string_view parameters);
/// All rows.
[[nodiscard]] std::span<const CallRow> call_table();

[[nodiscard]] std::span<const CallRow> torch_rows();
[[nodiscard]] std::span<const CallRow> activation_rows();
[[nodiscard]] std::span<const CallRow> creation_rows();
[[nodiscard]] std::span<const CallRow> math_rows();
[[nodiscard]] std::span<const CallRow> rounding_rows();
[[nodiscard]] std::span<const CallRow> shape_rows();
[[nodiscard]] std::span<const CallRow> python_rows();
[[nodiscard]] std::span<const CallRow> list_rows();
[[nodiscard]] std::span<const CallRow> autograd_rows();
[[nodiscard]] std::span<const CallRow> function_rows();

struct RefusedCall {
  std::string_view path;
  std::string_view why;
  std::string_view hint;
};
[[nodiscard]] std::span<const RefusedCall> refused_calls();
/// Null when `path` is not listed.
[[nodiscard]] const RefusedCall* refused_call(std::string_view path);

// Handlers of more than one file.
[[nodiscard]] Result<ModValue> call_real_function(CallSite& site);
[[nodiscard]] Result<ModValue> call_operator(CallSite& site);
[[nodiscard]] Result<ModValue> call_unary_operator(CallSite& site);
/// Leaves integers as they are; ceil, by the row's symbol, is floor on the mirrored axis.
[[nodiscard]] Result<ModValue> call_floor(CallSite& site);
[[nodiscard]] Result<ModValue> call_absolute(CallSite& site);
[[nodiscard]] Result<ModValue> call_extremum(CallSite& site);

[[nodiscard]] inline ModValue node_value(ExprId id) {
  return ModValue{NodeRef{id}};
}
/// The type that a dtype's name, such as "torch.int64", means here; nothing for those that are refused.
[[nodiscard]] std::optional<ScalarType> scalar_type_named(std::string_view dtype);
/// `value` as a node of that type; a captured tensor remembers it for its elements.
[[nodiscard]] Result<ModValue> cast_value(CallSite& site, const ModValue& value, ScalarType type);

}  // namespace kw
