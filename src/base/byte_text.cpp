#include "base/byte_text.hpp"

#include "base/utf8.hpp"

namespace kw {

std::string to_displayable_text(std::string_view bytes) {
  std::string text;
  while (const auto bad = first_non_text_byte(bytes)) {
    text += bytes.substr(0, *bad);
    text += "\xef\xbf\xbd";
    bytes.remove_prefix(*bad + 1);
  }
  return text += bytes;
}

std::string latin1_to_utf8(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0U | (byte >> 6U));
      text += static_cast<char>(0x80U | (byte & 0x3fU));
    }
  }
  return text;
}

std::optional<std::string> utf8_to_latin1(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      bytes += text[i];
    } else if ((byte == 0xc2 || byte == 0xc3) && i + 1 < text.size()) {
      const auto next = static_cast<unsigned char>(text[++i]);
      bytes += static_cast<char>(((byte & 0x03U) << 6U) | (next & 0x3fU));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace kw
