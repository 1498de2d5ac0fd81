#include "propose/llm/prompts/same_source.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace kw {
namespace {

/// String literals are not looked for: device code has hardly any, and a mistake here only hides an exemplar.
std::string without_comments_and_blanks(std::string_view source) {
  std::string text;
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view two = source.substr(at, 2);
    if (two == "//") {
      at = std::min(source.find('\n', at), source.size());
    } else if (two == "/*") {
      const std::size_t end = source.find("*/", at + 2);
      at = end == std::string_view::npos ? source.size() : end + 2;
    } else {
      if (std::string_view(" \t\r\n").find(source[at]) == std::string_view::npos) text += source[at];
      ++at;
    }
  }
  return text;
}

}  // namespace

Hash source_identity(const Bundle& bundle) {
  Bundle bare;
  bare.target = bundle.target;
  bare.deterministic = bundle.deterministic;
  bare.defines = bundle.defines;
  bare.scratch = bundle.scratch;
  bare.launches = bundle.launches;
  bare.source = without_comments_and_blanks(bundle.source);
  return bare.id();
}

}  // namespace kw
