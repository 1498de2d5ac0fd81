#include "verify/source_policy.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace kw {
namespace {

/// The source as the preprocessor's first phases see it: trigraphs and backslash-newlines gone, so that a directive
/// cannot hide behind them.
std::string spliced(const std::string& source) {
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.compare(i, 3,
                       "?"
                       "?/") == 0 &&
        i + 3 < source.size() && source[i + 3] == '\n') {
      i += 3;
    } else if (source.compare(i, 3,
                              "?"
                              "?=") == 0) {
      text += '#';
      i += 2;
    } else if (source.compare(i, 2, "\\\n") == 0) {
      i += 1;
    } else if (source.compare(i, 3, "\\\r\n") == 0) {
      i += 2;
    } else {
      text += source[i];
    }
  }
  return text;
}

bool is_own_header(std::string_view name, std::string_view target) {
  constexpr std::array<std::string_view, 4> k_cuda{"<cuda_fp16.h>", "<cuda_bf16.h>", "<mma.h>",
                                                   "<cooperative_groups.h>"};
  constexpr std::array<std::string_view, 4> k_hip{"<hip/hip_runtime.h>", "<hip/hip_fp16.h>", "<hip/hip_bf16.h>",
                                                  "<hip/hip_cooperative_groups.h>"};
  const auto has = [&](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  return (target == "cuda" && has(k_cuda)) || (target == "hip" && has(k_hip));
}

/// From the `#` of a directive to the end of its line.
std::optional<std::string> forbidden_in(std::string_view directive, std::string_view target) {
  directive.remove_prefix(directive.front() == '#' ? 1 : 2);
  directive.remove_prefix(std::min(directive.find_first_not_of(" \t"), directive.size()));
  std::size_t length = 0;
  while (length < directive.size() && std::isalpha(static_cast<unsigned char>(directive[length])) != 0) ++length;
  const std::string_view word = directive.substr(0, length);
  if (word.empty() && directive.starts_with('/')) return "# followed by a comment";
  if (!word.starts_with("include") && word != "import" && word != "embed") return std::nullopt;
  std::string_view name = directive.substr(length);
  name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
  name = name.substr(0, name.find_last_not_of(" \t\r") + 1);
  if (word == "include" && is_own_header(name, target)) return std::nullopt;
  return "#" + std::string(word);
}

}  // namespace

/// Comments between `#` and the word are not followed: any directive whose word does not start right there is refused.
std::optional<std::string> forbidden_directive(const std::string& source, std::string_view target) {
  const std::string text = spliced(source);
  std::size_t line_start = 0;
  while (line_start <= text.size()) {
    const std::size_t line_end = std::min(text.find('\n', line_start), text.size());
    const std::size_t begin = text.find_first_not_of(" \t\r\v\f", line_start);
    if (begin < line_end && (text[begin] == '#' || text.compare(begin, 2, "%:") == 0)) {
      auto forbidden = forbidden_in(std::string_view(text).substr(begin, line_end - begin), target);
      if (forbidden) return forbidden;
    }
    line_start = line_end + 1;
  }
  return std::nullopt;
}

}  // namespace kw
