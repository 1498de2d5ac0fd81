#include "python/bound_names.hpp"

#include <algorithm>

namespace kw {
namespace {

bool opens(const PyToken& token) {
  return is_symbol(token, "(") || is_symbol(token, "[") || is_symbol(token, "{");
}
bool closes(const PyToken& token) {
  return is_symbol(token, ")") || is_symbol(token, "]") || is_symbol(token, "}");
}

/// The first token at or after `from` that `wanted` accepts outside of brackets and of the heads of lambdas.
template <typename Wanted>
std::size_t next_outside(PyTokens tokens, std::size_t from, const Wanted& wanted) {
  int depth = 0;
  int lambdas = 0;  // whose ":" is still to come
  for (std::size_t i = from; i < tokens.size(); ++i) {
    if (opens(tokens[i])) ++depth;
    if (closes(tokens[i])) --depth;
    if (depth > 0) continue;
    if (is_word(tokens[i], "lambda")) ++lambdas;
    if (lambdas == 0 && wanted(tokens[i])) return i;
    if (lambdas > 0 && is_symbol(tokens[i], ":")) --lambdas;
  }
  return tokens.size();
}

}  // namespace

bool is_symbol(const PyToken& token, std::string_view symbol) {
  return token.kind == PyTokenKind::symbol && token.text == symbol;
}
bool is_word(const PyToken& token, std::string_view word) {
  return token.kind == PyTokenKind::name && token.text == word;
}

bool is_assignment(const PyToken& token) {
  if (token.kind != PyTokenKind::symbol || token.text.back() != '=') return false;
  return token.text != "==" && token.text != "!=" && token.text != "<=" && token.text != ">=" && token.text != ":=";
}

std::size_t find_outside(PyTokens tokens, std::string_view symbol, std::size_t from) {
  return next_outside(tokens, from, [&](const PyToken& token) { return is_symbol(token, symbol); });
}

std::vector<std::string> target_names(PyTokens tokens) {
  std::vector<std::string> names;
  std::vector<bool> trailers;  // per open bracket: is it an index or a call
  const auto ends_primary = [&](std::size_t i) {
    return i > 0 && (tokens[i - 1].kind == PyTokenKind::name || closes(tokens[i - 1]));
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (opens(tokens[i])) {
      trailers.push_back(ends_primary(i));
    } else if (closes(tokens[i])) {
      if (!trailers.empty()) trailers.pop_back();
    } else if (is_symbol(tokens[i], ":") && trailers.empty()) {
      return names;  // what follows is the annotation
    } else if (tokens[i].kind == PyTokenKind::name) {
      const bool attribute = i > 0 && is_symbol(tokens[i - 1], ".");
      const bool object = i + 1 < tokens.size() && (is_symbol(tokens[i + 1], ".") || is_symbol(tokens[i + 1], "[") ||
                                                    is_symbol(tokens[i + 1], "("));
      const bool inside = std::find(trailers.begin(), trailers.end(), true) != trailers.end();
      if (!attribute && !object && !inside) names.push_back(tokens[i].text);
    }
  }
  return names;
}

std::vector<std::string> assigned_names(PyTokens tokens) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (true) {
    const auto equals = next_outside(tokens, begin, is_assignment);
    if (equals == tokens.size()) return names;  // what is left is the value
    const auto found = target_names(tokens.subspan(begin, equals - begin));
    names.insert(names.end(), found.begin(), found.end());
    begin = equals + 1;
  }
}

std::vector<std::string> walrus_names(PyTokens tokens) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (is_symbol(tokens[i], ":=")) names.push_back(tokens[i - 1].text);
  }
  return names;
}

std::vector<std::string> names_after_as(PyTokens tokens) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!is_word(tokens[i], "as")) continue;
    std::size_t end = i + 1;
    int depth = 0;
    for (; end < tokens.size(); ++end) {
      if (opens(tokens[end])) ++depth;
      if (closes(tokens[end]) && --depth < 0) break;
      if (depth == 0 && (is_symbol(tokens[end], ",") || is_symbol(tokens[end], ":"))) break;
    }
    const auto found = target_names(tokens.subspan(i + 1, end - i - 1));
    names.insert(names.end(), found.begin(), found.end());
  }
  return names;
}

}  // namespace kw
