#pragma once
// The typed expression a score_mod or mask_mod stands for, after parsing and tracing: a directed acyclic graph in
// topological order, hash-consed, every node typed. The oracle evaluates it directly, codegen prints it as source, the
// analyses read it. Semantics are FlexAttention's: indices are 32-bit integers, `//` and `%` floor as in Python, `/`
// always gives a float, bool promotes to int promotes to float.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "spec/tensor.hpp"

namespace kw {

enum class ScalarType : std::uint8_t { boolean, integer, real };

enum class ExprOp : std::uint8_t {
  // leaves
  constant,  ///< ModExpr::integer (boolean and integer types) or ModExpr::real
  score,     ///< the scaled score, real
  batch,     ///< b
  head,      ///< h, the query head
  query,     ///< q_idx
  key,       ///< kv_idx
  axis,      ///< an axis of the problem by name (ModExpr::name), such as Hq: bound when a workload is chosen
  // arithmetic; both operands have the node's type
  add,
  subtract,
  multiply,
  divide,  ///< real only
  floor_divide,
  modulo,  ///< Python floor semantics, integer or real
  power,   ///< real only
  negate,
  minimum,
  maximum,
  absolute,
  // bits, on booleans (logical) and integers
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shift_left,
  shift_right,
  // comparisons: operands of one type, result boolean
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  select,  ///< args: condition, if true, if false
  // real functions of one argument
  exp,
  exp2,
  log,
  log2,
  tanh,
  sigmoid,
  sqrt,
  rsqrt,
  floor,
  // conversions; to_integer truncates towards zero as torch's .to(torch.int32) does
  to_real,
  to_integer,
  to_boolean,
  erf,  ///< real
  // captured tensors; ModExpr::name is the capture's
  gather,       ///< args: one integer index per dimension. A negative index counts from the end, as in PyTorch; what is
                ///< still outside reads the nearest element, so that lanes past a sequence's end are harmless
  lower_bound,  ///< made by analyses only: how many elements of a sorted row are less than a value, as an integer.
                ///< args: the indices of all dimensions but the last, then the value, of the capture's type
  upper_bound,  ///< the same for "less than or equal"
};

using ExprId = std::int32_t;

struct ModExpr {
  ExprOp op = ExprOp::constant;
  ScalarType type = ScalarType::real;
  std::vector<ExprId> args;  ///< ids smaller than this node's own
  std::int64_t integer = 0;
  double real = 0.0;
  std::string name;   ///< of an axis or a capture
  SourcePlace where;  ///< in the mod's text; line and column count from 1 within the mod
};

/// What a mod may know of a captured tensor: everything but the values, which a workload brings.
struct ModCapture {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::string> axes;  ///< outermost first; none for a single value. At most 4
  bool sorted = false;            ///< never decreases along the last axis
  double low = 0.0;               ///< bounds that hold for every value there may be; may be infinite, never NaN
  double high = 0.0;
};
/// The type of an element in an expression.
[[nodiscard]] ScalarType scalar_type(DType dtype);

/// A traced mod. Nodes are in topological order; `root` is the result: real for a score_mod, boolean for a mask_mod.
struct ModFunction {
  std::string name;    ///< the Python function's name, or "<lambda>"
  std::string source;  ///< the text as the user wrote it
  std::vector<ModExpr> nodes;
  ExprId root = -1;
  std::vector<ModCapture> captures;  ///< at least those that nodes name

  /// The capture a node names; it must be there.
  [[nodiscard]] const ModCapture& capture(const std::string& capture_name) const;
};

}  // namespace kw
