#include "python/parser.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "python/expression_parser.hpp"
#include "python/lexer.hpp"
#include "python/token_stream.hpp"

namespace kw {
namespace {

struct RefusedStatement {
  std::string_view word;
  std::string_view message;
  std::string_view hint;
};
constexpr std::string_view k_no_state = "a mod only computes a value; assign names and return";
constexpr std::string_view k_for = "write a 'for' over a range or a tuple whose length is known before the kernel runs";
constexpr std::string_view k_read_only = "the file is read, never executed: leave it out, or write it with assignments";
constexpr std::string_view k_jump = "every turn of a loop is written out; choose with 'if' inside the body";
constexpr std::array<RefusedStatement, 15> k_refused_statements = {{
    {"while", "'while' is not supported", k_for},
    {"with", "'with' is not supported", k_no_state},
    {"try", "'try' is not supported", k_no_state},
    {"except", "'except' stands without a 'try'", k_no_state},
    {"finally", "'finally' stands without a 'try'", k_no_state},
    {"del", "'del' is not supported", k_no_state},
    {"global", "'global' is not supported", k_no_state},
    {"nonlocal", "'nonlocal' is not supported", k_no_state},
    {"async", "'async' is not supported", k_no_state},
    {"match", "'match' is not supported", "use torch.where for choices"},
    {"type", "'type' is not supported", "leave the annotation out"},
    {"break", "'break' is not supported", k_jump},
    {"continue", "'continue' is not supported", k_jump},
    {"elif", "'elif' stands without an 'if'", "start the choice with 'if'"},
    {"else", "'else' stands without an 'if'", "start the choice with 'if'"},
}};
/// Words that are keywords only where a statement starts and a name follows.
constexpr std::array<std::string_view, 2> k_soft_keywords = {"match", "type"};

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
    KW_TRY(auto decorators, read_decorators());
    if (tokens_.at_word("def")) return append(into, define(std::move(decorators)));
    if (tokens_.at_word("class")) {
      if (tokens_.of_module()) return append(into, define_whole_class(std::move(decorators)));
      if (!decorators.empty()) return tokens_.unexpected("expected 'def'");
      return append(into, define_class());
    }
    KW_TRY(const bool read, compound_of_module(into));
    if (read) return {};
    if (tokens_.at_word("if")) return append(into, branch());
    if (tokens_.at_word("for")) return append(into, loop());
    while (true) {
      KW_TRY_VOID(append(into, simple()));
      if (tokens_.accept_symbol(";") && !tokens_.at(PyTokenKind::newline)) continue;
      if (!tokens_.at(PyTokenKind::newline)) return tokens_.unexpected("expected the end of the statement");
      tokens_.take();
      return {};
    }
  }

  /// Compound statements that only the dialect of modules has; false where there is none.
  Result<bool> compound_of_module(std::vector<PyStatement>& into) {
    if (!tokens_.of_module()) return false;
    if (tokens_.at_word("if") && tokens_.peek(1).text == "__name__") {  // what runs when the file is a script
      skip_statement();
    } else if (tokens_.at_word("while")) {
      KW_TRY_VOID(append(into, repeat()));
    } else if (tokens_.at_word("with")) {
      KW_TRY_VOID(append(into, with()));
    } else if (tokens_.at_word("try")) {
      KW_TRY_VOID(attempt(into));
    } else {
      return false;
    }
    return true;
  }

  static Result<void> append(std::vector<PyStatement>& into, Result<PyStatement> statement) {
    if (!statement) return tl::unexpected(std::move(statement).error());
    into.push_back(*std::move(statement));
    return {};
  }

  Result<std::vector<PyExprPtr>> read_decorators() {
    std::vector<PyExprPtr> decorators;
    while (tokens_.accept_symbol("@")) {
      KW_TRY(auto decorator, PyExpressionParser(tokens_).expression());
      decorators.push_back(std::move(decorator));
      if (!tokens_.at(PyTokenKind::newline)) return tokens_.unexpected("expected the end of the decorator");
      tokens_.take();
      if (!tokens_.at_word("def") && !tokens_.at_word("class") && !tokens_.at_symbol("@")) {
        return tokens_.unexpected("expected 'def'");
      }
    }
    return decorators;
  }

  Result<PyStatement> define(std::vector<PyExprPtr> decorators) {
    PyStatement statement;
    statement.kind = PyStatementKind::define;
    statement.where = tokens_.take().where;
    if (!tokens_.at(PyTokenKind::name)) return tokens_.unexpected("expected the name of the function");
    auto function = std::make_unique<PyFunction>();
    function->where = tokens_.peek().where;
    function->name = tokens_.take().text;
    function->decorators = std::move(decorators);
    KW_TRY_VOID(tokens_.expect_symbol("(", "the name of the function"));
    KW_TRY(function->parameters, PyExpressionParser(tokens_).parameters(")"));
    KW_TRY_VOID(tokens_.expect_symbol(")", "the parameters"));
    if (tokens_.accept_symbol("->")) {
      KW_TRY([[maybe_unused]] auto annotation, PyExpressionParser(tokens_).expression());
    }
    KW_TRY(function->body, block("the head of the function"));
    statement.function = std::move(function);
    return statement;
  }

  /// Of a class only the method forward is read: autograd functions have it, and other classes are refused anyway.
  Result<PyStatement> define_class() {
    const PyTokenStream::Level level(tokens_);
    KW_TRY_VOID(level.check());
    PyStatement statement;
    statement.kind = PyStatementKind::define_class;
    statement.where = tokens_.take().where;
    if (!tokens_.at(PyTokenKind::name)) return tokens_.unexpected("expected the name of the class");
    statement.names.push_back(tokens_.take().text);
    if (tokens_.accept_symbol("(") && !tokens_.accept_symbol(")")) {
      KW_TRY(statement.value, PyExpressionParser(tokens_).expression());
      while (!tokens_.at_symbol(")") && !tokens_.at(PyTokenKind::newline)) tokens_.take();
      KW_TRY_VOID(tokens_.expect_symbol(")", "the bases of the class"));
    }
    KW_TRY_VOID(tokens_.expect_symbol(":", "the name of the class"));
    if (!tokens_.at(PyTokenKind::newline)) {  // "class X: ..."
      skip_statement();
      return statement;
    }
    tokens_.take();
    if (!tokens_.at(PyTokenKind::indent)) return tokens_.unexpected("expected an indented line");
    tokens_.take();
    while (!tokens_.at(PyTokenKind::dedent) && !tokens_.at(PyTokenKind::end)) KW_TRY_VOID(class_member(statement));
    tokens_.take();
    return statement;
  }

  /// The class of a module file, with everything in it.
  Result<PyStatement> define_whole_class(std::vector<PyExprPtr> decorators) {
    PyStatement statement;
    statement.kind = PyStatementKind::define_class;
    tokens_.take();
    statement.where = tokens_.peek().where;
    if (!tokens_.at(PyTokenKind::name)) return tokens_.unexpected("expected the name of the class");
    statement.names.push_back(tokens_.take().text);
    statement.decorators = std::move(decorators);
    if (tokens_.accept_symbol("(")) {
      while (!tokens_.accept_symbol(")")) {
        KW_TRY(auto base, PyExpressionParser(tokens_).expression());
        statement.targets.push_back(std::move(base));
        if (tokens_.accept_symbol(",")) continue;
        KW_TRY_VOID(tokens_.expect_symbol(")", "the bases of the class"));
        break;
      }
    }
    KW_TRY(statement.body, block("the name of the class"));
    return statement;
  }

  Result<PyStatement> repeat() {
    PyStatement statement;
    statement.kind = PyStatementKind::repeat;
    statement.where = tokens_.take().where;
    KW_TRY(statement.value, PyExpressionParser(tokens_).expression());
    KW_TRY(statement.body, block("the condition"));
    return statement;
  }

  Result<PyStatement> with() {
    PyStatement statement;
    statement.kind = PyStatementKind::with;
    statement.where = tokens_.take().where;
    KW_TRY(statement.value, PyExpressionParser(tokens_).expression());
    if (tokens_.at_word("as") || tokens_.at_symbol(",")) {
      return PyTokenStream::unsupported(tokens_.peek().where, "only a 'with' of one context and no name is read",
                                        std::string(k_read_only));
    }
    KW_TRY(statement.body, block("the context"));
    return statement;
  }

  /// Of the handlers the first is read. What stands behind "else" belongs to what is tried, and what stands behind
  /// "finally" follows.
  Result<void> attempt(std::vector<PyStatement>& into) {
    PyStatement statement;
    statement.kind = PyStatementKind::attempt;
    statement.where = tokens_.take().where;
    KW_TRY(statement.body, block("'try'"));
    bool handled = false;
    while (tokens_.accept_word("except")) {
      if (!tokens_.at_symbol(":")) {
        KW_TRY([[maybe_unused]] auto type, PyExpressionParser(tokens_).list());
        if (tokens_.accept_word("as")) tokens_.take();
      }
      KW_TRY(auto handler, block("'except'"));
      if (!handled) statement.otherwise = std::move(handler);
      handled = true;
    }
    if (tokens_.accept_word("else")) {
      KW_TRY(auto more, block("'else'"));
      std::ranges::move(more, std::back_inserter(statement.body));
    }
    std::vector<PyStatement> last;
    const bool finally = tokens_.accept_word("finally");
    if (finally) {
      KW_TRY(last, block("'finally'"));
    }
    if (!handled && !finally) return tokens_.unexpected("expected 'except'");
    into.push_back(std::move(statement));
    std::ranges::move(last, std::back_inserter(into));
    return {};
  }

  /// Behind "del".
  Result<PyStatement> remove(PyStatement statement) {
    statement.kind = PyStatementKind::remove;
    do {
      KW_TRY(auto target, PyExpressionParser(tokens_).expression());
      KW_TRY_VOID(PyExpressionParser::check_target(*target));
      statement.targets.push_back(std::move(target));
    } while (tokens_.accept_symbol(","));
    return statement;
  }

  Result<void> class_member(PyStatement& into) {
    const bool method = tokens_.at_word("def") && tokens_.peek(1).kind == PyTokenKind::name;
    if (method) into.names.push_back(tokens_.peek(1).text);
    if (method && into.names.back() == "forward") return append(into.body, define({}));
    skip_statement();
    return {};
  }

  /// To the end of the line, and over the indented lines below it.
  void skip_statement() {
    while (!tokens_.at(PyTokenKind::newline) && !tokens_.at(PyTokenKind::end)) tokens_.take();
    tokens_.take();
    if (!tokens_.at(PyTokenKind::indent)) return;
    int depth = 0;
    do {
      if (tokens_.at(PyTokenKind::indent)) ++depth;
      if (tokens_.at(PyTokenKind::dedent)) --depth;
      tokens_.take();
    } while (depth > 0 && !tokens_.at(PyTokenKind::end));
  }

  Result<PyStatement> branch() {
    PyStatement statement;
    statement.kind = PyStatementKind::branch;
    statement.where = tokens_.take().where;
    KW_TRY(statement.value, PyExpressionParser(tokens_).expression());
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

  Result<PyStatement> loop() {
    PyStatement statement;
    statement.kind = PyStatementKind::loop;
    statement.where = tokens_.take().where;
    KW_TRY(auto target, PyExpressionParser(tokens_).loop_target());
    statement.targets.push_back(std::move(target));
    KW_TRY(statement.value, PyExpressionParser(tokens_).list());
    KW_TRY(statement.body, block("what the loop runs over"));
    if (!tokens_.at_word("else")) return statement;
    if (!tokens_.of_module()) {
      return PyTokenStream::unsupported(tokens_.peek().where, "'else' after a loop is not supported",
                                        "write what follows the loop below it");
    }
    tokens_.take();
    KW_TRY(statement.otherwise, block("'else'"));
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
    KW_TRY_VOID(refuse_word());
    if (tokens_.accept_word("pass")) return statement;
    if (tokens_.of_module() && (tokens_.at_word("break") || tokens_.at_word("continue"))) {
      statement.kind = tokens_.at_word("break") ? PyStatementKind::leave : PyStatementKind::go_on;
      tokens_.take();
      return statement;
    }
    if (tokens_.of_module() && tokens_.accept_word("del")) return remove(std::move(statement));
    if (tokens_.at_word("import") || tokens_.at_word("from")) return import();
    if (tokens_.accept_word("return")) {
      statement.kind = PyStatementKind::give_back;
      if (ends_statement()) return statement;
      KW_TRY(statement.value, PyExpressionParser(tokens_).list());
      return statement;
    }
    if (tokens_.accept_word("raise")) return raise(std::move(statement));
    if (tokens_.accept_word("assert")) return check(std::move(statement));
    return assignment_or_expression(std::move(statement));
  }

  [[nodiscard]] bool ends_statement() const { return tokens_.at(PyTokenKind::newline) || tokens_.at_symbol(";"); }

  [[nodiscard]] Result<void> refuse_word() const {
    if (!tokens_.at(PyTokenKind::name)) return {};
    for (const auto word : k_soft_keywords) {
      if (tokens_.at_word(word) && tokens_.peek(1).kind != PyTokenKind::name) return {};
    }
    for (const auto& refused : k_refused_statements) {
      if (!tokens_.at_word(refused.word)) continue;
      if (tokens_.of_module()) {
        const bool read = tokens_.at_word("break") || tokens_.at_word("continue") || tokens_.at_word("del");
        if (read) return {};
        const bool stray = tokens_.at_word("elif") || tokens_.at_word("else");
        return PyTokenStream::unsupported(tokens_.peek().where, std::string(refused.message),
                                          std::string(stray ? refused.hint : k_read_only));
      }
      return PyTokenStream::unsupported(tokens_.peek().where, std::string(refused.message), std::string(refused.hint));
    }
    return {};
  }

  Result<PyStatement> raise(PyStatement statement) {
    statement.kind = PyStatementKind::raise;
    if (ends_statement()) return statement;
    KW_TRY(statement.value, PyExpressionParser(tokens_).expression());
    if (tokens_.accept_word("from")) {
      KW_TRY([[maybe_unused]] auto cause, PyExpressionParser(tokens_).expression());
    }
    return statement;
  }

  Result<PyStatement> check(PyStatement statement) {
    statement.kind = PyStatementKind::check;
    KW_TRY(statement.value, PyExpressionParser(tokens_).expression());
    if (tokens_.accept_symbol(",")) {
      KW_TRY(statement.message, PyExpressionParser(tokens_).expression());
    }
    return statement;
  }

  Result<PyStatement> assignment_or_expression(PyStatement statement) {
    KW_TRY(auto value, PyExpressionParser(tokens_).list());
    const bool annotated = tokens_.accept_symbol(":");
    if (annotated) {
      KW_TRY([[maybe_unused]] auto annotation, PyExpressionParser(tokens_).expression());
      if (ends_statement()) {  // "x: int" binds nothing
        if (!tokens_.of_module()) return statement;
        statement.kind = PyStatementKind::declare;
        statement.targets.push_back(std::move(value));
        return statement;
      }
      if (!tokens_.at_symbol("=")) return tokens_.unexpected("expected '=' after the annotation");
    }
    const auto& symbol = tokens_.peek();
    const bool augmented = symbol.kind == PyTokenKind::symbol && symbol.text.size() >= 2 && symbol.text.back() == '=' &&
                           symbol.text != "==" && symbol.text != "!=" && symbol.text != "<=" && symbol.text != ">=";
    if (augmented) return augmented_assignment(std::move(statement), std::move(value));
    statement.kind = tokens_.at_symbol("=") ? PyStatementKind::assign : PyStatementKind::expression;
    bool label = false;
    while (tokens_.accept_symbol("=")) {
      label = label || is_label(*value);
      if (!is_label(*value)) {
        KW_TRY_VOID(PyExpressionParser::check_target(*value));
        statement.targets.push_back(std::move(value));
      }
      KW_TRY(value, PyExpressionParser(tokens_).list());
    }
    if (label && statement.targets.empty()) return PyStatement{};  // computes nothing but a text
    statement.value = std::move(value);
    return statement;
  }

  /// "mod.__name__ = ..." names a function for debuggers.
  static bool is_label(const PyExpr& target) {
    return target.kind == PyExprKind::attribute &&
           (target.text == "__name__" || target.text == "__qualname__" || target.text == "__doc__");
  }

  Result<PyStatement> augmented_assignment(PyStatement statement, PyExprPtr target) {
    const auto token = tokens_.take();
    statement.kind = PyStatementKind::assign;
    KW_TRY_VOID(PyExpressionParser::check_target(*target));
    const bool attribute = target->kind == PyExprKind::attribute && tokens_.of_module();
    if (target->kind != PyExprKind::name && target->kind != PyExprKind::subscript && !attribute) {
      return fail(Error{errc::mod_syntax, fmt::format("'{}' assigns to one name only", token.text), {}, token.where});
    }
    if (token.text == "@=" && !tokens_.of_module()) {
      return PyTokenStream::unsupported(token.where, "matrix products are not supported in a mod",
                                        "a mod sees one score at a time");
    }
    statement.op = token.text.substr(0, token.text.size() - 1);
    statement.op_where = token.where;
    statement.targets.push_back(std::move(target));
    KW_TRY(statement.value, PyExpressionParser(tokens_).list());
    return statement;
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
      while (tokens_.at_symbol(".") || tokens_.at_symbol("...")) prefix += tokens_.take().text;
      if (!tokens_.at_word("import")) {
        KW_TRY(const auto module, dotted_name());
        prefix += module + ".";
      }
    }
    if (!tokens_.accept_word("import")) return tokens_.unexpected("expected 'import'");
    const bool parenthesised = tokens_.accept_symbol("(");
    do {
      if (parenthesised && tokens_.at_symbol(")")) break;
      if (tokens_.accept_symbol("*")) {
        statement.names.emplace_back("*");
        statement.paths.push_back(prefix + "*");
        continue;
      }
      KW_TRY(const auto path, dotted_name());
      const std::string first(path.begin(), std::find(path.begin(), path.end(), '.'));
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

Result<std::vector<PyStatement>> parse_python(std::string_view text, const SourcePlace& start, PyDialect dialect) {
  KW_TRY(auto list, tokenize_python(text, start));
  PyTokenStream tokens(std::move(list), dialect);
  return StatementParser(tokens).module();
}

Result<PyExprPtr> parse_python_expression(std::string_view text, const SourcePlace& start) {
  KW_TRY(auto list, tokenize_python(text, start));
  PyTokenStream tokens(std::move(list), PyDialect::module);
  KW_TRY(auto value, PyExpressionParser(tokens).expression());
  if (!tokens.at(PyTokenKind::newline) && !tokens.at(PyTokenKind::end)) {
    return tokens.unexpected("expected the end of the expression");
  }
  return value;
}

}  // namespace kw
