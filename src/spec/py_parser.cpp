#include "spec/py_parser.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "spec/py_expression_parser.hpp"
#include "spec/py_lexer.hpp"
#include "spec/py_token_stream.hpp"

namespace kw {
namespace {

struct RefusedStatement {
  std::string_view word;
  std::string_view message;
  std::string_view hint;
};
constexpr std::string_view k_no_loop = "a mod describes one score; write the terms out, or use torch.where for choices";
constexpr std::string_view k_no_state = "a mod only computes a value; assign names and return";
constexpr std::array<RefusedStatement, 16> k_refused = {{
    {"for", "loops are not supported", k_no_loop},
    {"while", "loops are not supported", k_no_loop},
    {"class", "classes are not supported", "write a function"},
    {"with", "'with' is not supported", k_no_state},
    {"try", "'try' is not supported", k_no_state},
    {"raise", "'raise' is not supported", k_no_state},
    {"assert", "'assert' is not supported", "leave the check out; the problem's bounds are checked when it is read"},
    {"del", "'del' is not supported", k_no_state},
    {"global", "'global' is not supported", k_no_state},
    {"nonlocal", "'nonlocal' is not supported", k_no_state},
    {"async", "'async' is not supported", k_no_state},
    {"match", "'match' is not supported", "use torch.where for choices"},
    {"break", "loops are not supported", k_no_loop},
    {"continue", "loops are not supported", k_no_loop},
    {"elif", "'elif' stands without an 'if'", "start the choice with 'if'"},
    {"else", "'else' stands without an 'if'", "start the choice with 'if'"},
}};

class StatementParser {
 public:
  explicit StatementParser(PyTokenStream& tokens) : tokens_(tokens) {}

  Result<std::vector<PyStatement>> module() {
    std::vector<PyStatement> statements;
    while (!tokens_.at(PyTokenKind::end)) KW_TRY_VOID(line(statements));
    return statements;
  }

 private:
  /// One line of simple statements or one compound statement.
  Result<void> line(std::vector<PyStatement>& into) {
    if (tokens_.at(PyTokenKind::newline)) {
      tokens_.take();
      return {};
    }
    if (tokens_.at(PyTokenKind::indent)) return tokens_.unexpected("expected a statement");
    KW_TRY_VOID(skip_decorators());
    if (tokens_.at_word("def")) return append(into, define());
    if (tokens_.at_word("if")) return append(into, branch());
    while (true) {
      KW_TRY_VOID(append(into, simple()));
      if (tokens_.accept_symbol(";") && !tokens_.at(PyTokenKind::newline)) continue;
      if (!tokens_.at(PyTokenKind::newline)) return tokens_.unexpected("expected the end of the statement");
      tokens_.take();
      return {};
    }
  }

  static Result<void> append(std::vector<PyStatement>& into, Result<PyStatement> statement) {
    if (!statement) return tl::unexpected(std::move(statement).error());
    into.push_back(*std::move(statement));
    return {};
  }

  /// What a decorator would do to the mod (compile it, mostly) is ours to do.
  Result<void> skip_decorators() {
    while (tokens_.accept_symbol("@")) {
      KW_TRY([[maybe_unused]] auto decorator, parse_py_expression(tokens_));
      if (!tokens_.at(PyTokenKind::newline)) return tokens_.unexpected("expected the end of the decorator");
      tokens_.take();
      if (!tokens_.at_word("def") && !tokens_.at_symbol("@")) return tokens_.unexpected("expected 'def'");
    }
    return {};
  }

  Result<PyStatement> define() {
    PyStatement statement;
    statement.kind = PyStatementKind::define;
    statement.where = tokens_.take().where;
    if (!tokens_.at(PyTokenKind::name)) return tokens_.unexpected("expected the name of the function");
    auto function = std::make_unique<PyFunction>();
    function->where = tokens_.peek().where;
    function->name = tokens_.take().text;
    KW_TRY_VOID(tokens_.expect_symbol("(", "the name of the function"));
    KW_TRY(function->parameters, parse_py_parameters(tokens_, ")"));
    KW_TRY_VOID(tokens_.expect_symbol(")", "the parameters"));
    if (tokens_.accept_symbol("->")) {
      KW_TRY([[maybe_unused]] auto annotation, parse_py_expression(tokens_));
    }
    KW_TRY(function->body, block("the head of the function"));
    statement.function = std::move(function);
    return statement;
  }

  Result<PyStatement> branch() {
    PyStatement statement;
    statement.kind = PyStatementKind::branch;
    statement.where = tokens_.take().where;
    KW_TRY(statement.value, parse_py_expression(tokens_));
    KW_TRY(statement.body, block("the condition"));
    if (tokens_.at_word("elif")) {
      const PyTokenStream::Level level(tokens_);
      KW_TRY_VOID(level.check());
      KW_TRY_VOID(append(statement.otherwise, branch()));
    } else if (tokens_.accept_word("else")) {
      KW_TRY(statement.otherwise, block("'else'"));
    }
    return statement;
  }

  /// ":" and what it governs: the rest of the line, or the indented lines below.
  Result<std::vector<PyStatement>> block(std::string_view after) {
    const PyTokenStream::Level level(tokens_);
    KW_TRY_VOID(level.check());
    KW_TRY_VOID(tokens_.expect_symbol(":", after));
    std::vector<PyStatement> statements;
    if (!tokens_.at(PyTokenKind::newline)) {
      KW_TRY_VOID(line(statements));
      return statements;
    }
    tokens_.take();
    if (!tokens_.at(PyTokenKind::indent)) return tokens_.unexpected("expected an indented line");
    tokens_.take();
    while (!tokens_.at(PyTokenKind::dedent) && !tokens_.at(PyTokenKind::end)) KW_TRY_VOID(line(statements));
    tokens_.take();
    return statements;
  }

  Result<PyStatement> simple() {
    PyStatement statement;
    statement.where = tokens_.peek().where;
    if (tokens_.at(PyTokenKind::name)) {
      for (const auto& refused : k_refused) {
        if (tokens_.at_word(refused.word) && !is_assignment_to_word()) {
          return PyTokenStream::unsupported(statement.where, std::string(refused.message), std::string(refused.hint));
        }
      }
    }
    if (tokens_.accept_word("pass")) return statement;
    if (tokens_.at_word("import") || tokens_.at_word("from")) return import();
    if (tokens_.accept_word("return")) {
      statement.kind = PyStatementKind::give_back;
      if (tokens_.at(PyTokenKind::newline) || tokens_.at_symbol(";")) return statement;
      KW_TRY(statement.value, parse_py_expression_list(tokens_));
      return statement;
    }
    return assignment_or_expression(std::move(statement));
  }

  /// "match = 3": a word that is only a keyword in some places.
  [[nodiscard]] bool is_assignment_to_word() const {
    return tokens_.at_word("match") && tokens_.peek(1).kind == PyTokenKind::symbol && tokens_.peek(1).text == "=";
  }

  Result<PyStatement> assignment_or_expression(PyStatement statement) {
    KW_TRY(auto value, parse_py_expression_list(tokens_));
    if (tokens_.at_symbol(":")) {
      tokens_.take();
      KW_TRY([[maybe_unused]] auto annotation, parse_py_expression(tokens_));
      if (!tokens_.at_symbol("=")) return tokens_.unexpected("expected '=' after the annotation");
    }
    const auto& symbol = tokens_.peek();
    const bool augmented = symbol.kind == PyTokenKind::symbol && symbol.text.size() >= 2 && symbol.text.back() == '=' &&
                           symbol.text != "==" && symbol.text != "!=" && symbol.text != "<=" && symbol.text != ">=";
    if (augmented) return augmented_assignment(std::move(statement), std::move(value));
    if (!tokens_.at_symbol("=")) {
      statement.kind = PyStatementKind::expression;
      statement.value = std::move(value);
      return statement;
    }
    tokens_.take();
    statement.kind = PyStatementKind::assign;
    if (value->kind == PyExprKind::attribute && value->text == "__name__") {
      // A label for debuggers: evaluated for its errors, bound to nothing.
      statement.kind = PyStatementKind::expression;
    } else {
      KW_TRY_VOID(targets(*value, statement));
    }
    KW_TRY(statement.value, parse_py_expression_list(tokens_));
    if (tokens_.at_symbol("=")) {
      return PyTokenStream::unsupported(tokens_.peek().where, "assigning to several targets at once is not supported",
                                        "write one assignment per line");
    }
    return statement;
  }

  Result<PyStatement> augmented_assignment(PyStatement statement, PyExprPtr target) {
    const auto token = tokens_.take();
    statement.kind = PyStatementKind::assign;
    KW_TRY_VOID(targets(*target, statement));
    if (statement.unpack) return tokens_.unexpected("a tuple has no augmented assignment");
    auto node = std::make_unique<PyExpr>();
    node->kind = PyExprKind::binary;
    node->where = token.where;
    node->text = token.text.substr(0, token.text.size() - 1);
    KW_TRY(auto right, parse_py_expression_list(tokens_));
    node->height = std::max(target->height, right->height) + 1;
    node->children.push_back(std::move(target));
    node->children.push_back(std::move(right));
    if (node->text == "@")
      return PyTokenStream::unsupported(token.where, "matrix products are not supported in a mod",
                                        "a mod sees one score at a time");
    if (node->height > PyTokenStream::k_max_depth) return PyTokenStream::too_deep(token.where);
    statement.value = std::move(node);
    return statement;
  }

  static Result<void> targets(const PyExpr& target, PyStatement& statement) {
    if (target.kind == PyExprKind::name) {
      statement.names.push_back(target.text);
      return {};
    }
    if (target.kind == PyExprKind::tuple) {
      statement.unpack = true;
      for (const auto& child : target.children) {
        if (child->kind != PyExprKind::name) return bad_target(*child);
        statement.names.push_back(child->text);
      }
      return {};
    }
    return bad_target(target);
  }

  static tl::unexpected<Error> bad_target(const PyExpr& target) {
    if (target.kind == PyExprKind::subscript || target.kind == PyExprKind::attribute) {
      return PyTokenStream::unsupported(target.where, "writing to an element or an attribute is not supported",
                                        "a mod only computes a value; assign to plain names");
    }
    return fail(Error{errc::mod_syntax, "only a name can be assigned to", {}, target.where});
  }

  Result<std::string> dotted_name() {
    std::string path;
    do {
      if (!tokens_.at(PyTokenKind::name)) return tokens_.unexpected("expected the name of a module");
      path += (path.empty() ? "" : ".") + tokens_.take().text;
    } while (tokens_.accept_symbol("."));
    return path;
  }

  Result<PyStatement> import() {
    PyStatement statement;
    statement.kind = PyStatementKind::import;
    statement.where = tokens_.peek().where;
    std::string prefix;
    if (tokens_.accept_word("from")) {
      while (tokens_.accept_symbol(".") || tokens_.accept_symbol("...")) prefix = ".";
      if (!tokens_.at_word("import")) {
        KW_TRY(const auto module, dotted_name());
        prefix += module;
      }
      prefix += ".";
    }
    if (!tokens_.accept_word("import")) return tokens_.unexpected("expected 'import'");
    const bool parenthesised = tokens_.accept_symbol("(");
    do {
      if (parenthesised && tokens_.at_symbol(")")) break;
      if (tokens_.accept_symbol("*")) continue;
      KW_TRY(const auto path, dotted_name());
      const auto first = path.substr(0, path.find('.'));
      std::string bound = first;
      if (tokens_.accept_word("as")) {
        if (!tokens_.at(PyTokenKind::name)) return tokens_.unexpected("expected a name after 'as'");
        bound = tokens_.take().text;
        statement.paths.push_back(prefix + path);
      } else {
        statement.paths.push_back(prefix + (prefix.empty() ? first : path));
      }
      statement.names.push_back(bound);
    } while (tokens_.accept_symbol(","));
    if (parenthesised) KW_TRY_VOID(tokens_.expect_symbol(")", "the imported names"));
    return statement;
  }

  PyTokenStream& tokens_;
};

}  // namespace

Result<std::vector<PyStatement>> parse_python(std::string_view text) {
  KW_TRY(auto list, tokenize_python(text));
  PyTokenStream tokens(std::move(list));
  return StatementParser(tokens).module();
}

}  // namespace kw
