#pragma once
// A tensor program as it was read from a PyTorch module: what the user wrote, node by node, in PyTorch's names. Plain
// data; the reader makes it, everything else only reads it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "program/graph/element_type.hpp"
#include "program/graph/extent.hpp"

namespace kw {

struct TensorType {
  ElementType dtype = ElementType::float32;
  Shape shape;  ///< outermost axis first; dense and row-major where it is an input or a parameter
};

/// A value of the graph it stands in.
struct ValueRef {
  std::size_t value = 0;
};

/// monostate: None.
using ArgumentValue = std::variant<std::monostate, ValueRef, std::vector<ValueRef>, bool, Extent, double, std::string,
                                   Shape, ElementType>;

/// What an operator was called with, under the name that PyTorch's documentation gives it.
struct Argument {
  std::string name;
  ArgumentValue value;
  bool is_default = false;  ///< left out, or given as PyTorch's default
  bool is_tensor = false;   ///< an operand: a tensor, tensors, None, or a number in the place of a tensor
};

/// One call of an operator. Arguments stand in the order of PyTorch's signature; attributes that follow from the shapes
/// of operands (in_channels, num_features) stand behind them.
struct Node {
  std::string op;  ///< "conv2d"
  std::vector<Argument> arguments;
  std::vector<std::size_t> outputs;  ///< values; at least one
  SourcePlace where;                 ///< of the call in the file
  std::string module;   ///< the submodule that was called, as in state_dict(): "layers.0.conv"; may be empty
  bool random = false;  ///< each call gives another result: dropout in training mode, torch.rand

  /// The argument of that name; null when there is none.
  [[nodiscard]] const Argument* find(std::string_view name) const;
};

/// Of any kind, in training mode or not.
[[nodiscard]] bool is_dropout(const Node& node);

struct GraphValue {
  TensorType type;
  std::optional<std::size_t> node;  ///< that computes it; absent for an input or a parameter
  std::string name;                 ///< of an input or a parameter
};

/// Nodes in the order of execution; a node's operands come before it.
struct Graph {
  std::vector<GraphValue> values;
  std::vector<Node> nodes;

  [[nodiscard]] const TensorType& type(ValueRef tensor) const { return values[tensor.value].type; }
};

/// How the elements of a tensor are drawn, where one rule says it.
struct ElementDistribution {
  enum class Kind : std::uint8_t { uniform, normal, integers, constant };
  Kind kind = Kind::uniform;
  double first = 0.0;   ///< uniform, integers: the least value; normal: the mean; constant: the value
  double second = 1.0;  ///< uniform, integers: above all values; normal: the standard deviation

  /// "uniform[0,1)", "randint[0,2)", "normal(0,1)", "constant(1)"
  [[nodiscard]] std::string text() const;
};

/// An argument of forward(), in its order.
struct ProgramInput {
  std::string name;
  std::optional<TensorType> type;  ///< absent for a number
  double number = 0.0;             ///< what get_inputs() gives for a number; forward() was read with it
  std::size_t value = 0;           ///< of a tensor: in Program::graph
  std::size_t source = 0;          ///< of a tensor: the value in Program::sources that get_inputs() gives
  std::optional<ElementDistribution> distribution;  ///< absent where `source` is not drawn by one rule
};

enum class ParameterKind : std::uint8_t {
  parameter,
  buffer,
  unsaved,  ///< a tensor that is not in state_dict(): a buffer with persistent=False, or a plain attribute
};

/// A tensor that the module holds.
struct Parameter {
  std::string name;  ///< as in state_dict(): "conv.weight"
  ParameterKind kind = ParameterKind::parameter;
  TensorType type;
  std::optional<std::size_t> value;  ///< in Program::graph; absent when forward() does not read it
  std::size_t source = 0;            ///< the value in Program::sources that __init__ gave it
  std::size_t created = 0;           ///< grows in the order in which __init__ made them
  std::optional<ElementDistribution>
      distribution;  ///< as PyTorch initialises it; absent where `source` is no single rule
};

/// A named integer of the file.
struct ProgramAxis {
  std::string name;
  std::int64_t extent = 0;
};

enum class ProgramMode : std::uint8_t {
  train,
  eval,
  train_no_dropout,  ///< training, but dropout is the identity: what is random cannot be checked
};
[[nodiscard]] std::string_view to_string(ProgramMode mode);
/// By its name: "train", "eval" or "train_no_dropout".
[[nodiscard]] std::optional<ProgramMode> program_mode_named(std::string_view name);
/// What `self.training` says.
[[nodiscard]] inline bool is_training(ProgramMode mode) {
  return mode != ProgramMode::eval;
}

struct Program {
  std::string name;  ///< of the class
  ProgramMode mode = ProgramMode::train;
  std::vector<ProgramAxis> axes;  ///< in the order of the file
  std::vector<ProgramInput> inputs;
  std::vector<Parameter> parameters;  ///< in the order of state_dict(), those that are not in it last
  std::vector<std::size_t> outputs;   ///< values of `graph`, a nested result in its order
  Graph graph;                        ///< what forward() computes
  Graph sources;                      ///< how get_inputs() and __init__ make inputs and parameters

  /// Whether a node of the graph gives another result each time it is computed.
  [[nodiscard]] bool is_random() const;
};

/// The rule that a value is drawn by: of random and constant tensors, and such that were scaled and moved by numbers.
[[nodiscard]] std::optional<ElementDistribution> distribution_of(const Graph& sources, std::size_t value);

}  // namespace kw
