#pragma once
// A graph under change: readers of a value get another one, nodes become other nodes, nodes are put before others.
// Values keep their numbers, so that inputs and parameters stay what they are.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/graph/graph.hpp"

namespace kw {

class GraphRewriter {
 public:
  /// `outputs` are values of the graph.
  GraphRewriter(Graph graph, std::vector<std::size_t> outputs);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const std::vector<std::size_t>& outputs() const { return outputs_; }
  [[nodiscard]] const TensorType& type(std::size_t value) const { return graph_.values[value].type; }
  /// Null for an input or a parameter, and for a node of several results.
  [[nodiscard]] const Node* maker(std::size_t value) const;
  /// How often nodes and outputs read the value.
  [[nodiscard]] std::size_t readers(std::size_t value) const { return reads_[value]; }

  /// Readers of `value` read `other`, whose elements and type are the same.
  void replace(std::size_t value, std::size_t other);
  /// Node `index` becomes another one with the same first result and no other. Its place in the file stays.
  void become(std::size_t index, const std::string& op, std::vector<Argument> arguments);
  /// A node before node `index`, whose place in the file it gets; `index` then names the new one. Gives its result.
  std::size_t insert(std::size_t index, const std::string& op, std::vector<Argument> arguments, TensorType type);
  /// Nodes that no output needs go.
  void drop_unread();

 private:
  void number_makers();
  void count_reads(const Node& node, int times);

  Graph graph_;
  std::vector<std::size_t> outputs_;
  std::vector<std::size_t> reads_;  ///< by value; counted as the graph changes, since rules ask for them at every node
};

// Arguments of nodes.
[[nodiscard]] Argument tensor_argument(const std::string& name, std::size_t value);
[[nodiscard]] Argument attribute(const std::string& name, ArgumentValue value);
/// The operand; absent where it is no single tensor.
[[nodiscard]] std::optional<std::size_t> operand_of(const Node& node, std::string_view name);
/// A number that is the same for every binding of the axes.
[[nodiscard]] std::optional<double> number_of(const Node& node, std::string_view name);
/// The axes that `name` lists, counted from 0; all of them where it lists none.
[[nodiscard]] std::vector<std::size_t> axes_of(const Node& node, std::string_view name, std::size_t rank);
[[nodiscard]] bool flag_of(const Node& node, std::string_view name);
/// Element type, and extents for every binding.
[[nodiscard]] bool same_type(const TensorType& a, const TensorType& b);

}  // namespace kw
