#include "propose/llm/client/reply_stream.hpp"

#include "propose/llm/client/chat_errors.hpp"
#include "propose/llm/client/reasoning_split.hpp"
#include "propose/llm/client/request_body.hpp"

namespace kw {
namespace {

TokenUsage estimate(std::size_t prompt, std::size_t answer, std::size_t reasoning) {
  TokenUsage usage;
  usage.prompt = estimated_tokens(prompt);
  usage.completion = estimated_tokens(answer + reasoning);
  usage.reasoning = estimated_tokens(reasoning);
  usage.estimated = true;
  return usage;
}

}  // namespace

Result<void> ReplyStream::add(std::string_view data) {
  if (done_ || data.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
  if (data == "[DONE]") {
    done_ = true;
    return {};
  }
  KW_TRY(const ReplyPiece piece, parse_reply_piece(data));
  if (piece.error && !error_) error_ = piece.error;
  if (content_.size() + reasoning_.size() + piece.text.size() + piece.reasoning.size() > k_max_reply_bytes) {
    return fail(Error{errc::chat_too_large, fmt::format("the answer is longer than {} bytes", k_max_reply_bytes),
                      "the model repeats itself, or another program answers; limit its tokens"});
  }
  content_ += piece.text;
  reasoning_ += piece.reasoning;
  has_choice_ = has_choice_ || piece.has_choice;
  tool_call_ = tool_call_ || piece.tool_call;
  if (piece.finish) finish_ = piece.finish;
  if (piece.usage) usage_ = piece.usage;
  constexpr std::size_t k_longest_name = 200;
  if (model_.empty() && piece.model.size() <= k_longest_name) model_ = piece.model;
  return {};
}

Result<ChatReply> ReplyStream::finish(std::size_t prompt_bytes) const {
  if (!has_choice_) {
    return fail(Error{errc::chat_protocol, "the server answered without a single choice, so it gave no answer",
                      "check --base-url and --model"});
  }
  const auto split = split_reasoning(content_);
  ChatReply reply;
  reply.text = split.answer;
  reply.reasoning = reasoning_;
  if (!split.reasoning.empty()) {
    if (!reply.reasoning.empty()) reply.reasoning += '\n';
    reply.reasoning += split.reasoning;
  }
  reply.finish = finish_.value_or(ChatFinish::unknown);
  if (tool_call_ && reply.text.empty()) reply.finish = ChatFinish::tool;
  reply.usage = usage_.value_or(estimate(prompt_bytes, reply.text.size(), reply.reasoning.size()));
  reply.model = model_;
  return reply;
}

}  // namespace kw
