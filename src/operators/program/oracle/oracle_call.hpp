#pragma once
// What the answer of an operator is made from: the node's arguments by the names of PyTorch's signature, its operands,
// and the shapes of its results. Asking for an argument that the operator lacks, or of another type, is a defect.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "operators/program/oracle/operand.hpp"
#include "program/graph/graph.hpp"

namespace kw::program_oracle {

class OracleCall {
 public:
  /// From a value of the graph to its elements.
  using OperandOf = std::function<Operand(std::size_t value)>;

  OracleCall(const Graph& graph, const Node& node, const OperandOf& operand_of)
      : graph_(graph), node_(node), operand_of_(operand_of) {}

  [[nodiscard]] const std::string& op() const { return node_.op; }

  [[nodiscard]] bool has(std::string_view name) const { return node_.find(name) != nullptr; }
  [[nodiscard]] bool given(std::string_view name) const;  ///< the operator has it, and it is not None
  /// A number in the place of a tensor is one without axes.
  [[nodiscard]] Operand tensor(std::string_view name) const;
  [[nodiscard]] std::optional<Operand> optional_tensor(std::string_view name) const;
  [[nodiscard]] std::vector<Operand> tensors(std::string_view name) const;
  /// "input", whose elements become the type of the result first where a dtype is asked for.
  [[nodiscard]] Operand converted_input() const;
  [[nodiscard]] double number(std::string_view name) const;  ///< also of an integer or a boolean
  [[nodiscard]] double number_or(std::string_view name, double otherwise) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] Extents integers(std::string_view name) const;  ///< also of a single one; none for None
  [[nodiscard]] bool truth(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] bool is_text(std::string_view name) const;

  /// Counted from 0, of a tensor with that many axes.
  [[nodiscard]] std::size_t axis(std::string_view name, std::size_t rank) const;
  /// All of them for None and for an empty list.
  [[nodiscard]] std::vector<std::size_t> axes(std::string_view name, std::size_t rank) const;

  [[nodiscard]] std::size_t outputs() const { return node_.outputs.size(); }
  [[nodiscard]] ElementType output_type(std::size_t output = 0) const;
  [[nodiscard]] Extents output_extents(std::size_t output = 0) const;

  /// errc::oracle_unanswered at the place of the call.
  [[nodiscard]] tl::unexpected<Error> refuse(std::string why, std::string hint) const;

 private:
  [[nodiscard]] const ArgumentValue& value(std::string_view name) const;

  const Graph& graph_;
  const Node& node_;
  const OperandOf& operand_of_;
};

/// The axis that PyTorch's `written` means: negative ones count from behind.
[[nodiscard]] std::size_t axis_of(std::int64_t written, std::size_t rank);

}  // namespace kw::program_oracle
