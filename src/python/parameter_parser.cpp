// The parameters of a def or a lambda.

#include <algorithm>

#include "python/expression_parser.hpp"

namespace kw {

Result<std::vector<PyParameter>> PyExpressionParser::parameters(std::string_view closing) {
  std::vector<PyParameter> parameters;
  auto kind = PyParameterKind::plain;
  while (!tokens_.at_symbol(closing)) {
    KW_TRY_VOID(add_parameter(parameters, kind, closing));
    if (!tokens_.accept_symbol(",")) break;
  }
  return parameters;
}

/// Reads one parameter, or a marker: "*" makes what follows keyword-only, "/" says what callers here do anyway.
Result<void> PyExpressionParser::add_parameter(std::vector<PyParameter>& parameters, PyParameterKind& kind,
                                               std::string_view closing) {
  const auto where = tokens_.peek().where;
  if (tokens_.accept_symbol("**")) {
    KW_TRY(auto keywords, parameter(PyParameterKind::keywords, closing));
    parameters.push_back(std::move(keywords));
    return {};
  }
  if (tokens_.accept_symbol("/")) return {};
  if (tokens_.accept_symbol("*")) {
    if (kind != PyParameterKind::plain) {
      return fail(Error{errc::mod_syntax, "there are two '*' among the parameters", {}, where});
    }
    kind = PyParameterKind::keyword_only;
    if (tokens_.at_symbol(",")) return {};
    KW_TRY(auto variadic, parameter(PyParameterKind::variadic, closing));
    parameters.push_back(std::move(variadic));
  } else {
    KW_TRY(auto next, parameter(kind, closing));
    const bool follows_default = kind == PyParameterKind::plain && !parameters.empty() && parameters.back().initial;
    if (follows_default && !next.initial) {
      return fail(Error{errc::mod_syntax, "a parameter without a default value follows one that has it",
                        "put the parameters with default values last", where});
    }
    parameters.push_back(std::move(next));
  }
  const auto& added = parameters.back().name;
  const auto same = [&](const PyParameter& other) { return other.name == added; };
  if (std::count_if(parameters.begin(), parameters.end(), same) > 1) {
    return fail(Error{errc::mod_syntax, fmt::format("there are two parameters named '{}'", added), {}, where});
  }
  return {};
}

Result<PyParameter> PyExpressionParser::parameter(PyParameterKind kind, std::string_view closing) {
  if (!tokens_.at(PyTokenKind::name)) return tokens_.unexpected("expected the name of a parameter");
  PyParameter result;
  result.kind = kind;
  result.name = tokens_.take().text;
  if (closing == ")" && tokens_.accept_symbol(":")) {
    KW_TRY([[maybe_unused]] auto annotation, starred_or_expression());
  }
  if (kind != PyParameterKind::variadic && kind != PyParameterKind::keywords && tokens_.accept_symbol("=")) {
    KW_TRY(result.initial, expression());
  }
  return result;
}

}  // namespace kw
