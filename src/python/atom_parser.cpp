// Atoms, calls, subscripts, displays and comprehensions.

#include <algorithm>
#include <memory>

#include "python/expression_parser.hpp"

namespace kw {
namespace {

using Kind = PyExprKind;

constexpr std::string_view k_keywords[] = {
    "and",  "or",    "if",   "else", "in",   "is", "for", "def",   "return", "while",  "lambda",  "import",
    "from", "class", "with", "try",  "pass", "as", "del", "raise", "assert", "except", "finally", "elif"};

}  // namespace

bool PyExpressionParser::ends_list() const {
  return tokens_.at(PyTokenKind::newline) || tokens_.at(PyTokenKind::end) || tokens_.at_symbol(")") ||
         tokens_.at_symbol("=") || tokens_.at_symbol("]") || tokens_.at_symbol(";") || tokens_.at_symbol(":");
}

Result<PyExprPtr> PyExpressionParser::starred_or_expression() {
  const auto where = tokens_.peek().where;
  if (tokens_.at_symbol("**")) {
    if (!tokens_.of_module()) {
      return PyTokenStream::unsupported(where, "'**' before an argument is not supported",
                                        "write each keyword argument out");
    }
    tokens_.take();
    auto unpacked = make_py_expr(Kind::starred, where, "**");
    KW_TRY(auto value, expression());
    KW_TRY_VOID(adopt(*unpacked, std::move(value)));
    return unpacked;
  }
  if (!tokens_.accept_symbol("*")) return expression();
  auto node = make_py_expr(Kind::starred, where);
  KW_TRY(auto value, expression());
  KW_TRY_VOID(adopt(*node, std::move(value)));
  return node;
}

Result<PyExprPtr> PyExpressionParser::postfix() {
  KW_TRY(auto value, atom());
  while (true) {
    const auto where = tokens_.peek().where;
    if (tokens_.accept_symbol(".")) {
      if (!tokens_.at(PyTokenKind::name)) return tokens_.unexpected("expected a name after '.'");
      auto node = make_py_expr(Kind::attribute, where, tokens_.take().text);
      KW_TRY_VOID(adopt(*node, std::move(value)));
      value = std::move(node);
    } else if (tokens_.accept_symbol("(")) {
      auto node = make_py_expr(Kind::call, value->where);
      KW_TRY_VOID(adopt(*node, std::move(value)));
      KW_TRY_VOID(arguments(*node));
      value = std::move(node);
    } else if (tokens_.accept_symbol("[")) {
      KW_TRY(value, subscript(std::move(value), where));
    } else {
      return value;
    }
  }
}

/// The "[" is taken already; several indices make a tuple.
Result<PyExprPtr> PyExpressionParser::subscript(PyExprPtr object, const SourcePlace& where) {
  KW_TRY(auto index, index_or_slice());
  if (tokens_.at_symbol(",")) {
    auto indices = make_py_expr(Kind::tuple, index->where);
    KW_TRY_VOID(adopt(*indices, std::move(index)));
    while (tokens_.accept_symbol(",")) {
      if (tokens_.at_symbol("]")) break;
      KW_TRY(auto next, index_or_slice());
      KW_TRY_VOID(adopt(*indices, std::move(next)));
    }
    index = std::move(indices);
  }
  KW_TRY_VOID(tokens_.expect_symbol("]", "the index"));
  auto node = make_py_expr(Kind::subscript, where);
  KW_TRY_VOID(adopt(*node, std::move(object)));
  KW_TRY_VOID(adopt(*node, std::move(index)));
  return node;
}

Result<PyExprPtr> PyExpressionParser::index_or_slice() {
  const auto where = tokens_.peek().where;
  if (tokens_.at_symbol(":")) return slice(make_py_expr(Kind::none, where), where);
  KW_TRY(auto index, expression());
  if (tokens_.at_symbol(":")) return slice(std::move(index), where);
  return index;
}

/// At the first ":".
Result<PyExprPtr> PyExpressionParser::slice(PyExprPtr first, const SourcePlace& where) {
  auto node = make_py_expr(Kind::slice, where);
  KW_TRY_VOID(adopt(*node, std::move(first)));
  for (int part = 1; part < 3; ++part) {
    auto bound = make_py_expr(Kind::none, tokens_.peek().where);
    if (tokens_.accept_symbol(":") && !tokens_.at_symbol(":") && !tokens_.at_symbol(",") && !tokens_.at_symbol("]")) {
      KW_TRY(bound, expression());
    }
    KW_TRY_VOID(adopt(*node, std::move(bound)));
  }
  return node;
}

Result<void> PyExpressionParser::arguments(PyExpr& call) {
  while (!tokens_.accept_symbol(")")) {
    std::string keyword;
    if (tokens_.at(PyTokenKind::name) && tokens_.peek(1).kind == PyTokenKind::symbol && tokens_.peek(1).text == "=") {
      keyword = tokens_.take().text;
      tokens_.take();
    } else if (!call.names.empty() && !call.names.back().empty() && !tokens_.at_symbol("*") &&
               !tokens_.at_symbol("**")) {
      return tokens_.unexpected("positional arguments come before keyword arguments");
    }
    KW_TRY(auto argument, starred_or_expression());
    if (tokens_.at_word("for")) {
      KW_TRY(argument, comprehension(std::move(argument)));
    }
    KW_TRY_VOID(adopt(call, std::move(argument)));
    call.names.push_back(std::move(keyword));
    if (tokens_.accept_symbol(",")) continue;
    KW_TRY_VOID(tokens_.expect_symbol(")", "the arguments of a call"));
    break;
  }
  return {};
}

/// At "for", with the element read already.
Result<PyExprPtr> PyExpressionParser::comprehension(PyExprPtr element) {
  auto node = make_py_expr(Kind::comprehension, element->where);
  KW_TRY_VOID(adopt(*node, std::move(element)));
  while (tokens_.at_word("for")) {
    KW_TRY(auto next, clause(node->height));
    node->clauses.push_back(std::move(next));
  }
  if (node->height > PyTokenStream::k_max_depth) return PyTokenStream::too_deep(node->where);
  return node;
}

Result<PyClause> PyExpressionParser::clause(int& height) {
  tokens_.take();
  PyClause result;
  KW_TRY(result.target, loop_target());
  // The strength of "or": a conditional expression would swallow the comprehension's own "if".
  KW_TRY(result.iterable, binary(1));
  height = std::max({height, result.target->height + 1, result.iterable->height + 1});
  while (tokens_.accept_word("if")) {
    KW_TRY(auto condition, binary(1));
    height = std::max(height, condition->height + 1);
    result.conditions.push_back(std::move(condition));
  }
  return result;
}

Result<PyExprPtr> PyExpressionParser::atom() {
  const auto& token = tokens_.peek();
  switch (token.kind) {
    case PyTokenKind::integer: {
      auto node = make_py_expr(Kind::integer, token.where);
      node->integer = tokens_.take().integer;
      return node;
    }
    case PyTokenKind::real: {
      auto node = make_py_expr(Kind::real, token.where);
      node->real = tokens_.take().real;
      return node;
    }
    case PyTokenKind::text:
      return text();
    case PyTokenKind::name:
      return name_or_word();
    case PyTokenKind::symbol:
      return bracketed();
    default:
      return tokens_.unexpected("expected a value");
  }
}

/// Strings that stand beside one another are one.
Result<PyExprPtr> PyExpressionParser::text() {
  auto node = make_py_expr(Kind::text, tokens_.peek().where);
  while (tokens_.at(PyTokenKind::text)) {
    if (tokens_.peek().formatted) node->kind = Kind::formatted;
    node->text += tokens_.take().text;
  }
  return node;
}

Result<PyExprPtr> PyExpressionParser::name_or_word() {
  const auto& token = tokens_.peek();
  if (token.text == "True" || token.text == "False") {
    auto node = make_py_expr(Kind::boolean, token.where);
    node->integer = token.text == "True" ? 1 : 0;
    tokens_.take();
    return node;
  }
  if (token.text == "None") return make_py_expr(Kind::none, tokens_.take().where);
  if (token.text == "await" || token.text == "yield" || token.text == "async") {
    return PyTokenStream::unsupported(token.where, fmt::format("'{}' is not supported", token.text),
                                      tokens_.of_module() ? "the file is read, never executed: leave it out"
                                                          : "a mod computes one value and returns it");
  }
  for (const auto word : k_keywords) {
    if (token.text == word) return tokens_.unexpected("expected a value");
  }
  return make_py_expr(Kind::name, token.where, tokens_.take().text);
}

Result<PyExprPtr> PyExpressionParser::bracketed() {
  const auto where = tokens_.peek().where;
  if (tokens_.accept_symbol("...")) return make_py_expr(Kind::ellipsis, where);
  if (tokens_.accept_symbol("[")) return list_display(where);
  if (tokens_.accept_symbol("(")) return parenthesised(where);
  if (!tokens_.at_symbol("{")) return tokens_.unexpected("expected a value");
  if (tokens_.of_module()) return dictionary(where);
  return PyTokenStream::unsupported(where, "dictionaries and sets are not supported", "use plain names, or a tuple");
}

Result<PyExprPtr> PyExpressionParser::parenthesised(const SourcePlace& where) {
  if (tokens_.accept_symbol(")")) return make_py_expr(Kind::tuple, where);
  KW_TRY(auto value, list());
  if (tokens_.at_word("for")) {
    KW_TRY(value, comprehension(std::move(value)));
  }
  KW_TRY_VOID(tokens_.expect_symbol(")", "the expression in parentheses"));
  return value;
}

Result<PyExprPtr> PyExpressionParser::list_display(const SourcePlace& where) {
  auto node = make_py_expr(Kind::list, where);
  while (!tokens_.accept_symbol("]")) {
    KW_TRY(auto item, starred_or_expression());
    if (node->children.empty() && tokens_.at_word("for")) {
      KW_TRY(node, comprehension(std::move(item)));
      KW_TRY_VOID(tokens_.expect_symbol("]", "the comprehension"));
      break;
    }
    KW_TRY_VOID(adopt(*node, std::move(item)));
    if (tokens_.accept_symbol(",")) continue;
    KW_TRY_VOID(tokens_.expect_symbol("]", "the items of a list"));
    break;
  }
  return node;
}

/// At "{".
Result<PyExprPtr> PyExpressionParser::dictionary(const SourcePlace& where) {
  auto node = make_py_expr(Kind::dictionary, where);
  tokens_.take();
  while (!tokens_.accept_symbol("}")) {
    const bool unpacked = tokens_.at_symbol("**");
    KW_TRY(auto key, starred_or_expression());
    auto value = make_py_expr(Kind::none, key->where);
    if (!unpacked) {
      if (node->children.empty() && !tokens_.at_symbol(":")) return set_display(where, std::move(key));
      KW_TRY_VOID(tokens_.expect_symbol(":", "the key of a dictionary"));
      KW_TRY(value, expression());
    }
    const bool comprehended = node->children.empty() && tokens_.at_word("for");
    if (comprehended) {
      KW_TRY(node, comprehension(std::move(key)));
    } else {
      KW_TRY_VOID(adopt(*node, std::move(key)));
    }
    KW_TRY_VOID(adopt(*node, std::move(value)));
    if (!comprehended && tokens_.accept_symbol(",")) continue;
    KW_TRY_VOID(tokens_.expect_symbol("}", "the items of a dictionary"));
    break;
  }
  return node;
}

/// Behind the first item: set([item, ...]).
Result<PyExprPtr> PyExpressionParser::set_display(const SourcePlace& where, PyExprPtr first) {
  auto items = make_py_expr(Kind::list, where);
  if (tokens_.at_word("for")) {
    KW_TRY(items, comprehension(std::move(first)));
  } else {
    KW_TRY_VOID(adopt(*items, std::move(first)));
    while (tokens_.accept_symbol(",") && !tokens_.at_symbol("}")) {
      KW_TRY(auto item, starred_or_expression());
      KW_TRY_VOID(adopt(*items, std::move(item)));
    }
  }
  KW_TRY_VOID(tokens_.expect_symbol("}", "the items of a set"));
  auto call = make_py_expr(Kind::call, where);
  KW_TRY_VOID(adopt(*call, make_py_expr(Kind::name, where, "set")));
  KW_TRY_VOID(adopt(*call, std::move(items)));
  call->names.emplace_back();
  return call;
}

Result<void> PyExpressionParser::check_target(const PyExpr& target) {
  switch (target.kind) {
    case Kind::name:
    case Kind::subscript:
    case Kind::attribute:
      return {};
    case Kind::starred:
    case Kind::tuple:
    case Kind::list:
      for (const auto& child : target.children) KW_TRY_VOID(check_target(*child));
      return {};
    default:
      return fail(Error{errc::mod_syntax, "only a name can be assigned to", {}, target.where});
  }
}

}  // namespace kw
