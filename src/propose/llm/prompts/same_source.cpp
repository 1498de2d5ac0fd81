#include "propose/llm/prompts/same_source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/dispatch.hpp"

namespace kw {
namespace {

bool is_name_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// Names and numbers whole, everything else letter by letter; no comments, no blanks. String literals are not looked
/// for: device code has hardly any, and a mistake here only hides an exemplar.
std::vector<std::string_view> words_of_source(std::string_view source) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view two = source.substr(at, 2);
    if (two == "//") {
      at = std::min(source.find('\n', at), source.size());
    } else if (two == "/*") {
      const std::size_t end = source.find("*/", at + 2);
      at = end == std::string_view::npos ? source.size() : end + 2;
    } else if (std::isspace(static_cast<unsigned char>(source[at])) != 0) {
      ++at;
    } else {
      std::size_t end = at + 1;
      while (is_name_letter(source[at]) && end < source.size() && is_name_letter(source[end])) ++end;
      words.push_back(source.substr(at, end - at));
      at = end;
    }
  }
  return words;
}

std::string without_comments_and_blanks(std::string_view source) {
  std::string text;
  for (const std::string_view word : words_of_source(source)) text += word;
  return text;
}

bool is_type(std::string_view word) {
  constexpr auto k_types =
      std::to_array<std::string_view>({"float", "double", "half", "int", "uint", "unsigned", "char", "uchar", "short",
                                       "ushort", "long", "ulong", "bool", "size_t", "auto"});
  const std::size_t digits = word.find_last_not_of("0123456789") + 1;
  return std::ranges::find(k_types, word.substr(0, digits)) != k_types.end();
}

/// Between a type and the name that it declares.
bool is_decoration(std::string_view word) {
  return word == "*" || word == "&" || word == "const" || word == "restrict" || word == "__restrict__";
}

/// What a declaration's name is followed by; a function's by '('.
bool may_follow_name(std::string_view word) {
  return word == "=" || word == ";" || word == "," || word == ")" || word == "[" || word == ":";
}

/// Variables that stand behind a type, in the order in which they are declared.
std::map<std::string_view, std::size_t> declared_variables(const std::vector<std::string_view>& words) {
  std::map<std::string_view, std::size_t> declared;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_type(words[i])) continue;
    std::size_t name = i + 1;
    while (name < words.size() && is_decoration(words[name])) ++name;
    if (name + 1 >= words.size() || !may_follow_name(words[name + 1])) continue;
    const bool is_name =
        is_name_letter(words[name][0]) && std::isdigit(static_cast<unsigned char>(words[name][0])) == 0;
    if (is_name && !is_type(words[name])) declared.emplace(words[name], declared.size());
  }
  return declared;
}

/// Blanks stand between words, and each variable is called by its number.
std::string with_numbered_variables(std::string_view source) {
  const auto words = words_of_source(source);
  const auto declared = declared_variables(words);
  std::string text;
  for (const std::string_view word : words) {
    const auto variable = declared.find(word);
    text += variable == declared.end() ? std::string(word) : "$" + std::to_string(variable->second);
    text += ' ';
  }
  return text;
}

std::set<std::size_t> runs_of(const Bundle& bundle) {
  constexpr std::size_t k_run = 4;
  const auto words = words_of_source(bundle.source);
  std::set<std::size_t> runs;
  for (std::size_t i = 0; i + k_run <= words.size(); ++i) {
    std::string run;
    for (std::size_t j = i; j < i + k_run; ++j) run += std::string(words[j]) + ' ';
    runs.insert(std::hash<std::string>()(run));
  }
  return runs;
}

Bundle bare_bundle(const Bundle& bundle, std::string source) {
  Bundle bare;
  bare.target = bundle.target;
  bare.deterministic = bundle.deterministic;
  bare.defines = bundle.defines;
  bare.scratch = bundle.scratch;
  bare.launches = bundle.launches;
  bare.source = std::move(source);
  return bare;
}

}  // namespace

Hash source_identity(const Bundle& bundle) {
  return bare_bundle(bundle, without_comments_and_blanks(bundle.source)).id();
}

Hash novelty_identity(const Candidate& candidate) {
  const Bundle& bundle = candidate.bundle;
  Bundle bare = bare_bundle(bundle, with_numbered_variables(bundle.source));
  // Other values to be tuned over are something new.
  bare.tunables = bundle.tunables;
  bare.constraints = bundle.constraints;
  bare.dispatch = bundle.dispatch;
  return Hasher().add(bare.id().hex()).add(assignment_text(candidate)).finish();
}

double source_distance(const Bundle& a, const Bundle& b) {
  const auto left = runs_of(a);
  const auto right = runs_of(b);
  const auto common = std::ranges::count_if(left, [&](std::size_t run) { return right.contains(run); });
  const auto all = static_cast<double>(left.size() + right.size()) - static_cast<double>(common);
  return all > 0 ? 1 - static_cast<double>(common) / all : 0;
}

}  // namespace kw
