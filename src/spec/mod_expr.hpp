#pragma once
// The typed expression a score_mod or mask_mod stands for, after parsing and tracing: a directed acyclic graph in
// topological order, hash-consed, every node typed. The oracle evaluates it directly, codegen prints it as source, the
// analyses read it. Semantics are FlexAttention's: indices are 32-bit integers, `//` and `%` floor as in Python, `/`
// always gives a float, bool promotes to int promotes to float.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

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
};

using ExprId = std::int32_t;

struct ModExpr {
  ExprOp op = ExprOp::constant;
  ScalarType type = ScalarType::real;
  std::vector<ExprId> args;  ///< ids smaller than this node's own
  std::int64_t integer = 0;
  double real = 0.0;
  std::string name;   ///< axis only
  SourcePlace where;  ///< in the mod's text; line and column count from 1 within the mod
};

/// A traced mod. Nodes are in topological order; `root` is the result: real for a score_mod, boolean for a mask_mod.
struct ModFunction {
  std::string name;    ///< the Python function's name, or "<lambda>"
  std::string source;  ///< the text as the user wrote it
  std::vector<ModExpr> nodes;
  ExprId root = -1;
};

}  // namespace kw
