#pragma once
// The part of Python's syntax tree that mods are written in. Trees are at most 200 levels high, so walking them
// recursively is safe; the parser sees to that.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace kw {

struct PyExpr;
struct PyStatement;
using PyExprPtr = std::unique_ptr<PyExpr>;

struct PyFunction {
  std::string name;  ///< "<lambda>" for a lambda
  std::vector<std::string> parameters;
  std::vector<PyStatement> body;  ///< of a def
  PyExprPtr value;                ///< of a lambda
  SourcePlace where;
};

enum class PyExprKind : std::uint8_t {
  integer,
  real,
  text,
  boolean,  ///< PyExpr::integer is 0 or 1
  none,
  name,
  attribute,    ///< children: object
  call,         ///< children: callee, arguments; `names` holds one keyword or "" per argument
  subscript,    ///< children: object, index
  unary,        ///< `text` is the operator, also "not"
  binary,       ///< `text` is the operator
  comparison,   ///< `text` is the operator, also "is", "is not"
  logical,      ///< `text` is "and" or "or"
  conditional,  ///< children: condition, if true, if false
  lambda,
  tuple,
};

struct PyExpr {
  PyExprKind kind = PyExprKind::none;
  SourcePlace where;
  std::string text;
  std::int64_t integer = 0;
  double real = 0.0;
  std::vector<PyExprPtr> children;
  std::vector<std::string> names;
  std::unique_ptr<PyFunction> function;  ///< of a lambda
  int height = 1;                        ///< 1 for a leaf
};

enum class PyStatementKind : std::uint8_t { expression, assign, give_back, define, branch, import, pass };

struct PyStatement {
  PyStatementKind kind = PyStatementKind::pass;
  SourcePlace where;
  std::vector<std::string> names;        ///< assign: targets; import: the names it binds
  std::vector<std::string> paths;        ///< import: what each name stands for, such as "torch.exp2"
  bool unpack = false;                   ///< assign: the value is a tuple to be taken apart
  PyExprPtr value;                       ///< expression, assign, give_back (may be null), branch: the condition
  std::unique_ptr<PyFunction> function;  ///< define
  std::vector<PyStatement> body;         ///< branch
  std::vector<PyStatement> otherwise;    ///< branch
};

}  // namespace kw
