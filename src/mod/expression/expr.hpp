#pragma once
// The typed expression a score_mod or mask_mod stands for, after parsing and tracing: a directed acyclic graph in
// topological order, hash-consed, every node typed. The oracle evaluates it directly, codegen prints it as source, the
// analyses read it. Semantics are FlexAttention's: indices are 32-bit integers, `//` and `%` floor as in Python, `/`
// always gives a float, bool promotes to int promotes to float.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "tensor/tensor.hpp"

namespace kw {

/// Part of every problem's hash: never renumber.
enum class ScalarType : std::uint8_t { boolean = 0, integer = 1, real = 2 };

/// Part of every problem's hash: never renumber; a new one takes the next number.
enum class ExprOp : std::uint8_t {
  // leaves
  constant = 0,  ///< ModExpr::integer (boolean and integer types) or ModExpr::real
  score = 1,     ///< the scaled score, real
  batch = 2,     ///< b
  head = 3,      ///< h, the query head
  query = 4,     ///< q_idx
  key = 5,       ///< kv_idx
  axis = 6,      ///< an axis of the problem by name (ModExpr::name), such as Hq: bound when a workload is chosen
  // arithmetic; both operands have the node's type
  add = 7,
  subtract = 8,
  multiply = 9,
  divide = 10,  ///< real only
  floor_divide = 11,
  modulo = 12,  ///< Python floor semantics, integer or real
  power = 13,   ///< real only
  negate = 14,
  minimum = 15,
  maximum = 16,
  absolute = 17,
  // bits, on booleans (logical) and integers
  bit_and = 18,
  bit_or = 19,
  bit_xor = 20,
  bit_not = 21,
  shift_left = 22,
  shift_right = 23,
  // comparisons: operands of one type, result boolean
  less = 24,
  less_equal = 25,
  greater = 26,
  greater_equal = 27,
  equal = 28,
  not_equal = 29,
  select = 30,  ///< args: condition, if true, if false
  // real functions of one argument
  exp = 31,
  exp2 = 32,
  log = 33,
  log2 = 34,
  tanh = 35,
  sigmoid = 36,
  sqrt = 37,
  rsqrt = 38,
  floor = 39,
  // conversions; to_integer truncates towards zero as torch's .to(torch.int32) does
  to_real = 40,
  to_integer = 41,
  to_boolean = 42,
  erf = 43,  ///< real
  // captured tensors; ModExpr::name is the capture's
  gather = 44,  ///< args: one integer index per dimension. A negative index counts from the end, as in PyTorch; what is
                ///< still outside reads the nearest element, so that lanes past a sequence's end are harmless
  lower_bound = 45,  ///< made by analyses only: how many elements of a sorted row are less than a value, as an integer.
                     ///< args: the indices of all dimensions but the last, then the value, of the capture's type
  upper_bound = 46,  ///< the same for "less than or equal"
  // real functions
  sin = 47,
  cos = 48,
  round = 49,  ///< to the nearest whole number; halves to the even one
  fmod = 50,   ///< two args; the remainder of a division rounded towards zero, with the sign of the dividend
};

/// What an operation costs a processor, coarsely.
enum class OpClass { leaf, arithmetic, division, transcendental, gather };
[[nodiscard]] OpClass op_class(ExprOp op);

using ExprId = std::int32_t;

/// Where a node lies among its function's.
[[nodiscard]] inline std::size_t node_index(ExprId id) {
  return static_cast<std::size_t>(id);
}

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

/// What an `assert` of a mod promises of the axes, for whoever knows the extents: no part of the mod's value.
struct ModAssertion {
  std::vector<ModExpr> nodes;  ///< constants, axes and what is made of them; the last one is the condition, a boolean
  std::string text;            ///< what the assert says where it fails; may be empty
};

/// A traced mod. Nodes are in topological order; `root` is the result: real for a score_mod, boolean for a mask_mod.
struct ModFunction {
  std::string name;    ///< the Python function's name, or "<lambda>"
  std::string source;  ///< the text as the user wrote it
  std::vector<ModExpr> nodes;
  ExprId root = -1;
  std::vector<ModCapture> captures;  ///< at least those that nodes name
  std::vector<ModAssertion> assertions;

  /// The capture a node names; it must be there.
  [[nodiscard]] const ModCapture& capture(const std::string& capture_name) const;
};

}  // namespace kw
