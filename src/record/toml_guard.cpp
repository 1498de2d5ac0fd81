#include "record/toml_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/identifier.hpp"

namespace kw {

std::optional<int> malformed_table_line(std::string_view toml_text) {
  const auto starts_name = [](char c) {
    return is_c_identifier(std::string_view(&c, 1)) || (c >= '0' && c <= '9') || c == '-' || c == '"' || c == '\'';
  };
  int line = 0;
  for (std::size_t at = 0; at <= toml_text.size(); ++line) {
    const std::size_t end = std::min(toml_text.find('\n', at), toml_text.size());
    const std::string_view text = toml_text.substr(at, end - at);
    const std::size_t bracket = text.find_first_not_of(" \t");
    if (bracket != std::string_view::npos && text[bracket] == '[') {
      std::string_view rest = text.substr(bracket + 1);
      if (rest.substr(0, 1) == "[") rest.remove_prefix(1);
      const std::size_t name = rest.find_first_not_of(" \t");
      if (name == std::string_view::npos || !starts_name(rest[name])) return line;
    }
    at = end + 1;
  }
  return std::nullopt;
}

std::string in_ascii(std::string_view utf8) {
  std::string out;
  for (std::size_t at = 0; at < utf8.size();) {
    const auto lead = static_cast<unsigned char>(utf8[at++]);
    if (lead < 0x80) {
      out += static_cast<char>(lead);
      continue;
    }
    const int followers = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    std::uint32_t point = lead & (0x3fU >> followers);
    for (int i = 0; i < followers && at < utf8.size(); ++i) {
      point = (point << 6) | (static_cast<unsigned char>(utf8[at++]) & 0x3fU);
    }
    out += point < 0x10000 ? fmt::format("\\u{:04X}", point) : fmt::format("\\U{:08X}", point);
  }
  return out;
}

}  // namespace kw
