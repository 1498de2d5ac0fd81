#include "report/escape.hpp"

#include <algorithm>

#include "base/byte_text.hpp"

namespace kw {
namespace {

constexpr std::string_view k_replacement = "\xef\xbf\xbd";

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
}

/// The 8-bit control characters U+0080 to U+009F, which some terminals obey, are these two bytes.
bool is_c1_control(std::string_view text, std::size_t i) {
  return text[i] == '\xc2' && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
}

template <typename Replace>
std::string escaped(std::string_view text, Replace&& replace) {
  const std::string clean = to_displayable_text(text);
  std::string result;
  result.reserve(clean.size() + clean.size() / 8);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    if (is_control(clean[i])) {
      result += k_replacement;
    } else if (is_c1_control(clean, i)) {
      result += k_replacement;
      ++i;
    } else if (const std::string_view other = replace(clean[i]); !other.empty()) {
      result += other;
    } else {
      result += clean[i];
    }
  }
  return result;
}

}  // namespace

std::string escape_html(std::string_view text) {
  return escaped(text, [](char c) -> std::string_view {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\'':
        return "&#39;";
      default:
        return "";
    }
  });
}

std::string escape_markdown(std::string_view text) {
  return escaped(text, [](char c) -> std::string_view {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '\n':
      case '\t':
        return " ";
      case '|':
        return "\\|";
      case '\\':
        return "\\\\";
      case '`':
        return "\\`";
      case '*':
        return "\\*";
      case '_':
        return "\\_";
      case '[':
        return "\\[";
      case ']':
        return "\\]";
      case '#':
        return "\\#";
      default:
        return "";
    }
  });
}

std::string escape_code(std::string_view text) {
  return escaped(text, [](char) { return std::string_view(); });
}

std::string escape_terminal(std::string_view text) {
  return escaped(text, [](char c) -> std::string_view { return c == '\n' || c == '\t' ? " " : ""; });
}

}  // namespace kw
