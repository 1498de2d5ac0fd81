#include "base/utf8.hpp"

#include <cstdint>

namespace kw {
namespace {

/// Length of the well-formed sequence at `at`, or 0.
std::size_t sequence_length(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t { return static_cast<unsigned char>(bytes[i]); };
  const std::uint32_t lead = byte(at);
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + length > bytes.size()) return 0;
  std::uint32_t point = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80U) return 0;
    point = (point << 6) | (byte(at + i) & 0x3fU);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return overlong || surrogate || point > 0x10ffff ? 0 : length;
}

}  // namespace

std::optional<std::size_t> first_non_text_byte(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t length = sequence_length(bytes, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::string replace_non_text(std::string_view bytes) {
  std::string text;
  for (;;) {
    const auto bad = first_non_text_byte(bytes);
    text += bytes.substr(0, bad.value_or(bytes.size()));
    if (!bad) return text;
    text += "\xef\xbf\xbd";
    bytes.remove_prefix(*bad + 1);
  }
}

}  // namespace kw
