#pragma once
// One exchange with a language model, as plain data: what was asked, what came back. Everything in a reply is untrusted
// bytes; whoever reads it bounds and parses it (propose/llm/replies/reply_parse.hpp). No field here ever holds a key.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Stored in archives: never renumber.
enum class ChatRole : std::uint8_t { system = 1, user = 2, assistant = 3 };
[[nodiscard]] std::string_view to_string(ChatRole role);

struct ChatMessage {
  ChatRole role = ChatRole::user;
  std::string text;
  friend bool operator==(const ChatMessage&, const ChatMessage&) = default;
};

struct ChatRequest {
  std::string model;
  std::vector<ChatMessage> messages;
  std::optional<double> temperature;       ///< absent: the provider's default
  std::optional<std::int64_t> max_tokens;  ///< of the answer with its reasoning; absent: the provider's default
  friend bool operator==(const ChatRequest&, const ChatRequest&) = default;
};

/// Why the model stopped. Stored in archives: never renumber.
enum class ChatFinish : std::uint8_t {
  stop = 1,     ///< it had said everything
  length = 2,   ///< cut at a token limit
  filter = 3,   ///< the provider's content filter
  tool = 4,     ///< it asked for a tool, which nobody offered
  unknown = 5,  ///< the stream ended without saying why, or with a word not known here
};
[[nodiscard]] std::string_view to_string(ChatFinish finish);

/// As the provider counted; all zero when it did not say (then `estimated` counts from bytes are used instead).
struct TokenUsage {
  std::int64_t prompt = 0;
  std::int64_t completion = 0;  ///< with reasoning
  std::int64_t reasoning = 0;   ///< part of completion
  std::int64_t cached = 0;      ///< part of prompt that the provider had cached
  bool estimated = false;       ///< the provider gave no usage: counted as one token per four bytes
  friend bool operator==(const TokenUsage&, const TokenUsage&) = default;
};

struct ChatReply {
  std::string text;       ///< the answer, without reasoning; valid UTF-8
  std::string reasoning;  ///< reasoning_content, reasoning or <think> blocks; valid UTF-8
  ChatFinish finish = ChatFinish::unknown;
  TokenUsage usage;
  std::string model;               ///< as the provider named it
  double seconds = 0;              ///< request to end, retries included
  double first_token_seconds = 0;  ///< request to the first byte of answer or reasoning
  std::int64_t retries = 0;        ///< before this reply
  friend bool operator==(const ChatReply&, const ChatReply&) = default;
};

}  // namespace kw
