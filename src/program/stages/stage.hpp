#pragma once
// A tensor program in index notation: each stage computes the elements of one buffer,
//   out[i, j] = epilogue(reduce(op, over k, body))
// over named axes. Plain data; lower.hpp makes it of a graph. Extents are symbolic in the module's axes, so that one
// program serves many shapes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/stages/expression.hpp"

namespace kw {

struct StageAxis {
  std::string name;  ///< unique within the stage
  Extent extent;
};
using StageAxes = std::vector<StageAxis>;

/// Elements that a guard leaves out do not count; without any the result is the neutral element.
enum class ReduceOp : std::uint8_t {
  sum,
  product,
  maximum,  ///< NaN when an element is
  minimum,
  argmax,  ///< the position of the first of the largest; NaN counts as the largest
  argmin,
  any,
  all,
  log_sum_exp,
};
[[nodiscard]] std::string_view to_string(ReduceOp op);

enum class StageKind : std::uint8_t {
  map,     ///< a body per element
  reduce,  ///< `inner` axes are reduced
  scan,    ///< the running reduction along the axis of the output that `inner` names; ties go to the last
  /// A body per element, or a reduction over `inner` where there is any, of a recurrence. Its axes are sequences, which
  /// know nothing of each other, steps and features. Steps of one node run together, one after the other, and in each
  /// all of its stages in their order; a stage reads what others of the node left in this step or the one before it.
  step,
};

struct Stage {
  StageKind kind = StageKind::map;
  std::optional<std::size_t> node;  ///< of the graph; absent for the copy of an input
  std::size_t buffer = 0;           ///< that it writes, all of it
  StageAxes axes;                   ///< of the output, outermost first
  StageAxes inner;                  ///< in the order in which elements are met
  ReduceOp op = ReduceOp::sum;
  bool backwards = false;         ///< of steps: the last one comes first
  bool in_parts = false;          ///< a long sum that sequential rounding would spoil: gather it in short parts
  bool rounds_factors = false;    ///< of f32, to tf32 where they are multiplied; see rounding.hpp
  std::vector<StageExpr> guards;  ///< all of them must hold for an element to count
  StageExpr body;
  StageExpr position;  ///< what argmax and argmin give for an element
  StageExpr epilogue;  ///< of reduction_result(); absent: the result itself
  /// Where an element goes, as a load of the stage's own buffer; absent: the buffer is dense in the order of the axes.
  StageExpr place;
};

/// Whether an element is what was reduced, rather than a body.
[[nodiscard]] bool reduces(const Stage& stage);
/// Of the elements that it computes.
[[nodiscard]] StageType result_type_of(const Stage& stage);

enum class BufferUse : std::uint8_t { input, output, scratch };

struct StageBuffer {
  std::string name;  ///< of an input as the graph has it; of others after the operator; unique
  BufferUse use = BufferUse::scratch;
  TensorType type;                   ///< dense and row-major
  std::optional<std::size_t> value;  ///< of the graph, whose elements these are
};

/// Stages in the order in which they run, those of a recurrence behind one another. A value that only has another shape
/// (view, flatten) has no buffer of its own.
struct StageProgram {
  std::vector<StageBuffer> buffers;
  std::vector<Stage> stages;
  std::vector<std::size_t> outputs;  ///< buffers, in the order in which they were asked for
};

/// The stages of each recurrence, in their order.
[[nodiscard]] std::vector<std::vector<std::size_t>> recurrences_of(const StageProgram& program);

/// In index notation, a line per stage, each operator's under its name and place: for `explain` and tests.
[[nodiscard]] std::string stages_text(const StageProgram& program, const Graph& graph);
/// One stage: "y[n, c] = sum over k of x[n, k] * weight[c, k]".
[[nodiscard]] std::string stage_text(const StageProgram& program, const Stage& stage);

}  // namespace kw
