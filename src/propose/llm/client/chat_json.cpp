#include "propose/llm/client/chat_json.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/utf8.hpp"
#include "propose/llm/client/chat_errors.hpp"

namespace kw {
namespace {

using Json = nlohmann::json;

/// The 16 bits of the \uXXXX at `at`, if one stands there.
std::optional<unsigned> unicode_escape(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned value = 0;
  for (const char c : text.substr(at + 2, 4)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(digit);
  }
  return value;
}

bool is_high(unsigned unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}
bool is_low(unsigned unit) {
  return unit >= 0xdc00 && unit < 0xe000;
}

/// Some servers cut a pair of surrogates in two, one half per event; the library would refuse the whole event.
std::string repair_lone_surrogates(std::string text) {
  for (std::size_t at = text.find('\\'); at != std::string::npos && at + 1 < text.size(); at = text.find('\\', at)) {
    const auto unit = unicode_escape(text, at);
    if (!unit) {
      at += 2;  // another escape, \\ among them
      continue;
    }
    const auto next = unicode_escape(text, at + 6);
    const bool pair = is_high(*unit) && next && is_low(*next);
    if (!pair && (is_high(*unit) || is_low(*unit))) text.replace(at, 6, "\\ufffd");
    at += pair ? 12 : 6;
  }
  return text;
}

int nesting(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c == '\\') ++i;
      continue;
    }
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
  }
  return deepest;
}

}  // namespace

Result<Json> parse_chat_json(std::string_view bytes) {
  if (bytes.size() > k_max_json_bytes) {
    return fail(errc::chat_too_large, "the server sent {} bytes of JSON, more than {}", bytes.size(), k_max_json_bytes);
  }
  const std::string text = repair_lone_surrogates(replace_non_text(bytes));
  if (nesting(text) > k_max_json_depth) {
    return fail(errc::chat_protocol, "the server sent JSON nested deeper than {} levels", k_max_json_depth);
  }
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail(errc::chat_protocol, "the server sent what is not JSON, or JSON cut short");
  if (!json.is_object()) {
    return fail(errc::chat_protocol, "the server sent JSON of type {} instead of an object", json.type_name());
  }
  return json;
}

const Json& value_at(const Json& object, const char* key) {
  static const Json k_null;
  if (!object.is_object()) return k_null;
  const auto found = object.find(key);
  return found == object.end() ? k_null : *found;
}

std::string text_at(const Json& object, const char* key) {
  const Json& value = value_at(object, key);
  return value.is_string() ? replace_non_text(value.get_ref<const std::string&>()) : std::string();
}

}  // namespace kw
