#pragma once
// The rows of the table in mod_calls.hpp and what a row's handler is given.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "spec/mod_tracer.hpp"
#include "spec/mod_value.hpp"

namespace kw {

struct CallRow;
struct CallSite {
  ModTracer& tracer;
  const CallRow& row;
  const std::string& shown;  ///< the function as the user wrote it
  const SourcePlace& where;
  std::vector<ModValue> arguments;  ///< one per parameter, None where an optional one is absent
};

struct CallRow {
  std::string_view path;        ///< "torch.where"; methods of values are torch functions of their object
  std::string_view parameters;  ///< names separated by spaces; '?' after those that may be absent
  Result<ModValue> (*handler)(CallSite& site);
  ExprOp op = ExprOp::constant;           ///< for handlers that make one node
  std::string_view symbol = {};           ///< for handlers that stand for an operator
  double (*on_number)(double) = nullptr;  ///< for math functions: the value on a number
  bool variadic = false;                  ///< any number of positional arguments
};

struct CallParameter {
  std::string_view name;
  bool optional = false;
};
[[nodiscard]] std::vector<CallParameter> split_parameters(std::string_view parameters);
[[nodiscard]] std::span<const CallRow> call_table();

}  // namespace kw
