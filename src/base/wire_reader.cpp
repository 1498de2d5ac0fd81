#include "base/wire_reader.hpp"

#include <fmt/format.h>

namespace kw::wire {

std::uint8_t Reader::get_byte() {
  if (failed()) return 0;
  if (remaining() < 1) {
    fail_with("the message ends too early");
    return 0;
  }
  return static_cast<std::uint8_t>(bytes_[offset_++]);
}

void Reader::fail_with(std::string_view what) {
  if (!failed()) mistake_ = fmt::format("{} at byte {} of {}", what, offset_, bytes_.size());
}

std::int64_t Reader::get_word() {
  if (failed()) return 0;
  if (remaining() < k_word_bytes) {
    fail_with("the message ends too early");
    return 0;
  }
  std::uint64_t word = 0;
  for (unsigned i = 0; i < k_word_bytes; ++i) {
    word |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes_[offset_ + i])) << (8 * i);
  }
  offset_ += k_word_bytes;
  return static_cast<std::int64_t>(word);
}

std::size_t Reader::get_count(std::size_t least_bytes_each) {
  const auto count = static_cast<std::uint64_t>(get_word());
  if (failed()) return 0;
  if (count > remaining() / least_bytes_each) {
    fail_with("a count is larger than the message");
    return 0;
  }
  return static_cast<std::size_t>(count);
}

void Reader::get(std::string& text) {
  const std::size_t count = get_count(1);
  if (failed()) return;
  text.assign(bytes_.substr(offset_, count));
  offset_ += count;
}

}  // namespace kw::wire
