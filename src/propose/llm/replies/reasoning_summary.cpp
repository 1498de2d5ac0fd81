#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "propose/llm/replies/reply_parse.hpp"

namespace kw {
namespace {

constexpr std::size_t k_each_end = 300;

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

std::string_view first_part(std::string_view text, std::size_t bytes) {
  while (bytes > 0 && bytes < text.size() && continues_character(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

std::string_view last_part(std::string_view text, std::size_t bytes) {
  std::size_t start = text.size() - std::min(bytes, text.size());
  while (start < text.size() && continues_character(text[start])) ++start;
  return text.substr(start);
}

}  // namespace

std::string reasoning_summary(const ChatReply& reply) {
  // The ends suffice: a reply may be megabytes long.
  constexpr std::size_t k_looked_at = 4 * k_each_end;
  std::string_view text = reply.reasoning;
  if (text.empty()) text = std::string_view(reply.text).substr(0, reply.text.find("```"));
  if (text.size() <= 2 * k_looked_at) {
    const std::string line = on_one_line(text);
    if (line.size() <= 2 * k_each_end) return line;
    return std::string(first_part(line, k_each_end)) + " ... " + std::string(last_part(line, k_each_end));
  }
  const std::string begin = on_one_line(first_part(text, k_looked_at));
  const std::string end = on_one_line(last_part(text, k_looked_at));
  return std::string(first_part(begin, k_each_end)) + " ... " + std::string(last_part(end, k_each_end));
}

}  // namespace kw
