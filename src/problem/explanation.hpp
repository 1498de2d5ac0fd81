#pragma once
// What an operator proves about one of its problems before any kernel is written: sentences for people, values for
// programs. The command line prints it without knowing the operator.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace kw {

struct ExplainedField;

/// A number, a text, a list or a table, as JSON has them.
struct ExplainedValue {
  using List = std::vector<ExplainedValue>;
  using Table = std::vector<ExplainedField>;
  std::variant<bool, std::int64_t, double, std::string, List, Table> of;
};

struct ExplainedField {
  std::string name;
  ExplainedValue value;
};

struct Explanation {
  std::string counted;  ///< behind the number of operations: "on attended pairs"; may be empty
  std::vector<std::string> lines;
  std::vector<ExplainedField> fields;  ///< beside "problem", "axes", "flops" and "bytes", which every operator has
};

}  // namespace kw
