#pragma once
// The part of Python's syntax tree that mods and tensor programs are written in. Trees are at most 200 levels high, so
// walking them recursively is safe; the parser sees to that. What is marked "module" stands only in trees of that
// dialect (parser.hpp).

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace kw {

struct PyExpr;
struct PyStatement;
using PyExprPtr = std::unique_ptr<PyExpr>;

enum class PyParameterKind : std::uint8_t {
  plain,
  keyword_only,  ///< stands after "*" or "*names"
  variadic,      ///< "*names"
  keywords,      ///< "**names"
};

struct PyParameter {
  std::string name;
  PyParameterKind kind = PyParameterKind::plain;
  PyExprPtr initial;  ///< the default value; null when there is none
};

struct PyFunction {
  std::string name;  ///< "<lambda>" for a lambda
  std::vector<PyParameter> parameters;
  std::vector<PyStatement> body;      ///< of a def
  PyExprPtr value;                    ///< of a lambda
  std::vector<PyExprPtr> decorators;  ///< of a def, the outermost first
  SourcePlace where;
};

/// "for target in iterable if condition if condition", a part of a comprehension.
struct PyClause {
  PyExprPtr target;
  PyExprPtr iterable;
  std::vector<PyExprPtr> conditions;
};

enum class PyExprKind : std::uint8_t {
  integer,
  real,
  text,
  formatted,  ///< an f-string; what stands in it is not read
  boolean,    ///< PyExpr::integer is 0 or 1
  none,
  ellipsis,
  name,
  attribute,    ///< children: object
  call,         ///< children: callee, arguments; `names` holds one keyword or "" per argument
  subscript,    ///< children: object, index
  slice,        ///< children: first, last, step; each of kind none where it is left out
  unary,        ///< `text` is the operator, also "not"
  binary,       ///< `text` is the operator
  comparison,   ///< `text` is the operator, also "is", "is not", "in", "not in"
  logical,      ///< `text` is "and" or "or"
  conditional,  ///< children: condition, if true, if false
  lambda,
  tuple,
  list,
  starred,        ///< children: the iterable; only an argument, a target, or an item of a tuple or list; `text` is
                  ///< "**" for keyword arguments from a dictionary (module)
  comprehension,  ///< children: the element; a list's or a generator's, which are the same to us; of a dictionary
                  ///< key and value (module)
  chain,          ///< "a < b < c"; children: the operands, `names`: the operators between them
  dictionary,  ///< module: children: key, value, key, value, ...; in the place of a key a starred "**", with no value
               ///< of its own, for the items of another
};

struct PyExpr {
  PyExprKind kind = PyExprKind::none;
  SourcePlace where;
  std::string text;
  std::int64_t integer = 0;
  double real = 0.0;
  std::vector<PyExprPtr> children;
  std::vector<std::string> names;
  std::vector<PyClause> clauses;         ///< of a comprehension
  std::unique_ptr<PyFunction> function;  ///< of a lambda
  int height = 1;                        ///< 1 for a leaf
};

enum class PyStatementKind : std::uint8_t {
  expression,
  assign,
  give_back,
  define,
  define_class,
  branch,
  loop,
  import,
  raise,
  check,  ///< assert
  pass,
  declare,  ///< module: "name: type" without a value
  repeat,   ///< module: while
  leave,    ///< module: break
  go_on,    ///< module: continue
  with,     ///< module
  attempt,  ///< module: try; `otherwise` is the first handler
  remove,   ///< module: del
};

struct PyStatement {
  PyStatementKind kind = PyStatementKind::pass;
  SourcePlace where;
  std::vector<std::string> names;  ///< import: the names it binds; define_class: its own, then those of its methods
  std::vector<std::string> paths;  ///< import: what each name stands for, such as "torch.exp2"; with all dots of
                                   ///< "from ..masks import causal", as "..masks.causal"
  std::vector<PyExprPtr>
      targets;     ///< assign: one per "="; loop, declare: one; remove: any. Names, elements, attributes, and
                   ///< tuples, lists and starred ones of them; define_class in a module: the bases
  std::string op;  ///< assign: "+" of "+=" with its one target; empty for "="
  SourcePlace op_where;
  PyExprPtr value;  ///< expression, assign, give_back (may be null), raise (may be null); branch, check: the condition;
                    ///< loop: the iterable; define_class: the first base (may be null); repeat: the condition; with:
                    ///< the first context
  PyExprPtr message;                     ///< check: what to say when it fails; may be null
  std::unique_ptr<PyFunction> function;  ///< define
  std::vector<PyExprPtr> decorators;     ///< define_class in a module
  std::vector<PyStatement> body;       ///< branch, loop, repeat, with, attempt; define_class: the method forward, where
                                       ///< there is one, in a module everything
  std::vector<PyStatement> otherwise;  ///< branch, attempt; loop in a module: what follows where no break left it
};

}  // namespace kw
