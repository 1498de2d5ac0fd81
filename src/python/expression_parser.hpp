#pragma once
// Expressions of Python by precedence climbing. Operators are in py_expression_parser.cpp, what binds tighter (atoms,
// calls, subscripts, displays) in py_atom_parser.cpp, the parameters of functions in py_parameter_parser.cpp.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "python/ast.hpp"
#include "python/token_stream.hpp"

namespace kw {

class PyExpressionParser {
 public:
  explicit PyExpressionParser(PyTokenStream& tokens) : tokens_(tokens) {}

  /// One expression, without a comma outside of brackets.
  [[nodiscard]] Result<PyExprPtr> expression();
  /// Expressions separated by commas: a tuple when there is a comma, the expression itself when there is none.
  [[nodiscard]] Result<PyExprPtr> list();
  /// What stands between "for" and "in": names, and tuples of them.
  [[nodiscard]] Result<PyExprPtr> loop_target();
  /// Up to `closing`, which is not taken.
  [[nodiscard]] Result<std::vector<PyParameter>> parameters(std::string_view closing);

  /// Makes `child` a child of `parent`; errc::mod_limit when the tree gets too high.
  [[nodiscard]] static Result<void> adopt(PyExpr& parent, PyExprPtr child);
  /// Refuses everything but names, tuples, lists and starred names.
  [[nodiscard]] static Result<void> check_target(const PyExpr& target);

 private:
  Result<PyExprPtr> lambda();
  [[nodiscard]] std::pair<std::string, int> operator_here() const;
  Result<PyExprPtr> binary(int weakest);
  Result<PyExprPtr> unary(int weakest);
  Result<PyExprPtr> prefixed(const SourcePlace& where, std::string symbol, int strength);

  Result<PyExprPtr> starred_or_expression();
  Result<PyExprPtr> postfix();
  Result<PyExprPtr> subscript(PyExprPtr object, const SourcePlace& where);
  Result<PyExprPtr> index_or_slice();
  Result<PyExprPtr> slice(PyExprPtr first, const SourcePlace& where);
  Result<void> arguments(PyExpr& call);
  Result<PyExprPtr> comprehension(PyExprPtr element);
  Result<PyClause> clause(int& height);
  Result<PyExprPtr> atom();
  Result<PyExprPtr> text();
  Result<PyExprPtr> name_or_word();
  Result<PyExprPtr> bracketed();
  Result<PyExprPtr> parenthesised(const SourcePlace& where);
  Result<PyExprPtr> list_display(const SourcePlace& where);
  Result<PyExprPtr> dictionary(const SourcePlace& where);
  Result<PyExprPtr> set_display(const SourcePlace& where, PyExprPtr first);
  Result<PyExprPtr> chain(PyExprPtr first, std::string symbol);
  [[nodiscard]] bool ends_list() const;

  Result<PyParameter> parameter(PyParameterKind kind, std::string_view closing);
  Result<void> add_parameter(std::vector<PyParameter>& parameters, PyParameterKind& kind, std::string_view closing);

  PyTokenStream& tokens_;
};

[[nodiscard]] PyExprPtr make_py_expr(PyExprKind kind, SourcePlace where, std::string text = {});

}  // namespace kw
