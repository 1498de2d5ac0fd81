#pragma once
// The rules of PyTorch's operators: one row each, with the names it is called by, its signature and what its result
// looks like. The rows stand in the files *_rows.cpp, by theme; the reader asks for them by name.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/graph/graph.hpp"
#include "program/operators/operator_call.hpp"
#include "program/operators/schema.hpp"

namespace kw {

struct OperatorRow {
  std::string_view name;    ///< of the node: "conv2d"
  std::string_view schema;  ///< schema.hpp
  /// How it is called: 't' torch.NAME, 'f' torch.nn.functional.NAME, 'm' x.NAME(...), 'i' also in place (NAME_);
  /// then, after spaces, other names: "torch.multiply", "x.mul" for a method, "F.log_softmax".
  std::string_view calls;
  Result<void> (*rule)(OperatorCall& call);
  bool random = false;  ///< whatever its arguments are
};

/// A name that people write and that is not read, with the reason and what to write instead.
struct RefusedOperator {
  std::string_view path;
  std::string_view why;
  std::string_view hint;
};

[[nodiscard]] std::span<const OperatorRow> elementwise_rows();
[[nodiscard]] std::span<const OperatorRow> activation_operator_rows();
[[nodiscard]] std::span<const OperatorRow> binary_rows();
[[nodiscard]] std::span<const OperatorRow> reduction_rows();
[[nodiscard]] std::span<const OperatorRow> scan_rows();
[[nodiscard]] std::span<const OperatorRow> layout_rows();
[[nodiscard]] std::span<const OperatorRow> joining_rows();
[[nodiscard]] std::span<const OperatorRow> indexing_rows();
[[nodiscard]] std::span<const OperatorRow> creation_operator_rows();
[[nodiscard]] std::span<const OperatorRow> product_rows();
[[nodiscard]] std::span<const OperatorRow> recurrence_rows();
[[nodiscard]] std::span<const OperatorRow> convolution_rows();
[[nodiscard]] std::span<const OperatorRow> pooling_rows();
[[nodiscard]] std::span<const OperatorRow> normalisation_rows();
[[nodiscard]] std::span<const OperatorRow> loss_rows();
[[nodiscard]] std::span<const RefusedOperator> refused_operators();

struct FoundOperator {
  const OperatorRow* row = nullptr;
  bool in_place = false;  ///< called as NAME_: the first argument's tensor gets the result
};

/// By a full path: "torch.relu", "torch.nn.functional.relu", or "Tensor.relu" for a method.
[[nodiscard]] std::optional<FoundOperator> find_tensor_operator(std::string_view path);
/// The row of a node; never null for a node of a graph.
[[nodiscard]] const OperatorRow* operator_named(std::string_view name);
[[nodiscard]] const RefusedOperator* find_refused_operator(std::string_view path);
/// The known path that `path` probably meant.
[[nodiscard]] std::optional<std::string> nearest_operator(std::string_view path);

/// Binds the arguments, applies the row's rule and appends the node. Returns its outputs, the first of which is what
/// most operators give. Errors of rules carry `where`.
struct CalledNode {
  std::size_t node = 0;
  std::vector<std::size_t> outputs;
  bool tuple = false;  ///< Python sees a tuple (or a list) of the outputs, also of a single one
};
struct CallSettings {
  std::string shown;  ///< the function as the user wrote it
  SourcePlace where;
  std::string module;
  ProgramMode mode = ProgramMode::train;
  std::size_t most_nodes = 0;
};
[[nodiscard]] Result<CalledNode> call_operator_row(Graph& graph, const OperatorRow& row,
                                                   const std::vector<GivenArgument>& given,
                                                   const CallSettings& settings);

}  // namespace kw
