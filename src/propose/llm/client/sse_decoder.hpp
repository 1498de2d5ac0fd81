#pragma once
// Bytes of a `text/event-stream` to events (WHATWG HTML, "Server-sent events", 9.2.6). Knows nothing of what the events
// say. Lines may end in LF, CR LF or a lone CR; the bytes may be cut anywhere, inside a character too. Comments, ids
// and retry times are passed over.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

struct SseEvent {
  std::string name;  ///< the `event` field; empty when there was none
  std::string data;  ///< the `data` lines, joined by LF; any bytes
  friend bool operator==(const SseEvent&, const SseEvent&) = default;
};

class SseDecoder {
 public:
  /// Neither a line nor the data of one event may be longer than this.
  static constexpr std::size_t k_max_event_bytes = 8U << 20U;

  explicit SseDecoder(std::size_t max_event_bytes = k_max_event_bytes) : max_event_bytes_(max_event_bytes) {}

  /// The events that `bytes` completes, in order. errc::chat_too_large past the bound; then the decoder is of no more
  /// use.
  [[nodiscard]] Result<std::vector<SseEvent>> feed(std::string_view bytes);
  /// What the end of the stream completes. The standard drops an event without an empty line behind it; servers leave
  /// that line out, and so it counts here.
  [[nodiscard]] Result<std::vector<SseEvent>> finish();

 private:
  Result<void> append_to_line(std::string_view part);
  Result<void> end_line();

  std::size_t max_event_bytes_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool after_cr_ = false;  ///< an LF now belongs to the line that the CR ended
  bool first_line_ = true;
  std::vector<SseEvent> done_;
};

}  // namespace kw
