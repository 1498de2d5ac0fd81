#include "propose/llm/client/sse_decoder.hpp"

#include <algorithm>
#include <utility>

#include "propose/llm/client/chat_errors.hpp"

namespace kw {

Result<void> SseDecoder::append_to_line(std::string_view part) {
  if (part.size() > max_event_bytes_ - std::min(max_event_bytes_, line_.size())) {
    return fail(errc::chat_too_large, "a line of the answer's event stream is longer than {} bytes", max_event_bytes_);
  }
  line_ += part;
  return {};
}

Result<void> SseDecoder::end_line() {
  std::string_view line = line_;
  constexpr std::string_view k_byte_order_mark = "\xef\xbb\xbf";
  if (std::exchange(first_line_, false) && line.starts_with(k_byte_order_mark)) {
    line.remove_prefix(k_byte_order_mark.size());
  }
  if (line.empty()) {
    if (std::exchange(has_data_, false)) done_.push_back(std::move(event_));
    event_ = {};
    return {};
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (event_.data.size() + value.size() >= max_event_bytes_) {
      return fail(errc::chat_too_large, "an event of the answer is longer than {} bytes", max_event_bytes_);
    }
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  } else if (field == "event") {
    event_.name = value;
  }
  return {};
}

Result<std::vector<SseEvent>> SseDecoder::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    KW_TRY_VOID(append_to_line(bytes.substr(0, end)));
    if (end == std::string_view::npos) break;
    after_cr_ = bytes[end] == '\r';
    KW_TRY_VOID(end_line());
    line_.clear();
    bytes.remove_prefix(end + 1);
  }
  return std::exchange(done_, {});
}

Result<std::vector<SseEvent>> SseDecoder::finish() {
  if (!line_.empty()) KW_TRY_VOID(end_line());
  line_.clear();
  KW_TRY_VOID(end_line());
  return std::exchange(done_, {});
}

}  // namespace kw
