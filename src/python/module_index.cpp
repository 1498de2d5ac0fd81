#include "python/module_index.hpp"

#include <algorithm>
#include <utility>

#include "python/bound_names.hpp"
#include "python/lexer.hpp"
#include "python/logical_lines.hpp"
#include "python/parser.hpp"

namespace kw {
namespace {

using Guards = std::vector<PyGuard>;

constexpr std::size_t k_most_branches = 64;  ///< of one "if" that are told apart

/// A statement on one line, or the head of one, with its tokens.
struct Part {
  std::string_view text;
  SourcePlace where;                 ///< of its first character
  std::vector<PyToken> tokens;       ///< without the end of the line; empty when it cannot be read
  std::vector<std::size_t> offsets;  ///< of each token in `text`

  /// The text from one token up to another, or to the end.
  [[nodiscard]] std::string_view between(std::size_t first, std::size_t end) const {
    const auto stop = end < offsets.size() ? offsets[end] : text.size();
    return text.substr(offsets[first], stop - offsets[first]);
  }
};

Part part_of(std::string_view text, SourcePlace where) {
  Part part{text, std::move(where), {}, {}};
  auto tokens = tokenize_python(part.text, part.where);
  if (!tokens) return part;
  part.tokens = *std::move(tokens);
  while (!part.tokens.empty() && part.tokens.back().kind >= PyTokenKind::newline) part.tokens.pop_back();
  auto place = part.where;
  std::size_t at = 0;
  for (const auto& token : part.tokens) {
    while (at < text.size() && (place.line < token.where.line || place.column < token.where.column)) {
      const bool newline = text[at++] == '\n';
      const bool inside = at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
      place.line += newline ? 1 : 0;
      place.column = newline ? 1 : place.column + (inside ? 0 : 1);
    }
    part.offsets.push_back(at);
  }
  return part;
}

/// Of a line that holds what Python's tokenizer takes and ours does not: the words before its last "=".
std::vector<std::string> guessed_names(std::string_view text) {
  std::size_t end = 0;
  int depth = 0;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == ']' || text[i] == '}') --depth;
    const bool comparison = text[i + 1] == '=' || std::string_view("=!<>").find(text[i - 1]) != std::string_view::npos;
    if (text[i] == '=' && depth <= 0 && !comparison) end = i;
  }
  std::vector<std::string> names;
  for (auto rest = text.substr(0, end); !rest.empty();) {
    const auto word = first_word(rest);
    if (!word.empty()) names.emplace_back(word);
    rest.remove_prefix(std::max<std::size_t>(word.size(), 1));
  }
  return names;
}

class Cutter {
 public:
  Cutter(const std::vector<PyLogicalLine>& lines, PyModule& module, const std::string& file)
      : lines_(lines), module_(module), file_(file) {}

  void run(std::size_t first = 0) { block(first, lines_.size(), {}); }

 private:
  /// What an "elif", an "else" or an "except" goes on with.
  struct Chain {
    std::string_view word;
    Guards passed;  ///< hold when no branch above was taken
  };
  struct Statement {
    std::size_t first;  ///< the first line, a decorator's if there is one
    std::size_t head;
    std::size_t end;  ///< behind the last line
  };

  void block(std::size_t begin, std::size_t end, const Guards& guards) {
    Chain chain;
    while (begin < end) {
      Statement here{begin, begin, begin};
      while (here.head + 1 < end && lines_[here.head].code().front() == '@') ++here.head;
      here.end = behind(here.head, end);
      begin = statement(here, end, guards, chain);
    }
  }

  /// Behind the lines that are indented below `head`.
  [[nodiscard]] std::size_t behind(std::size_t head, std::size_t end) const {
    std::size_t next = head + 1;
    while (next < end && lines_[next].indent > lines_[head].indent) ++next;
    return next;
  }

  [[nodiscard]] Part code_of(std::size_t line) const {
    const auto code = lines_[line].code();
    return part_of(code, {file_, lines_[line].line, static_cast<int>(lines_[line].text.size() - code.size()) + 1});
  }

  [[nodiscard]] PyModuleItem item(const Statement& here, PyItemKind kind, const Guards& guards) const {
    const auto& last = lines_[here.end - 1].text;
    const auto* const begin = lines_[here.first].text.data();
    const auto size = static_cast<std::size_t>(last.data() + last.size() - begin);
    const int lines = static_cast<int>(std::count(last.begin(), last.end() - 1, '\n'));
    PyModuleItem made;
    made.kind = kind;
    made.text = {begin, size};
    made.where = {file_, lines_[here.first].line, 1};
    made.last_line = lines_[here.end - 1].line + lines;
    made.guards = guards;
    return made;
  }

  void add(PyModuleItem made, std::vector<std::string> names) {
    if (names.empty()) return;
    made.names = std::move(names);
    made.exits = module_.exits.size();
    module_.items.push_back(std::move(made));
  }
  void add_unread(const Statement& here, std::string_view why, std::vector<std::string> names, const Guards& guards) {
    auto made = item(here, PyItemKind::unread, guards);
    made.unread = why;
    add(std::move(made), std::move(names));
  }

  PyGuard condition(std::string_view word, std::string_view text, const SourcePlace& where) {
    module_.conditions.push_back({word, text, where, module_.items.size()});
    return {module_.conditions.size() - 1, true};
  }

  /// The line behind the statement.
  std::size_t statement(const Statement& here, std::size_t end, const Guards& guards, Chain& chain) {
    const auto head = code_of(here.head);
    const auto word = first_word(head.text);
    const Chain before = std::exchange(chain, Chain{});
    if (word == "def" || word == "class") {
      define(here, head, guards);
    } else if (head.tokens.empty()) {
      add_unread(here, "a statement that is not read", guessed_names(head.text), guards);
    } else if (word == "async") {
      return coroutine(here, head, end, guards);
    } else if (word == "for" || word == "while") {
      return loop(here, head, end, guards);
    } else if (word == "if" || word == "elif" || word == "else") {
      branch(here, head, before, guards, chain);
    } else if (word == "try" || word == "except" || word == "finally") {
      attempt(here, head, guards, chain);
    } else if (word == "with") {
      context(here, head, guards);
    } else if (word == "match" && is_symbol(head.tokens.back(), ":")) {
      choice(here, guards);
    } else {
      simple(here, head, 0, guards);
    }
    return here.end;
  }

  void define(const Statement& here, const Part& head, const Guards& guards) {
    const auto word = first_word(head.text);
    auto made = item(here, word == "def" ? PyItemKind::function : PyItemKind::type, guards);
    made.definition = true;
    auto rest = head.text.substr(word.size());
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
    if (const auto name = first_word(rest); !name.empty()) add(std::move(made), {std::string(name)});
  }

  /// The statements that `here` governs.
  void body(const Statement& here, const Part& head, std::size_t colon, const Guards& guards) {
    if (colon + 1 < head.tokens.size()) {
      simple(here, head, colon + 1, guards);
    } else {
      block(here.head + 1, here.end, guards);
    }
  }
  /// What the head itself binds.
  void add_head(const Statement& here, std::string_view why, std::vector<std::string> names, const Guards& guards) {
    add_unread(Statement{here.head, here.head, here.head + 1}, why, std::move(names), guards);
  }

  void branch(const Statement& here, const Part& head, const Chain& before, const Guards& guards, Chain& chain) {
    const PyTokens tokens(head.tokens);
    const auto word = first_word(head.text);
    const auto colon = find_outside(tokens, ":");
    if (word != "if" && before.word.empty()) return;
    chain = word == "if" ? Chain{"if", guards} : before;
    if (chain.passed.size() > guards.size() + k_most_branches) {
      chain.passed = guards;
      chain.passed.push_back(condition("if", {}, head.where));
    }
    Guards inside = chain.passed;
    if (word != "else" && colon > 1) {
      add_head(here, "':='", walrus_names(tokens.subspan(0, colon)), chain.passed);
      auto guard = condition("if", head.between(1, colon), tokens[1].where);
      inside.push_back(guard);
      guard.holds = false;
      chain.passed.push_back(guard);
    }
    body(here, head, colon, inside);
  }

  void attempt(const Statement& here, const Part& head, const Guards& guards, Chain& chain) {
    const PyTokens tokens(head.tokens);
    const auto colon = find_outside(tokens, ":");
    Guards inside = guards;
    if (first_word(head.text) != "finally") inside.push_back(condition("try", {}, head.where));
    add_head(here, "an 'except'", names_after_as(tokens.subspan(0, colon)), inside);
    chain = Chain{"try", inside};
    body(here, head, colon, inside);
  }

  void context(const Statement& here, const Part& head, const Guards& guards) {
    const PyTokens tokens(head.tokens);
    const auto colon = find_outside(tokens, ":");
    const auto managers = tokens.subspan(0, colon);
    add_head(here, "a 'with'", names_after_as(managers), guards);
    add_head(here, "':='", walrus_names(managers), guards);
    // Any other may swallow an exception in the middle of the block.
    const bool torch = managers.size() > 1 && is_word(managers[1], "torch");
    Guards inside = guards;
    if (!torch || find_outside(managers, ",") < managers.size()) inside.push_back(condition("with", {}, head.where));
    body(here, head, colon, inside);
  }

  /// Names that the head and the statements below it bind.
  [[nodiscard]] std::vector<std::string> names_inside(const Statement& here, const Part& head, const Guards& guards) {
    PyModule inner;
    Cutter(lines_, inner, file_).body(here, head, find_outside(head.tokens, ":"), {});
    if (!inner.exits.empty()) {
      auto exit = guards;
      exit.push_back(condition(first_word(head.text), {}, head.where));
      module_.exits.push_back(std::move(exit));
    }
    auto names = walrus_names(head.tokens);
    for (const auto& found : inner.items) names.insert(names.end(), found.names.begin(), found.names.end());
    return names;
  }

  /// A loop is one statement, with its "else".
  std::size_t loop(const Statement& start, const Part& head, std::size_t end, const Guards& guards) {
    Statement here = start;
    const PyTokens tokens(head.tokens);
    auto names = names_inside(here, head, guards);
    const bool counted = is_word(tokens.front(), "for");
    const auto target = static_cast<std::size_t>(
        std::find_if(tokens.begin(), tokens.end(), [](const auto& token) { return is_word(token, "for"); }) -
        tokens.begin());
    if (target < tokens.size()) {
      const auto in =
          std::find_if(tokens.begin(), tokens.end(), [](const auto& token) { return is_word(token, "in"); });
      const auto targets =
          target_names(tokens.subspan(target + 1, static_cast<std::size_t>(in - tokens.begin()) - target - 1));
      names.insert(names.end(), targets.begin(), targets.end());
    }
    if (here.end < end && first_word(lines_[here.end].code()) == "else") {
      const Statement otherwise{here.end, here.end, behind(here.end, end)};
      const auto more = names_inside(otherwise, code_of(here.end), guards);
      names.insert(names.end(), more.begin(), more.end());
      here.end = otherwise.end;
    }
    auto made = item(here, PyItemKind::statement, guards);
    if (!counted || !walrus_names(tokens).empty()) {
      made.kind = PyItemKind::unread;
      made.unread = target < tokens.size() ? "a 'for'" : "a 'while'";
    }
    add(std::move(made), std::move(names));
    return here.end;
  }

  std::size_t coroutine(const Statement& here, const Part& head, std::size_t end, const Guards& guards) {
    const PyTokens tokens(head.tokens);
    if (tokens.size() > 2 && is_word(tokens[1], "def")) {
      auto made = item(here, PyItemKind::unread, guards);
      made.definition = true;
      made.unread = "a coroutine";
      add(std::move(made), {tokens[2].text});
      return here.end;
    }
    if (tokens.size() > 1 && is_word(tokens[1], "for")) return loop(here, head, end, guards);
    add_unread(here, "an 'async' block", names_inside(here, head, guards), guards);
    return here.end;
  }

  /// A "match" and what stands under its cases.
  void choice(const Statement& here, const Guards& guards) {
    std::vector<std::string> names;
    for (std::size_t line = here.head + 1; line < here.end; line = behind(line, here.end)) {
      const auto head = code_of(line);
      const PyTokens tokens(head.tokens);
      if (tokens.empty()) continue;
      const auto pattern = tokens.subspan(1, std::max<std::size_t>(find_outside(tokens, ":"), 1) - 1);
      for (const auto& found : {target_names(pattern), names_after_as(pattern),
                                names_inside(Statement{line, line, behind(line, here.end)}, head, guards)}) {
        names.insert(names.end(), found.begin(), found.end());
      }
    }
    add_unread(here, "a 'match'", std::move(names), guards);
  }

  /// Statements on one line, separated by ";", from the token `begin` on.
  void simple(const Statement& here, const Part& part, std::size_t begin, const Guards& guards) {
    const PyTokens tokens(part.tokens);
    const bool whole = begin == 0 && find_outside(tokens, ";") == tokens.size();
    const auto line = item(here, PyItemKind::statement, guards);
    while (begin < tokens.size()) {
      const auto end = find_outside(tokens, ";", begin);
      if (end > begin) {
        auto made = line;
        if (!whole) {
          made.text = part.between(begin, end);
          made.where = tokens[begin].where;
        }
        bind(std::move(made), tokens.subspan(begin, end - begin));
      }
      begin = end + 1;
    }
  }

  void bind(PyModuleItem made, PyTokens tokens) {
    if (is_word(tokens.front(), "return")) module_.exits.push_back(made.guards);
    auto names = assigned_names(tokens);
    if (const auto walrus = walrus_names(tokens); !walrus.empty()) {
      names.insert(names.end(), walrus.begin(), walrus.end());
      made.kind = PyItemKind::unread;
      made.unread = "':='";
    } else if (is_word(tokens.front(), "del")) {
      names = target_names(tokens.subspan(1));
      made.kind = PyItemKind::unread;
      made.unread = "a 'del'";
    } else if (is_word(tokens.front(), "from") || is_word(tokens.front(), "import")) {
      names = imported(made, tokens);
    }
    add(std::move(made), std::move(names));
  }

  static std::vector<std::string> imported(PyModuleItem& made, PyTokens tokens) {
    made.definition = true;
    if (is_symbol(tokens.back(), "*") && is_word(tokens.front(), "from")) {
      for (std::size_t i = 1; i + 2 < tokens.size(); ++i) made.star += tokens[i].text;
      return {"*"};
    }
    std::vector<std::string> names;
    if (const auto parsed = parse_python(made.text)) {
      for (const auto& statement : *parsed) {
        names.insert(names.end(), statement.names.begin(), statement.names.end());
      }
    }
    return names;
  }

  const std::vector<PyLogicalLine>& lines_;
  PyModule& module_;
  const std::string& file_;
};

}  // namespace

PyModule index_python_module(std::string_view text, const std::string& file) {
  PyModule module;
  Cutter(logical_lines(text), module, file).run();
  return module;
}

PyModule index_python_body(std::string_view text, const SourcePlace& where) {
  PyModule module;
  const auto lines = logical_lines(text, where.line);
  std::size_t head = 0;
  while (head < lines.size() && lines[head].code().front() == '@') ++head;
  Cutter(lines, module, where.file).run(head + 1);
  return module;
}

}  // namespace kw
