#pragma once
// The typed scalar expressions of stages: constants, indices of axes, elements of tensors at integer indices, and
// functions of them. Nodes are immutable and shared: what is used twice is one node, which printers may give a name.
// Nothing here evaluates or prints.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "program/graph/graph.hpp"

namespace kw {

/// What a value is, whatever it is stored as.
enum class StageType : std::uint8_t { truth, integer, real };
[[nodiscard]] StageType stage_type_of(ElementType type);

enum class StageOp : std::uint8_t {
  // leaves
  integer,  ///< a constant, symbolic in the module's axes
  real,
  axis,    ///< the index along an axis of the stage
  load,    ///< an element of a tensor; operands are its indices
  result,  ///< in an epilogue: what was reduced
  // of numbers; both operands have the type of the result
  add,
  subtract,
  multiply,
  minimum,  ///< NaN when either is
  maximum,
  negate,
  absolute,
  // of integers
  floor_divide,
  floor_modulo,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  // of reals
  divide,
  power,
  fmod,
  atan2,
  hypot,
  copysign,
  fmax,  ///< the other one when one is NaN
  fmin,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sqrt,
  rsqrt,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  erfc,
  lgamma,
  floor,
  ceil,
  trunc,
  round,          ///< halves to the even number
  round_to_tf32,  ///< as program/graph/precision.hpp
  // truths
  less,
  less_equal,
  equal,
  not_equal,
  both,
  either,
  negation,
  // choice: condition, value where it holds, value where it does not; only the chosen one is evaluated
  select,
  // conversions
  to_integer,  ///< towards zero
  to_real,
  to_truth,
};

/// A tensor as a stage reads it: a buffer of the program, dense and row-major in this shape.
struct TensorView {
  std::size_t buffer = 0;
  TensorType type;
};

struct StageNode;

/// Absent when made without arguments.
class StageExpr {
 public:
  StageExpr() = default;
  StageExpr(int constant) : StageExpr(Extent(constant)) {}  // NOLINT(google-explicit-constructor): formulas
  StageExpr(const Extent& constant);                        // NOLINT(google-explicit-constructor): formulas
  StageExpr(double constant);                               // NOLINT(google-explicit-constructor): formulas
  explicit StageExpr(StageNode node);

  [[nodiscard]] explicit operator bool() const { return node_ != nullptr; }
  [[nodiscard]] const StageNode& operator*() const { return *node_; }
  [[nodiscard]] const StageNode* operator->() const { return node_.get(); }
  [[nodiscard]] const StageNode* get() const { return node_.get(); }

 private:
  std::shared_ptr<const StageNode> node_;
};

struct StageNode {
  StageOp op = StageOp::integer;
  StageType type = StageType::integer;
  Extent integer;
  double real = 0.0;
  std::string axis;   ///< names are unique within a stage
  TensorView tensor;  ///< of a load
  std::vector<StageExpr> operands;
};

using StageIndices = std::vector<StageExpr>;

// Leaves. The type of what was reduced is that of the reduction's body, or an integer for a position.
[[nodiscard]] StageExpr axis_index(const std::string& name);
[[nodiscard]] StageExpr load(const TensorView& tensor, StageIndices indices);
[[nodiscard]] StageExpr reduction_result(StageType type);
[[nodiscard]] StageExpr truth(bool value);

// Operands of different types are converted as arithmetic does: truths to integers, integers to reals.
[[nodiscard]] StageExpr operator+(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr operator-(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr operator*(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr operator/(const StageExpr& a, const StageExpr& b);  ///< of reals
[[nodiscard]] StageExpr operator-(const StageExpr& a);
[[nodiscard]] StageExpr operator<(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr operator<=(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr operator>(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr operator>=(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr operator==(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr operator!=(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr both(const StageExpr& a, const StageExpr& b);  ///< an absent one holds
[[nodiscard]] StageExpr either(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr negation(const StageExpr& a);
[[nodiscard]] StageExpr minimum(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr maximum(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr absolute(const StageExpr& a);
[[nodiscard]] StageExpr floor_divide(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr floor_modulo(const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr select(const StageExpr& condition, const StageExpr& yes, const StageExpr& no);
/// A function of one or two reals, or one of integers.
[[nodiscard]] StageExpr apply(StageOp op, const StageExpr& a);
[[nodiscard]] StageExpr apply(StageOp op, const StageExpr& a, const StageExpr& b);
[[nodiscard]] StageExpr converted(const StageExpr& a, StageType type);

}  // namespace kw
