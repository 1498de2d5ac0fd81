#pragma once
// What the rule of an operator is given: the bound arguments, and places for what it finds out.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "program/errors.hpp"
#include "program/graph/graph.hpp"

namespace kw {

class OperatorCall {
 public:
  OperatorCall(const Graph& graph, Node& node, std::string shown)
      : graph_(graph), node_(node), shown_(std::move(shown)) {}

  [[nodiscard]] const std::string& shown() const { return shown_; }
  [[nodiscard]] const Node& node() const { return node_; }

  // By name; asking for one that the schema lacks, or of another type, is a defect.
  [[nodiscard]] const ArgumentValue& value(std::string_view name) const;
  [[nodiscard]] bool given(std::string_view name) const;  ///< it is not None
  [[nodiscard]] const TensorType& tensor(std::string_view name) const;
  [[nodiscard]] const TensorType* optional_tensor(std::string_view name) const;  ///< null for None and for numbers
  [[nodiscard]] std::vector<const TensorType*> tensors(std::string_view name) const;
  /// The type of an operation on these operands, of which some may be numbers or None (torch.result_type).
  [[nodiscard]] ElementType result_type(std::initializer_list<const char*> names) const;
  [[nodiscard]] const Extent& integer(std::string_view name) const;
  [[nodiscard]] const Shape& integers(std::string_view name) const;
  [[nodiscard]] bool truth(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;

  /// The axis that `name` means for a tensor of that rank, counted from 0; a single number counts as one axis.
  [[nodiscard]] Result<std::size_t> axis(std::string_view name, std::size_t rank) const;
  [[nodiscard]] Result<std::size_t> axis(const Extent& written, std::string_view name, std::size_t rank) const;
  /// Distinct axes, in the order they are written; all of them for None and for an empty list.
  [[nodiscard]] Result<std::vector<std::size_t>> axes(std::string_view name, std::size_t rank) const;

  void output(ElementType dtype, Shape shape) { outputs_.push_back({dtype, std::move(shape)}); }
  void output(TensorType type) { outputs_.push_back(std::move(type)); }
  /// Python sees a tuple of the outputs.
  void as_tuple() { tuple_ = true; }
  void random() { node_.random = true; }
  /// Replaces an argument by its canonical form; whether it was the default stays.
  void canonical(std::string_view name, ArgumentValue value);
  /// Adds an attribute that follows from the operands.
  void derive(std::string name, ArgumentValue value);

  [[nodiscard]] const std::vector<TensorType>& outputs() const { return outputs_; }
  [[nodiscard]] bool is_tuple() const { return tuple_; }

  [[nodiscard]] tl::unexpected<Error> shape_error(std::string message, std::string hint = {}) const;
  [[nodiscard]] tl::unexpected<Error> value_error(std::string message, std::string hint = {}) const;
  [[nodiscard]] tl::unexpected<Error> type_error(std::string message, std::string hint = {}) const;
  [[nodiscard]] tl::unexpected<Error> unsupported(std::string message, std::string hint) const;
  /// Refuses another rank; `what` is the argument's name.
  [[nodiscard]] Result<void> require_rank(std::string_view name, std::size_t least, std::size_t most) const;

 private:
  const Graph& graph_;
  Node& node_;
  std::string shown_;
  std::vector<TensorType> outputs_;
  bool tuple_ = false;
};

/// The shape both broadcast to; errc::program_shape when they do not fit.
[[nodiscard]] Result<Shape> broadcast(const Shape& a, const Shape& b);
/// The same float, or float32 for integers and booleans.
[[nodiscard]] ElementType as_float(ElementType type);

// Rules shared by rows of several files.
[[nodiscard]] Result<void> keep_type(OperatorCall& call);     ///< "input" as it is
[[nodiscard]] Result<void> float_type(OperatorCall& call);    ///< "input", integers become floats
[[nodiscard]] Result<void> boolean_type(OperatorCall& call);  ///< the shape of "input", booleans

}  // namespace kw
