#include "propose/llm/client/reply_piece.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "propose/llm/client/chat_json.hpp"

namespace kw {
namespace {

using Json = nlohmann::json;

ChatFinish finish_of(std::string_view reason) {
  struct Row {
    std::string_view reason;
    ChatFinish finish;
  };
  constexpr std::array<Row, 10> k_rows = {{{"stop", ChatFinish::stop},
                                           {"eos", ChatFinish::stop},
                                           {"end_turn", ChatFinish::stop},
                                           {"stop_sequence", ChatFinish::stop},
                                           {"length", ChatFinish::length},
                                           {"max_tokens", ChatFinish::length},
                                           {"content_filter", ChatFinish::filter},
                                           {"safety", ChatFinish::filter},
                                           {"tool_calls", ChatFinish::tool},
                                           {"function_call", ChatFinish::tool}}};
  for (const auto& row : k_rows) {
    if (row.reason == reason) return row.finish;
  }
  return ChatFinish::unknown;
}

/// Content is a string, or an array of parts of which some are text and some are reasoning.
void add_content(const Json& content, ReplyPiece& piece) {
  if (!content.is_array()) return;
  for (const Json& part : content) {
    piece.text += text_at(part, "text");
    const Json& thinking = value_at(part, "thinking");
    piece.reasoning += text_at(part, "thinking");
    if (!thinking.is_array()) continue;
    for (const Json& inner : thinking) piece.reasoning += text_at(inner, "text");
  }
}

void read_message(const Json& message, ReplyPiece& piece) {
  piece.text = text_at(message, "content");
  add_content(value_at(message, "content"), piece);
  piece.text += text_at(message, "refusal");
  // Some servers send the same reasoning under both names.
  const std::string reasoning = text_at(message, "reasoning_content");
  piece.reasoning += reasoning.empty() ? text_at(message, "reasoning") : reasoning;
  const Json& calls = value_at(message, "tool_calls");
  piece.tool_call = (calls.is_array() && !calls.empty()) || value_at(message, "function_call").is_object();
}

/// Counts that are no counts are left at zero: usage only ever decides when to stop paying.
std::int64_t count_at(const Json& object, const char* key) {
  constexpr double k_most = 1e12;
  const Json& value = value_at(object, key);
  if (!value.is_number()) return 0;
  const auto number = value.get<double>();
  return number > 0 && number <= k_most ? static_cast<std::int64_t>(number) : 0;
}

std::optional<TokenUsage> read_usage(const Json& usage) {
  if (!usage.is_object()) return std::nullopt;
  TokenUsage read;
  read.prompt = count_at(usage, "prompt_tokens");
  read.completion = count_at(usage, "completion_tokens");
  if (read.prompt == 0 && read.completion == 0) return std::nullopt;
  read.reasoning = count_at(value_at(usage, "completion_tokens_details"), "reasoning_tokens");
  read.cached = count_at(value_at(usage, "prompt_tokens_details"), "cached_tokens");
  if (read.cached == 0) read.cached = count_at(usage, "prompt_cache_hit_tokens");
  read.reasoning = std::min(read.reasoning, read.completion);
  read.cached = std::min(read.cached, read.prompt);
  return read;
}

void read_choice(const Json& choice, ReplyPiece& piece) {
  piece.has_choice = true;
  const Json& delta = value_at(choice, "delta");
  read_message(delta.is_object() ? delta : value_at(choice, "message"), piece);
  const std::string reason = text_at(choice, "finish_reason");
  if (reason == "insufficient_system_resource") {  // DeepSeek's word for an answer that its servers broke off
    piece.error = ServerError{503, reason, "the answer was broken off for lack of resources"};
  } else if (!reason.empty()) {
    piece.finish = finish_of(reason);
  }
  if (const auto error = find_server_error(Json{{"choices", nullptr}, {"error", value_at(choice, "error")}})) {
    piece.error = error;
  }
}

}  // namespace

Result<ReplyPiece> parse_reply_piece(std::string_view json) {
  KW_TRY(const Json object, parse_chat_json(json));
  ReplyPiece piece;
  piece.model = text_at(object, "model");
  piece.usage = read_usage(value_at(object, "usage"));
  const Json& choices = value_at(object, "choices");
  if (choices.is_array() && !choices.empty()) read_choice(choices.front(), piece);
  if (!piece.error) piece.error = find_server_error(object);
  return piece;
}

}  // namespace kw
