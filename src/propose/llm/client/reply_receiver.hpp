#pragma once
// Turns the bytes of one HTTP answer into a ChatReply or a failure, and watches the time: an answer must begin and go
// on in time, and end before the deadline. Streamed and plain answers are told apart by their content type.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "propose/llm/client/chat_client.hpp"
#include "propose/llm/client/http_post.hpp"
#include "propose/llm/client/reply_stream.hpp"
#include "propose/llm/client/sse_decoder.hpp"

namespace kw {

struct ChatTimeouts {
  Duration connect = std::chrono::seconds(15);
  /// From the request to the first byte of answer or reasoning: some models think for minutes before they say a word.
  /// Keep-alive comments do not count.
  Duration first_token = std::chrono::minutes(10);
  /// Between two events of a stream once it has begun, and from the first byte of a plain answer to its last. Single
  /// bytes that complete no event do not count, nor do keep-alive comments.
  Duration idle = std::chrono::minutes(2);
};

class ReplyReceiver final : public HttpReceiver {
 public:
  /// The scene, limits and clock must outlive the receiver. The time starts to run now.
  ReplyReceiver(const ErrorScene& scene, const ChatTimeouts& timeouts, const ChatLimits& limits, const Clock& clock);

  Tried<void> on_head(const HttpHead& head) override;
  Tried<void> on_body(std::string_view bytes) override;
  Tried<void> on_tick() override;
  [[nodiscard]] bool is_complete() const override { return stream_.done(); }

  /// Called once, after http_post() succeeded. `prompt_bytes` as for ReplyStream::finish.
  [[nodiscard]] Tried<ChatReply> finish(std::size_t prompt_bytes);
  /// A connection that broke behind a complete answer has done no harm.
  [[nodiscard]] bool has_whole_answer() const { return mode_ == Mode::events && stream_.has_finish(); }
  [[nodiscard]] std::optional<Instant> first_token() const { return first_token_; }

 private:
  enum class Mode : std::uint8_t { none, events, plain, error, sniff };
  Tried<void> take_events(Result<std::vector<SseEvent>> events);
  Tried<void> take_plain(std::string_view bytes);
  [[nodiscard]] tl::unexpected<ChatFailure> failed(Error error, bool worth_retrying = false) const;
  [[nodiscard]] tl::unexpected<ChatFailure> failed_status() const;
  [[nodiscard]] ChatFailure wrong_type() const;

  const ErrorScene& scene_;
  const ChatTimeouts& timeouts_;
  const ChatLimits& limits_;
  const Clock& clock_;
  Instant began_;
  Instant last_progress_;
  std::optional<Instant> first_token_;
  HttpHead head_;
  Mode mode_ = Mode::none;
  std::size_t wire_bytes_ = 0;
  std::string body_;  ///< of a plain answer or an error
  SseDecoder decoder_;
  ReplyStream stream_;
};

/// errc::chat_stopped when the deadline has passed or the stop flag is set.
[[nodiscard]] std::optional<Error> stopped(const ChatLimits& limits, const Clock& clock);

}  // namespace kw
