#pragma once
// What the decomposition of an operator is given: the node's arguments as tensors, numbers and expressions, and places
// for the stages it makes. Arguments were checked when the graph was read, so asking for what cannot be is a defect.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// Where a stage's elements go: an output of the node, or a scratch buffer of that name.
struct StageTarget {
  std::optional<std::size_t> output;
  std::string name;
};

class Decomposition {
 public:
  /// `views` has how each value of the graph can be read; `wanted` which values anybody reads.
  Decomposition(const Graph& graph, std::size_t node, const std::vector<bool>& wanted, StageProgram& program,
                std::vector<std::optional<TensorView>>& views)
      : graph_(graph), node_(node), wanted_(wanted), program_(program), views_(views) {}

  // Arguments by the names of the schema.
  [[nodiscard]] const Node& node() const { return graph_.nodes[node_]; }
  [[nodiscard]] const std::string& op() const { return node().op; }
  [[nodiscard]] bool given(std::string_view name) const;  ///< it is there, and not None
  [[nodiscard]] bool is_tensor(std::string_view name) const;
  [[nodiscard]] TensorView tensor(std::string_view name) const;
  [[nodiscard]] std::vector<TensorView> tensors(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] const Extent& integer(std::string_view name) const;
  [[nodiscard]] Shape integers(std::string_view name) const;  ///< a single one is a list of it; none for None
  [[nodiscard]] bool flag(std::string_view name) const;       ///< false where the operator has no such argument
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] StageExpr number(std::string_view name) const;
  /// Counted from 0; a single number has one axis.
  [[nodiscard]] std::size_t axis(std::string_view name, std::size_t rank) const;
  /// All of them for None and for an empty list.
  [[nodiscard]] std::vector<std::size_t> axes(std::string_view name, std::size_t rank) const;
  /// The element of a tensor, broadcast to `frame`, or a number.
  [[nodiscard]] StageExpr operand(std::string_view name, const StageAxes& frame) const;

  // Results.
  [[nodiscard]] const TensorType& result(std::size_t output = 0) const;
  [[nodiscard]] bool wanted(std::size_t output) const;
  /// The output's axes.
  [[nodiscard]] StageAxes frame(std::size_t output = 0) const;

  /// Stages. The shape of the buffer is that of the stage's axes; an output may see the same elements in another one.
  TensorView add(const StageTarget& target, Stage stage);
  TensorView map(const StageTarget& target, StageAxes axes, StageExpr body);
  void map(std::size_t output, StageAxes axes, StageExpr body);
  /// A buffer of `axes` that stages read before it is written, and the stage that writes it, which has those axes.
  TensorView declare(const StageTarget& target, const StageAxes& axes, StageType type);
  void define(const TensorView& declared, Stage stage);
  /// Over several axes one after the other, the last one first: less work in a row and smaller errors of rounding.
  TensorView reduce_in_parts(const StageTarget& target, Stage stage);
  /// An output that is a tensor's elements in another shape.
  void alias(std::size_t output, const TensorView& tensor);

  [[nodiscard]] tl::unexpected<Error> unsupported(std::string message, std::string hint = {}) const;

 private:
  [[nodiscard]] const ArgumentValue& value(std::string_view name) const;
  [[nodiscard]] std::string buffer_name(const std::string& suffix) const;

  const Graph& graph_;
  std::size_t node_;
  const std::vector<bool>& wanted_;
  StageProgram& program_;
  std::vector<std::optional<TensorView>>& views_;
};

[[nodiscard]] inline StageTarget to_output(std::size_t output = 0) {
  return {output, {}};
}
[[nodiscard]] inline StageTarget to_scratch(std::string name) {
  return {std::nullopt, std::move(name)};
}

// Axes and indices.
/// i, j, k, ... for the axes of a shape.
[[nodiscard]] StageAxes named_axes(const Shape& shape);
/// With the names of `names`, as many as the shape has axes.
[[nodiscard]] StageAxes named_axes(const Shape& shape, const std::vector<std::string>& names);
[[nodiscard]] StageIndices indices_of(const StageAxes& axes);
/// The element of a tensor at the place in `frame` to which it broadcasts.
[[nodiscard]] StageExpr read(const TensorView& tensor, const StageAxes& frame);
/// How many elements there are, as a real. The product may be more than an int holds.
[[nodiscard]] StageExpr real_count(const StageAxes& axes);
/// Conditions for 0 <= index < extent.
[[nodiscard]] StageExpr inside(const StageExpr& index, const Extent& extent);
/// What a value of `type` is read as where another one is wanted, such as an integer operand of a division.
[[nodiscard]] StageExpr as_type(const StageExpr& value, ElementType type);

/// Axes of `frame` split: `kept` and `reduced`, each in their order.
struct SplitAxes {
  StageAxes kept;
  StageAxes reduced;
};
[[nodiscard]] SplitAxes split_axes(const StageAxes& frame, const std::vector<std::size_t>& reduced);
/// `tensor`, whose axes are the kept ones, with axes of 1 in the place of the reduced ones.
[[nodiscard]] TensorView with_kept_axes(TensorView tensor, const Shape& whole, const std::vector<std::size_t>& reduced);

}  // namespace kw
