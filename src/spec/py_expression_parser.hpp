#pragma once
// Python expressions by precedence climbing.

#include <string_view>

#include "base/result.hpp"
#include "spec/py_ast.hpp"
#include "spec/py_token_stream.hpp"

namespace kw {

/// One expression without commas.
[[nodiscard]] Result<PyExprPtr> parse_py_expression(PyTokenStream& tokens);
/// The same, or several with commas between them, which make a tuple.
[[nodiscard]] Result<PyExprPtr> parse_py_expression_list(PyTokenStream& tokens);
/// Comma-separated parameter names up to, not including, `closing` (")" of a def, ":" of a lambda). Annotations are
/// read over; default values and starred parameters are refused.
[[nodiscard]] Result<std::vector<std::string>> parse_py_parameters(PyTokenStream& tokens, std::string_view closing);

}  // namespace kw
