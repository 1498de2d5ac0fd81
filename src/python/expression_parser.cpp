#include "python/expression_parser.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

namespace kw {
namespace {

using Kind = PyExprKind;

/// Binding strength of binary operators; higher binds tighter. 0: not a binary operator.
constexpr int k_binds_or = 1;
constexpr int k_binds_and = 2;
constexpr int k_binds_not = 3;
constexpr int k_binds_compare = 4;
constexpr int k_binds_bit_or = 5;
constexpr int k_binds_multiply = 10;
constexpr int k_binds_power = 11;

struct Operator {
  std::string_view text;
  int strength;
};
constexpr std::array<Operator, 20> k_binary_operators = {{{"<", k_binds_compare},
                                                          {"<=", k_binds_compare},
                                                          {">", k_binds_compare},
                                                          {">=", k_binds_compare},
                                                          {"==", k_binds_compare},
                                                          {"!=", k_binds_compare},
                                                          {"|", k_binds_bit_or},
                                                          {"^", 6},
                                                          {"&", 7},
                                                          {"<<", 8},
                                                          {">>", 8},
                                                          {"+", 9},
                                                          {"-", 9},
                                                          {"*", k_binds_multiply},
                                                          {"/", k_binds_multiply},
                                                          {"//", k_binds_multiply},
                                                          {"%", k_binds_multiply},
                                                          {"@", k_binds_multiply},
                                                          {"**", k_binds_power},
                                                          {":=", 0}}};

Result<void> refuse_operator(const std::string& symbol, const SourcePlace& where) {
  if (symbol != "@") return {};
  return PyTokenStream::unsupported(where, "matrix products are not supported in a mod",
                                    "a mod sees one score at a time");
}

}  // namespace

PyExprPtr make_py_expr(PyExprKind kind, SourcePlace where, std::string text) {
  auto node = std::make_unique<PyExpr>();
  node->kind = kind;
  node->where = std::move(where);
  node->text = std::move(text);
  return node;
}

Result<void> PyExpressionParser::adopt(PyExpr& parent, PyExprPtr child) {
  parent.height = std::max(parent.height, child->height + 1);
  const auto where = parent.where;
  parent.children.push_back(std::move(child));
  if (parent.height > PyTokenStream::k_max_depth) return PyTokenStream::too_deep(where);
  return {};
}

Result<PyExprPtr> PyExpressionParser::expression() {
  const PyTokenStream::Level level(tokens_);
  KW_TRY_VOID(level.check());
  if (tokens_.at_word("lambda")) return lambda();
  KW_TRY(auto value, binary(k_binds_or));
  if (tokens_.at_symbol(":=")) {
    return PyTokenStream::unsupported(tokens_.peek().where, "':=' is not supported",
                                      "assign the name in a statement of its own");
  }
  if (!tokens_.at_word("if")) return value;
  auto node = make_py_expr(Kind::conditional, tokens_.take().where);
  KW_TRY(auto condition, binary(k_binds_or));
  if (!tokens_.accept_word("else")) return tokens_.unexpected("expected 'else' after the condition");
  KW_TRY(auto otherwise, expression());
  KW_TRY_VOID(adopt(*node, std::move(condition)));
  KW_TRY_VOID(adopt(*node, std::move(value)));
  KW_TRY_VOID(adopt(*node, std::move(otherwise)));
  return node;
}

Result<PyExprPtr> PyExpressionParser::list() {
  KW_TRY(auto first, starred_or_expression());
  if (!tokens_.at_symbol(",")) {
    if (first->kind != Kind::starred) return first;
    return PyTokenStream::unsupported(first->where, "a starred expression stands alone",
                                      "put it among the arguments of a call or the items of a tuple");
  }
  auto node = make_py_expr(Kind::tuple, first->where);
  KW_TRY_VOID(adopt(*node, std::move(first)));
  while (tokens_.accept_symbol(",")) {
    if (ends_list()) break;
    KW_TRY(auto next, starred_or_expression());
    KW_TRY_VOID(adopt(*node, std::move(next)));
  }
  return node;
}

Result<PyExprPtr> PyExpressionParser::loop_target() {
  std::vector<PyExprPtr> items;
  const auto where = tokens_.peek().where;
  bool tuple = false;
  do {
    if (tokens_.at_word("in")) break;
    const bool starred = tokens_.at_symbol("*");
    KW_TRY(auto item, starred ? starred_or_expression() : binary(k_binds_bit_or));
    KW_TRY_VOID(check_target(*item));
    items.push_back(std::move(item));
    tuple = tuple || starred || tokens_.at_symbol(",");
  } while (tokens_.accept_symbol(","));
  if (!tokens_.accept_word("in")) return tokens_.unexpected("expected 'in' after what a 'for' assigns to");
  if (!tuple && items.size() == 1) return std::move(items.front());
  auto node = make_py_expr(Kind::tuple, where);
  for (auto& item : items) KW_TRY_VOID(adopt(*node, std::move(item)));
  return node;
}

Result<PyExprPtr> PyExpressionParser::lambda() {
  auto node = make_py_expr(Kind::lambda, tokens_.take().where);
  auto function = std::make_unique<PyFunction>();
  function->name = "<lambda>";
  function->where = node->where;
  KW_TRY(function->parameters, parameters(":"));
  KW_TRY_VOID(tokens_.expect_symbol(":", "the parameters of a lambda"));
  KW_TRY(function->value, expression());
  node->height = function->value->height + 1;
  for (const auto& parameter : function->parameters) {
    if (parameter.initial) node->height = std::max(node->height, parameter.initial->height + 1);
  }
  if (node->height > PyTokenStream::k_max_depth) return PyTokenStream::too_deep(node->where);
  node->function = std::move(function);
  return node;
}

/// The operator at the cursor, with words ("and", "is not", "not in") joined; strength 0 when there is none.
std::pair<std::string, int> PyExpressionParser::operator_here() const {
  const auto& token = tokens_.peek();
  if (token.kind == PyTokenKind::name) {
    const bool not_follows = tokens_.peek(1).kind == PyTokenKind::name && tokens_.peek(1).text == "not";
    const bool in_follows = tokens_.peek(1).kind == PyTokenKind::name && tokens_.peek(1).text == "in";
    if (token.text == "or") return {"or", k_binds_or};
    if (token.text == "and") return {"and", k_binds_and};
    if (token.text == "in") return {"in", k_binds_compare};
    if (token.text == "not" && in_follows) return {"not in", k_binds_compare};
    if (token.text == "is") return {not_follows ? "is not" : "is", k_binds_compare};
  }
  if (token.kind != PyTokenKind::symbol) return {"", 0};
  for (const auto& candidate : k_binary_operators) {
    if (candidate.text == token.text) return {token.text, candidate.strength};
  }
  return {"", 0};
}

Result<PyExprPtr> PyExpressionParser::binary(int weakest) {
  const PyTokenStream::Level level(tokens_);
  KW_TRY_VOID(level.check());
  KW_TRY(auto left, unary(weakest));
  bool compared = false;
  while (true) {
    const auto [symbol, strength] = operator_here();
    if (strength < weakest || strength == 0) return left;
    const auto where = tokens_.peek().where;
    if (!tokens_.of_module()) KW_TRY_VOID(refuse_operator(symbol, where));
    if (compared && strength == k_binds_compare) {
      KW_TRY(left, chain(std::move(left), symbol));
      continue;
    }
    compared = strength == k_binds_compare;
    tokens_.take();
    if (symbol == "is not" || symbol == "not in") tokens_.take();
    // "**" groups from the right, and its right side may carry a sign: 2 ** -x.
    KW_TRY(auto right, strength == k_binds_power ? binary(k_binds_power) : binary(strength + 1));
    auto node = make_py_expr(strength <= k_binds_and       ? Kind::logical
                             : strength == k_binds_compare ? Kind::comparison
                                                           : Kind::binary,
                             where, symbol);
    KW_TRY_VOID(adopt(*node, std::move(left)));
    KW_TRY_VOID(adopt(*node, std::move(right)));
    left = std::move(node);
  }
}

/// At the second operator of "a < b < c", with "a < b" or a longer chain read already.
Result<PyExprPtr> PyExpressionParser::chain(PyExprPtr first, std::string symbol) {
  if (first->kind == Kind::comparison) {
    first->kind = Kind::chain;
    first->names.push_back(std::exchange(first->text, {}));
    // A mod's is refused where values decide it: at the operator that makes it one.
    if (!tokens_.of_module()) first->where = tokens_.peek().where;
  }
  tokens_.take();
  if (symbol == "is not" || symbol == "not in") tokens_.take();
  KW_TRY(auto right, binary(k_binds_compare + 1));
  KW_TRY_VOID(adopt(*first, std::move(right)));
  first->names.push_back(std::move(symbol));
  return first;
}

Result<PyExprPtr> PyExpressionParser::unary(int weakest) {
  const auto where = tokens_.peek().where;
  if (tokens_.at_word("not")) {
    if (weakest > k_binds_not) return tokens_.unexpected("expected a value");
    tokens_.take();
    return prefixed(where, "not", k_binds_not);
  }
  for (const std::string_view sign : {"-", "+", "~"}) {
    if (tokens_.accept_symbol(sign)) return prefixed(where, std::string(sign), k_binds_power);
  }
  return postfix();
}

Result<PyExprPtr> PyExpressionParser::prefixed(const SourcePlace& where, std::string symbol, int strength) {
  auto node = make_py_expr(Kind::unary, where, std::move(symbol));
  KW_TRY(auto operand, binary(strength));
  KW_TRY_VOID(adopt(*node, std::move(operand)));
  return node;
}

}  // namespace kw
