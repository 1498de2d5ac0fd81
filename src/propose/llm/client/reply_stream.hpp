#pragma once
// Puts the pieces of an answer together. Pure: no clock, no network; whoever feeds it knows when the pieces came.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "propose/llm/client/reply_limits.hpp"
#include "propose/llm/client/reply_piece.hpp"
#include "record/chat.hpp"

namespace kw {

class ReplyStream {
 public:
  /// The data of one event of a stream, or the one object of a plain answer. "[DONE]" ends the stream; what comes
  /// behind it is passed over. errc::chat_too_large past k_max_reply_bytes, and the errors of parse_reply_piece.
  [[nodiscard]] Result<void> add(std::string_view data);

  /// The error that the server sent in place of (the rest of) an answer.
  [[nodiscard]] const std::optional<ServerError>& server_error() const { return error_; }
  /// Some of the answer or its reasoning is there, or a tool was called.
  [[nodiscard]] bool has_token() const { return tool_call_ || !content_.empty() || !reasoning_.empty(); }
  [[nodiscard]] bool done() const { return done_; }
  /// The model said why it stopped; only usage can still come.
  [[nodiscard]] bool has_finish() const { return finish_.has_value(); }

  /// The answer as far as it came. `prompt_bytes` is the length of the request's text, for a server that gives no
  /// usage. errc::chat_protocol when nothing of a chat completion came. Times and retries are the caller's.
  [[nodiscard]] Result<ChatReply> finish(std::size_t prompt_bytes) const;

 private:
  std::string content_;
  std::string reasoning_;
  std::string model_;
  std::optional<ChatFinish> finish_;
  std::optional<TokenUsage> usage_;
  std::optional<ServerError> error_;
  bool has_choice_ = false;
  bool tool_call_ = false;
  bool done_ = false;
};

}  // namespace kw
