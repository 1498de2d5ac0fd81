#include "python/module_changes.hpp"

#include <algorithm>
#include <iterator>

#include "python/logical_lines.hpp"

namespace kw {
namespace {

template <std::size_t N>
bool holds(const std::string_view (&list)[N], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

constexpr std::string_view k_reading_methods[] = {"items", "keys", "values", "get", "copy"};
constexpr std::string_view k_list_methods[] = {"copy", "index", "count"};
/// Functions that hand out neither the list nor its items, and those that hand out its items.
constexpr std::string_view k_reading[] = {"len", "print", "str", "repr", "isinstance", "tensor", "bool"};
constexpr std::string_view k_reading_items[] = {"tuple", "list",      "sorted", "sum", "max",   "min", "any",
                                                "all",   "enumerate", "zip",    "set", "range", "map", "reversed"};
constexpr std::string_view k_comparisons[] = {"==", "!=", "<", ">", "<=", ">="};

/// The token at `i`, or one that is nothing.
const PyToken& token_at(PyTokens tokens, std::size_t i) {
  static const PyToken nothing;
  return i < tokens.size() ? tokens[i] : nothing;
}

/// Behind the bracket that the one at `open` closes with.
std::size_t behind_bracket(PyTokens tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (is_symbol(tokens[i], "(") || is_symbol(tokens[i], "[") || is_symbol(tokens[i], "{")) ++depth;
    if (is_symbol(tokens[i], ")") || is_symbol(tokens[i], "]") || is_symbol(tokens[i], "}")) --depth;
    if (depth == 0) return i + 1;
  }
  return tokens.size();
}

/// Is the expression that ends before `end` written to?
bool is_target(PyTokens tokens, std::size_t end) {
  int depth = 0;
  for (std::size_t i = end; i < tokens.size(); ++i) {
    if (is_symbol(tokens[i], "(") || is_symbol(tokens[i], "[") || is_symbol(tokens[i], "{")) ++depth;
    if (is_symbol(tokens[i], ")") || is_symbol(tokens[i], "]") || is_symbol(tokens[i], "}"))
      depth = std::max(depth - 1, 0);
    if (depth == 0 && is_symbol(tokens[i], ";")) return false;
    if (depth == 0 && is_assignment(tokens[i])) return true;
  }
  return false;
}

/// globals() used for more than looking something up.
bool writes_names(PyTokens tokens, std::size_t at) {
  if (!is_symbol(token_at(tokens, at + 1), "(") || !is_symbol(token_at(tokens, at + 2), ")")) return false;
  const auto& next = token_at(tokens, at + 3);
  if (is_symbol(next, ".")) return !holds(k_reading_methods, token_at(tokens, at + 4).text);
  if (is_symbol(next, "[")) {
    const auto end = behind_bracket(tokens, at + 3);
    return is_word(tokens.front(), "del") || is_target(tokens, end);
  }
  const auto& before = at == 0 ? token_at({}, 0) : tokens[at - 1];
  return !is_word(before, "in") && !is_symbol(before, "**");
}

std::optional<std::string> rebinding(PyTokens tokens, std::size_t at, std::string_view name) {
  const auto& token = tokens[at];
  const bool attribute = at > 1 && is_symbol(tokens[at - 1], ".") && !is_word(tokens[at - 2], "builtins");
  if (token.kind != PyTokenKind::name || attribute) return std::nullopt;
  if (token.text == "global" || token.text == "nonlocal") {
    for (std::size_t i = at + 1; i < tokens.size() && !is_symbol(tokens[i], ";"); ++i) {
      if (is_word(tokens[i], name)) return fmt::format("'{} {}'", token.text, name);
    }
  }
  if (token.text == "exec") return "'exec'";
  if (token.text == "globals" || token.text == "vars" || token.text == "locals") {
    if (writes_names(tokens, at)) return fmt::format("'{}'", token.text);
  }
  const bool modules = token.text == "sys" && is_word(token_at(tokens, at + 2), "modules");
  if (modules && is_symbol(token_at(tokens, at + 3), "[") && is_word(token_at(tokens, at + 4), "__name__")) {
    return "'sys.modules'";
  }
  return std::nullopt;
}

/// Is `name` a parameter of the "def" in this line?
bool is_parameter(PyTokens tokens, std::string_view name) {
  const std::size_t def = !tokens.empty() && is_word(tokens[0], "async") ? 1 : 0;
  if (!is_word(token_at(tokens, def), "def")) return false;
  int depth = 0;
  int found = 0;
  for (std::size_t i = def; i < tokens.size(); ++i) {
    if (is_symbol(tokens[i], "(") || is_symbol(tokens[i], "[")) ++depth;
    if (is_symbol(tokens[i], ")") || is_symbol(tokens[i], "]")) --depth;
    const auto& before = i == 0 ? token_at({}, 0) : tokens[i - 1];
    const bool starts = is_symbol(before, "(") || is_symbol(before, ",") || is_symbol(before, "*");
    if (is_word(tokens[i], name)) found += depth == 1 && starts ? 1 : 2;
  }
  return found == 1;
}

}  // namespace

PyModuleChanges::PyModuleChanges(std::string_view text, const std::string& file) {
  for (const auto& line : logical_lines(text)) {
    const auto code = line.code();
    const SourcePlace where{file, line.line, static_cast<int>(line.text.size() - code.size()) + 1};
    Line read{{}, line.indent};
    if (auto tokens = tokenize_python(code, where)) {
      read.tokens = *std::move(tokens);
      while (!read.tokens.empty() && read.tokens.back().kind >= PyTokenKind::newline) read.tokens.pop_back();
    } else {
      // Each word, as if it stood alone: whatever happens to it there is not known.
      for (auto rest = code; !rest.empty();) {
        const auto word = first_word(rest);
        if (!word.empty()) read.tokens.push_back({PyTokenKind::name, std::string(word), false, 0, 0.0, where});
        rest.remove_prefix(std::max<std::size_t>(word.size(), 1));
      }
    }
    if (!read.tokens.empty()) lines_.push_back(std::move(read));
  }
}

std::optional<PyChange> PyModuleChanges::rebinds(std::string_view name, int bound) const {
  for (const auto& line : lines_) {
    if (line.indent == 0 && line.tokens.front().where.line < bound && !is_word(line.tokens.front(), "def")) continue;
    for (std::size_t i = 0; i < line.tokens.size(); ++i) {
      if (auto what = rebinding(line.tokens, i, name)) return PyChange{line.tokens[i].where, *std::move(what)};
    }
  }
  return std::nullopt;
}

std::optional<PyChange> PyModuleChanges::alters(std::string_view name, int levels, std::span<const PyLines> executed,
                                                std::string_view attribute) const {
  int other = -1;  // the indentation of a function in which the name means a parameter
  for (const auto& line : lines_) {
    if (other >= 0 && line.indent > other) continue;
    other = is_parameter(line.tokens, name) ? line.indent : -1;
    const int number = line.tokens.front().where.line;
    const bool known = std::any_of(executed.begin(), executed.end(),
                                   [&](const PyLines& lines) { return number >= lines.first && number <= lines.last; });
    if (other >= 0 || known) continue;
    for (std::size_t i = 0; i < line.tokens.size(); ++i) {
      if (!is_word(line.tokens[i], name)) continue;
      const PyTokens tokens(line.tokens);
      const bool member = is_symbol(token_at(tokens, i + 1), ".") && is_word(token_at(tokens, i + 2), attribute);
      if (!attribute.empty() && !member) continue;
      if (alters(line, i, attribute.empty() ? i : i + 2, levels)) return PyChange{line.tokens[i].where, {}};
    }
  }
  return std::nullopt;
}

bool PyModuleChanges::alters(const Line& line, std::size_t first, std::size_t last, int levels) const {
  const PyTokens tokens(line.tokens);
  const auto& before = first == 0 ? token_at({}, 0) : tokens[first - 1];
  const auto& next = token_at(tokens, last + 1);
  const bool flat = levels <= 1;
  if (is_symbol(before, ".") || is_word(before, "import") || is_word(before, "global")) return false;
  if (is_word(tokens.front(), "del") || is_word(before, "for") || is_word(before, "as")) return true;
  const bool argument = is_symbol(before, "(") || is_symbol(before, ",");
  if (is_symbol(next, "=")) return first > 0 && !argument;  // a name of its own, or a keyword
  if (is_assignment(next)) return line.indent > 0 || first > 0;
  if (is_symbol(next, "[")) {
    int found = 0;
    std::size_t end = last + 1;
    while (is_symbol(token_at(tokens, end), "[")) {
      const auto after = behind_bracket(tokens, end);
      const bool slice = find_outside(tokens.subspan(end + 1, after - end - 2), ":") < after - end - 2;
      found += slice && !flat ? 0 : 1;
      end = after;
    }
    return found < levels || is_symbol(token_at(tokens, end), ".") || is_target(tokens, end);
  }
  if (is_symbol(next, ".")) return !flat || !holds(k_list_methods, token_at(tokens, last + 2).text);
  if (holds(k_comparisons, before.text) || holds(k_comparisons, next.text)) return false;
  if (is_word(before, "in")) return !flat && !is_word(tokens.front(), "if");
  if (is_symbol(before, "*") || is_symbol(before, "+") || is_symbol(next, "+") || is_symbol(next, "*")) return !flat;
  if ((is_word(before, "if") || is_word(before, "not")) && is_symbol(next, ":")) return false;
  if (!argument || !(is_symbol(next, ")") || is_symbol(next, ","))) return true;
  // An argument: of which function?
  std::size_t open = first;
  for (int depth = 0; open-- > 0;) {
    if (is_symbol(tokens[open], ")") || is_symbol(tokens[open], "]") || is_symbol(tokens[open], "}")) ++depth;
    if (is_symbol(tokens[open], "(") || is_symbol(tokens[open], "[") || is_symbol(tokens[open], "{")) {
      if (depth-- == 0) break;
    }
  }
  if (open == 0 || open > first || !is_symbol(tokens[open], "(")) return true;
  const auto& callee = tokens[open - 1];
  return !holds(k_reading, callee.text) && !(flat && holds(k_reading_items, callee.text));
}

std::vector<PyModuleChanges::Patch> PyModuleChanges::patches(std::string_view name) const {
  std::vector<Patch> found;
  for (const auto& line : lines_) {
    const PyTokens tokens(line.tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!is_word(tokens[i], name) || (i > 0 && is_symbol(tokens[i - 1], "."))) continue;
      const bool set = i > 1 && is_symbol(tokens[i - 1], "(") && is_word(tokens[i - 2], "setattr");
      if (set) found.push_back({{}, tokens[i].where});
      std::string attribute;
      std::size_t end = i + 1;
      for (; is_symbol(token_at(tokens, end), ".") && token_at(tokens, end + 1).kind == PyTokenKind::name; end += 2) {
        attribute += (attribute.empty() ? "" : ".") + tokens[end + 1].text;
      }
      if (!attribute.empty() && !is_symbol(token_at(tokens, end), "(") && is_target(tokens, end)) {
        found.push_back({std::move(attribute), tokens[i].where});
      }
    }
  }
  return found;
}

}  // namespace kw
