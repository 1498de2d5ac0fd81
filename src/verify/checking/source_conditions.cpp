#include "verify/checking/source_conditions.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/text.hpp"
#include "verify/checking/source_lines.hpp"

namespace kw {
namespace {

constexpr std::array<std::string_view, 6> k_condition_words = {"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"};

/// A macro by all of its definitions in the source.
struct Macro {
  std::set<std::string> names;  ///< in its bodies
  bool pastes = false;
};

bool pastes(std::string_view body) {
  return body.find("##") != std::string_view::npos || body.find("%:%:") != std::string_view::npos;
}

/// Behind the name of a macro, with its parameters still in front. A string made of an argument has a length that tells
/// what the argument was expanded to.
bool makes_strings(std::string_view body) {
  if (!body.starts_with('(')) return false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const bool twice = body.substr(i, 2) == "##" || body.substr(i, 4) == "%:%:";
    if (twice) {
      i += body[i] == '#' ? 1 : 3;
    } else if (body[i] == '#' || body.substr(i, 2) == "%:") {
      return true;
    }
  }
  return false;
}

void add_names(std::string_view text, std::set<std::string>& names) {
  for (const std::string_view name : identifiers_in(text)) {
    if (name != "defined") names.emplace(name);
  }
}

using Macros = std::map<std::string, Macro, std::less<>>;

/// A #define, from the name of its macro on.
void add_macro(std::string_view definition, Macros& macros, SourceConditions& found) {
  const auto names = identifiers_in(definition);
  if (names.empty()) return;
  const std::string_view body = definition.substr(names.front().size());
  if (makes_strings(body)) found.hidden = fmt::format("a macro that makes strings ({})", names.front());
  Macro& macro = macros[std::string(names.front())];
  add_names(body, macro.names);
  macro.pastes = macro.pastes || pastes(body);
}

/// What a condition asks for. `expanded` are names that stand for what they are defined as: not those behind "defined".
void add_condition(const Directive& directive, SourceConditions& found, std::set<std::string>& expanded) {
  const bool asks_whether_defined = directive.word.ends_with("def");
  std::string_view before;
  for (const std::string_view name : identifiers_in(directive.rest)) {
    if (name != "defined") found.names.emplace(name);
    if (name != "defined" && before != "defined" && !asks_whether_defined) expanded.emplace(name);
    before = name;
  }
}

/// What the macros among the names depend on in turn.
void follow(const Macros& macros, const std::set<std::string>& expanded, SourceConditions& found) {
  std::set<std::string> followed = expanded;
  std::vector<std::string> open(expanded.begin(), expanded.end());
  while (!open.empty()) {
    const auto macro = macros.find(open.back());
    open.pop_back();
    if (macro == macros.end()) continue;
    if (macro->second.pastes) found.hidden = fmt::format("## in a macro that a condition needs ({})", macro->first);
    for (const std::string& name : macro->second.names) {
      found.names.insert(name);
      if (followed.insert(name).second) open.push_back(name);
    }
  }
}

}  // namespace

SourceConditions conditions_in(const std::vector<std::string>& lines) {
  SourceConditions found;
  Macros macros;
  std::set<std::string> expanded;
  for (const std::string& line : lines) {
    const auto directive = directive_of(line);
    if (!directive) continue;
    if (directive->word == "define") add_macro(directive->rest, macros, found);
    if (std::ranges::find(k_condition_words, directive->word) == k_condition_words.end()) continue;
    if (pastes(directive->rest)) found.hidden = "## in a condition";
    add_condition(*directive, found, expanded);
  }
  follow(macros, expanded, found);
  return found;
}

}  // namespace kw
