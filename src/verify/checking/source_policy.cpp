#include "verify/checking/source_policy.hpp"

#include <algorithm>
#include <cctype>

#include "language/kernel_headers.hpp"
#include "language/language.hpp"

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

/// What an #include names, between angle brackets and with nothing but a comment behind it, may be included.
bool names_kernel_header(std::string_view rest, std::string_view target) {
  rest = rest.substr(0, rest.find("//"));
  rest = rest.substr(0, rest.find_last_not_of(" \t\r") + 1);
  if (!rest.starts_with('<') || !rest.ends_with('>')) return false;
  return is_kernel_header(target, rest.substr(1, rest.size() - 2));
}

/// From the `#` of a directive to the end of its line.
std::optional<std::string> forbidden_in(std::string_view directive, std::string_view target) {
  directive.remove_prefix(directive.front() == '#' ? 1 : 2);
  directive.remove_prefix(std::min(directive.find_first_not_of(" \t"), directive.size()));
  std::size_t length = 0;
  const auto in_word = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; };
  while (length < directive.size() && in_word(static_cast<unsigned char>(directive[length]))) ++length;
  const std::string_view word = directive.substr(0, length);
  if (word.empty() && directive.starts_with('/')) return "# followed by a comment";
  if (!word.starts_with("include") && word != "import" && word != "embed") return std::nullopt;
  std::string_view rest = directive.substr(length);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  if (word == "include" && names_kernel_header(rest, target)) return std::nullopt;
  constexpr std::size_t k_most = 60;
  rest = rest.substr(0, std::min(rest.find_last_not_of(" \t\r") + 1, k_most));
  return fmt::format("#{}{}{}", word, rest.empty() ? "" : " ", rest);
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

std::optional<std::string> source_problem(const std::string& source, std::string_view target) {
  const auto directive = forbidden_directive(source, target);
  if (!directive) return std::nullopt;
  std::string message = fmt::format("the source uses {}; a bundle must contain everything it needs", *directive);
  const auto headers = language_headers(target);
  if (!headers.empty()) {
    message += fmt::format("; it may include <{}> and, of the C library, <{}>", fmt::join(headers, ">, <"),
                           fmt::join(k_c_headers, ">, <"));
  }
  return message;
}

std::string guarded_source(const std::string& source, std::string_view target) {
  const Language* language = find_language(target);
  if (language == nullptr || language->forbidden.empty()) return source;
  return fmt::format("#pragma GCC poison {}\n#line 1\n{}", fmt::join(language->forbidden, " "), source);
}

std::optional<std::string> forbidden_identifier(std::string_view build_log) {
  const std::size_t at = build_log.find(": attempt to use a poisoned identifier");
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t newline = build_log.rfind('\n', at);
  std::string_view place = build_log.substr(newline == std::string_view::npos ? 0 : newline + 1);
  constexpr std::string_view k_error = "error: ";  // PoCL writes it in front
  if (place.starts_with(k_error)) place.remove_prefix(k_error.size());
  place = place.substr(0, place.find_first_of(" \n"));
  while (place.ends_with(':')) place.remove_suffix(1);
  constexpr std::size_t k_most = 60;
  place = place.substr(0, k_most);
  return fmt::format(
      "the source uses an identifier at {} that candidates may not use, such as those of inline assembly, "
      "of sections and constructors, of functions by address, and #include",
      place);
}

}  // namespace kw
