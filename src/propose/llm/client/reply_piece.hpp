#pragma once
// What one JSON object of a chat completion says: a chunk of a stream ("chat.completion.chunk", with a delta) or the
// whole answer of a server that does not stream ("chat.completion", with a message).

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "propose/llm/client/server_error.hpp"
#include "record/chat.hpp"

namespace kw {

struct ReplyPiece {
  bool has_choice = false;  ///< usage chunks have none
  std::string text;         ///< valid UTF-8
  std::string reasoning;    ///< valid UTF-8
  bool tool_call = false;
  std::optional<ChatFinish> finish;
  std::optional<TokenUsage> usage;
  std::string model;
  std::optional<ServerError> error;  ///< sent inside an answer whose status was 200
};

/// errc::chat_protocol, errc::chat_too_large. Of several choices the first counts: nobody asks for more.
[[nodiscard]] Result<ReplyPiece> parse_reply_piece(std::string_view json);

}  // namespace kw
