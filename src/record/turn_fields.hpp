#pragma once
// The fields of what is said between loop and model, for writing and reading; the rules are those of fields.hpp.

#include "record/fields.hpp"
#include "record/turn.hpp"

namespace kw {

template <>
inline constexpr auto k_known_values<ChatRole> = std::to_array({ChatRole::system, ChatRole::user, ChatRole::assistant});
template <>
inline constexpr auto k_known_values<ChatFinish> =
    std::to_array({ChatFinish::stop, ChatFinish::length, ChatFinish::filter, ChatFinish::tool, ChatFinish::unknown});
template <>
inline constexpr auto k_known_values<ReplyFault> = std::to_array(
    {ReplyFault::none, ReplyFault::no_reply, ReplyFault::empty, ReplyFault::too_large, ReplyFault::cut_off,
     ReplyFault::filtered, ReplyFault::tool_call, ReplyFault::no_code, ReplyFault::several_bundles,
     ReplyFault::wrong_language, ReplyFault::host_program, ReplyFault::no_header, ReplyFault::bundle_invalid,
     ReplyFault::repeated, ReplyFault::no_plan, ReplyFault::no_judgement});

template <typename V, AnyConst<ChatMessage> T>
void fields(V& visit, T& r) {
  visit("role", r.role);
  visit("text", r.text);
}

template <typename V, AnyConst<ChatRequest> T>
void fields(V& visit, T& r) {
  visit("model", r.model);
  visit("messages", r.messages);
  visit("temperature", r.temperature);
  visit("max_tokens", r.max_tokens);
}

template <typename V, AnyConst<TokenUsage> T>
void fields(V& visit, T& r) {
  visit("prompt", r.prompt);
  visit("completion", r.completion);
  visit("reasoning", r.reasoning);
  visit("cached", r.cached);
  visit("estimated", r.estimated);
}

template <typename V, AnyConst<ChatReply> T>
void fields(V& visit, T& r) {
  visit("text", r.text);
  visit("reasoning", r.reasoning);
  visit("finish", r.finish);
  visit("usage", r.usage);
  visit("model", r.model);
  visit("seconds", r.seconds);
  visit("first_token_seconds", r.first_token_seconds);
  visit("retries", r.retries);
}

template <typename V, AnyConst<Turn> T>
void fields(V& visit, T& r) {
  visit("ordinal", r.ordinal);
  visit("chain", r.chain);
  visit("before_attempt", r.before_attempt);
  visit("purpose", r.purpose);
  visit("request", r.request);
  visit("reply", r.reply);
  visit("dollars", r.dollars);
  visit("finished_seconds", r.finished_seconds);
  visit("summary", r.summary);
  visit("fault", r.fault);
  visit("fault_message", r.fault_message);
}

}  // namespace kw
