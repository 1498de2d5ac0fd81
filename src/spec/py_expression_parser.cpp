#include "spec/py_expression_parser.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace kw {
namespace {

using Kind = PyExprKind;

PyExprPtr make(Kind kind, SourcePlace where, std::string text = {}) {
  auto node = std::make_unique<PyExpr>();
  node->kind = kind;
  node->where = std::move(where);
  node->text = std::move(text);
  return node;
}

Result<void> adopt(PyExpr& parent, PyExprPtr child) {
  parent.height = std::max(parent.height, child->height + 1);
  const auto where = parent.where;
  parent.children.push_back(std::move(child));
  if (parent.height > PyTokenStream::k_max_depth) return PyTokenStream::too_deep(where);
  return {};
}

/// Binding strength of binary operators; higher binds tighter. 0: not a binary operator.
constexpr int k_or = 1;
constexpr int k_and = 2;
constexpr int k_not = 3;
constexpr int k_compare = 4;
constexpr int k_multiply = 10;
constexpr int k_power = 11;

struct Operator {
  std::string_view text;
  int strength;
};
constexpr std::array<Operator, 20> k_binary_operators = {
    {{"<", k_compare},   {"<=", k_compare}, {">", k_compare},  {">=", k_compare}, {"==", k_compare},
     {"!=", k_compare},  {"|", 5},          {"^", 6},          {"&", 7},          {"<<", 8},
     {">>", 8},          {"+", 9},          {"-", 9},          {"*", k_multiply}, {"/", k_multiply},
     {"//", k_multiply}, {"%", k_multiply}, {"@", k_multiply}, {"**", k_power},   {":=", 0}}};

class Parser {
 public:
  explicit Parser(PyTokenStream& tokens) : tokens_(tokens) {}

  Result<PyExprPtr> expression() {
    const PyTokenStream::Level level(tokens_);
    KW_TRY_VOID(level.check());
    if (tokens_.at_word("lambda")) return lambda();
    KW_TRY(auto value, binary(k_or));
    if (tokens_.at_symbol(":=")) {
      return PyTokenStream::unsupported(tokens_.peek().where, "':=' is not supported",
                                        "assign the name in a statement of its own");
    }
    if (!tokens_.at_word("if")) return value;
    auto node = make(Kind::conditional, tokens_.take().where);
    KW_TRY(auto condition, binary(k_or));
    if (!tokens_.accept_word("else")) return tokens_.unexpected("expected 'else' after the condition");
    KW_TRY(auto otherwise, expression());
    KW_TRY_VOID(adopt(*node, std::move(condition)));
    KW_TRY_VOID(adopt(*node, std::move(value)));
    KW_TRY_VOID(adopt(*node, std::move(otherwise)));
    return node;
  }

  Result<PyExprPtr> list() {
    KW_TRY(auto first, starred_or_expression());
    if (!tokens_.at_symbol(",")) return first;
    auto node = make(Kind::tuple, first->where);
    KW_TRY_VOID(adopt(*node, std::move(first)));
    while (tokens_.accept_symbol(",")) {
      if (ends_list()) break;
      KW_TRY(auto next, starred_or_expression());
      KW_TRY_VOID(adopt(*node, std::move(next)));
    }
    return node;
  }

 private:
  [[nodiscard]] bool ends_list() const {
    return tokens_.at(PyTokenKind::newline) || tokens_.at(PyTokenKind::end) || tokens_.at_symbol(")") ||
           tokens_.at_symbol("=") || tokens_.at_symbol("]") || tokens_.at_symbol(";");
  }

  Result<PyExprPtr> starred_or_expression() {
    if (tokens_.at_symbol("*") || tokens_.at_symbol("**")) {
      return PyTokenStream::unsupported(tokens_.peek().where, "starred expressions are not supported",
                                        "write each argument out");
    }
    return expression();
  }

  Result<PyExprPtr> lambda() {
    auto node = make(Kind::lambda, tokens_.take().where);
    auto function = std::make_unique<PyFunction>();
    function->name = "<lambda>";
    function->where = node->where;
    KW_TRY(function->parameters, parse_py_parameters(tokens_, ":"));
    KW_TRY_VOID(tokens_.expect_symbol(":", "the parameters of a lambda"));
    KW_TRY(function->value, expression());
    node->height = function->value->height + 1;
    node->function = std::move(function);
    return node;
  }

  /// The operator at the cursor, with words ("and", "is not", "in") joined; strength 0 when there is none.
  [[nodiscard]] std::pair<std::string, int> operator_here() const {
    const auto& token = tokens_.peek();
    if (token.kind == PyTokenKind::name) {
      if (token.text == "or") return {"or", k_or};
      if (token.text == "and") return {"and", k_and};
      if (token.text == "in" || token.text == "not") return {"in", k_compare};
      if (token.text == "is") return {tokens_.peek(1).text == "not" ? "is not" : "is", k_compare};
    }
    if (token.kind != PyTokenKind::symbol) return {"", 0};
    for (const auto& candidate : k_binary_operators) {
      if (candidate.text == token.text) return {token.text, candidate.strength};
    }
    return {"", 0};
  }

  Result<PyExprPtr> binary(int weakest) {
    const PyTokenStream::Level level(tokens_);
    KW_TRY_VOID(level.check());
    KW_TRY(auto left, unary(weakest));
    bool compared = false;
    while (true) {
      const auto [symbol, strength] = operator_here();
      if (strength < weakest || strength == 0) return left;
      const auto where = tokens_.peek().where;
      KW_TRY_VOID(refuse_operator(symbol, strength, compared, where));
      compared = strength == k_compare;
      tokens_.take();
      if (symbol == "is not") tokens_.take();
      // "**" groups from the right, and its right side may carry a sign: 2 ** -x.
      KW_TRY(auto right, strength == k_power ? binary(k_power) : binary(strength + 1));
      auto node = make(strength <= k_and       ? Kind::logical
                       : strength == k_compare ? Kind::comparison
                                               : Kind::binary,
                       where, symbol);
      KW_TRY_VOID(adopt(*node, std::move(left)));
      KW_TRY_VOID(adopt(*node, std::move(right)));
      left = std::move(node);
    }
  }

  static Result<void> refuse_operator(const std::string& symbol, int strength, bool compared,
                                      const SourcePlace& where) {
    if (strength == k_compare && compared) {
      return PyTokenStream::unsupported(where, "chained comparisons are not supported (PyTorch refuses them too)",
                                        "put each comparison in parentheses and join them with '&': (a < b) & (b < c)");
    }
    if (symbol == "in") {
      return PyTokenStream::unsupported(where, "'in' is not supported",
                                        "compare with each value and join the comparisons with '|'");
    }
    if (symbol == "@") {
      return PyTokenStream::unsupported(where, "matrix products are not supported in a mod",
                                        "a mod sees one score at a time");
    }
    return {};
  }

  Result<PyExprPtr> unary(int weakest) {
    const auto where = tokens_.peek().where;
    if (tokens_.at_word("not")) {
      if (weakest > k_not) return tokens_.unexpected("expected a value");
      tokens_.take();
      return prefixed(where, "not", k_not);
    }
    for (const std::string_view sign : {"-", "+", "~"}) {
      if (tokens_.accept_symbol(sign)) return prefixed(where, std::string(sign), k_power);
    }
    return postfix();
  }

  Result<PyExprPtr> prefixed(const SourcePlace& where, std::string symbol, int strength) {
    auto node = make(Kind::unary, where, std::move(symbol));
    KW_TRY(auto operand, binary(strength));
    KW_TRY_VOID(adopt(*node, std::move(operand)));
    return node;
  }

  Result<PyExprPtr> postfix() {
    KW_TRY(auto value, atom());
    while (true) {
      const auto where = tokens_.peek().where;
      if (tokens_.accept_symbol(".")) {
        if (!tokens_.at(PyTokenKind::name)) return tokens_.unexpected("expected a name after '.'");
        auto node = make(Kind::attribute, where, tokens_.take().text);
        KW_TRY_VOID(adopt(*node, std::move(value)));
        value = std::move(node);
      } else if (tokens_.accept_symbol("(")) {
        auto node = make(Kind::call, value->where);
        KW_TRY_VOID(adopt(*node, std::move(value)));
        KW_TRY_VOID(arguments(*node));
        value = std::move(node);
      } else if (tokens_.accept_symbol("[")) {
        auto node = make(Kind::subscript, where);
        if (tokens_.at_symbol(":")) return slice();
        KW_TRY(auto index, list());
        if (tokens_.at_symbol(":")) return slice();
        KW_TRY_VOID(tokens_.expect_symbol("]", "the index"));
        KW_TRY_VOID(adopt(*node, std::move(value)));
        KW_TRY_VOID(adopt(*node, std::move(index)));
        value = std::move(node);
      } else {
        return value;
      }
    }
  }

  [[nodiscard]] Result<PyExprPtr> slice() const {
    return PyTokenStream::unsupported(tokens_.peek().where, "slices are not supported", "index one element");
  }

  Result<void> arguments(PyExpr& call) {
    while (!tokens_.accept_symbol(")")) {
      std::string keyword;
      if (tokens_.at(PyTokenKind::name) && tokens_.peek(1).kind == PyTokenKind::symbol && tokens_.peek(1).text == "=") {
        keyword = tokens_.take().text;
        tokens_.take();
      } else if (!call.names.empty() && !call.names.back().empty()) {
        return tokens_.unexpected("positional arguments come before keyword arguments");
      }
      KW_TRY(auto argument, starred_or_expression());
      if (tokens_.at_word("for")) return comprehension();
      KW_TRY_VOID(adopt(call, std::move(argument)));
      call.names.push_back(std::move(keyword));
      if (tokens_.accept_symbol(",")) continue;
      KW_TRY_VOID(tokens_.expect_symbol(")", "the arguments of a call"));
      break;
    }
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> comprehension() const {
    return PyTokenStream::unsupported(tokens_.peek().where, "comprehensions are not supported",
                                      "write the terms out one by one");
  }

  Result<PyExprPtr> atom() {
    const auto& token = tokens_.peek();
    switch (token.kind) {
      case PyTokenKind::integer: {
        auto node = make(Kind::integer, token.where);
        node->integer = tokens_.take().integer;
        return node;
      }
      case PyTokenKind::real: {
        auto node = make(Kind::real, token.where);
        node->real = tokens_.take().real;
        return node;
      }
      case PyTokenKind::text: {
        auto node = make(Kind::text, token.where, token.text);
        tokens_.take();
        while (tokens_.at(PyTokenKind::text)) node->text += tokens_.take().text;
        return node;
      }
      case PyTokenKind::name:
        return name_or_word();
      case PyTokenKind::symbol:
        return bracketed();
      default:
        return tokens_.unexpected("expected a value");
    }
  }

  Result<PyExprPtr> name_or_word() {
    const auto& token = tokens_.peek();
    if (token.text == "True" || token.text == "False") {
      auto node = make(Kind::boolean, token.where);
      node->integer = token.text == "True" ? 1 : 0;
      tokens_.take();
      return node;
    }
    if (token.text == "None") return make(Kind::none, tokens_.take().where);
    if (token.text == "await" || token.text == "yield") {
      return PyTokenStream::unsupported(token.where, fmt::format("'{}' is not supported", token.text),
                                        "a mod computes one value and returns it");
    }
    for (const std::string_view word : {"and", "or", "if", "else", "in", "is", "for", "def", "return", "while",
                                        "lambda", "import", "from", "class", "with", "try", "pass", "as", "del"}) {
      if (token.text == word) return tokens_.unexpected("expected a value");
    }
    return make(Kind::name, token.where, tokens_.take().text);
  }

  Result<PyExprPtr> bracketed() {
    const auto where = tokens_.peek().where;
    if (tokens_.at_symbol("[")) {
      return PyTokenStream::unsupported(where, "lists are not supported", "write the terms out one by one");
    }
    if (tokens_.at_symbol("{")) {
      return PyTokenStream::unsupported(where, "dictionaries and sets are not supported", "use plain names");
    }
    if (!tokens_.at_symbol("(")) return tokens_.unexpected("expected a value");
    tokens_.take();
    if (tokens_.accept_symbol(")")) return make(Kind::tuple, where);
    KW_TRY(auto value, list());
    if (tokens_.at_word("for")) return comprehension();
    KW_TRY_VOID(tokens_.expect_symbol(")", "the expression in parentheses"));
    return value;
  }

  PyTokenStream& tokens_;
};

Result<void> skip_annotation(PyTokenStream& tokens) {
  if (!tokens.accept_symbol(":")) return {};
  KW_TRY([[maybe_unused]] auto annotation, parse_py_expression(tokens));
  return {};
}

}  // namespace

Result<PyExprPtr> parse_py_expression(PyTokenStream& tokens) {
  return Parser(tokens).expression();
}

Result<PyExprPtr> parse_py_expression_list(PyTokenStream& tokens) {
  return Parser(tokens).list();
}

Result<std::vector<std::string>> parse_py_parameters(PyTokenStream& tokens, std::string_view closing) {
  std::vector<std::string> names;
  while (!tokens.at_symbol(closing)) {
    const auto where = tokens.peek().where;
    if (tokens.at_symbol("*") || tokens.at_symbol("**") || tokens.at_symbol("/")) {
      return PyTokenStream::unsupported(where, "starred and positional-only parameters are not supported",
                                        "name every parameter");
    }
    if (!tokens.at(PyTokenKind::name)) return tokens.unexpected("expected the name of a parameter");
    const auto name = tokens.take().text;
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return fail(Error{errc::mod_syntax, fmt::format("there are two parameters named '{}'", name), {}, where});
    }
    names.push_back(name);
    if (closing == ")") KW_TRY_VOID(skip_annotation(tokens));
    if (tokens.at_symbol("=")) {
      return PyTokenStream::unsupported(tokens.peek().where, "default values of parameters are not supported",
                                        "assign the value to a name above the function, or list it under [constants]");
    }
    if (!tokens.accept_symbol(",")) break;
  }
  return names;
}

}  // namespace kw
