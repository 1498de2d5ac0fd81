#include "propose/llm/client/request_body.hpp"

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"

namespace kw {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The messages as the model takes them: without system messages, where it knows none, but with their text in front of
/// the first message of the user.
std::vector<ChatMessage> accepted_messages(const ChatRequest& request, const ModelTraits& traits) {
  if (traits.takes_system_role) return request.messages;
  std::string system;
  std::vector<ChatMessage> messages;
  for (const auto& message : request.messages) {
    if (message.role == ChatRole::system) {
      system += message.text + "\n\n";
    } else {
      messages.push_back(message);
    }
  }
  if (system.empty()) return messages;
  for (auto& message : messages) {
    if (message.role != ChatRole::user) continue;
    message.text.insert(0, system);
    return messages;
  }
  messages.insert(messages.begin(), {ChatRole::user, system});
  return messages;
}

}  // namespace

std::string request_body(const ChatRequest& request, const Provider& provider, const RequestShape& shape) {
  const ModelTraits traits = traits_of(provider, request.model);
  OrderedJson body;
  body["model"] = replace_non_text(request.model);
  body["messages"] = OrderedJson::array();
  for (const auto& message : accepted_messages(request, traits)) {
    body["messages"].push_back({{"role", to_string(message.role)}, {"content", replace_non_text(message.text)}});
  }
  if (request.temperature && traits.takes_temperature) body["temperature"] = *request.temperature;
  if (request.max_tokens) body[traits.max_tokens_field] = *request.max_tokens;
  if (!provider.effort.empty()) body["reasoning_effort"] = provider.effort;
  body["stream"] = true;
  if (shape.include_usage) body["stream_options"] = {{"include_usage", true}};
  return body.dump();
}

std::size_t prompt_bytes(const ChatRequest& request) {
  std::size_t bytes = 0;
  for (const auto& message : request.messages) bytes += message.text.size();
  return bytes;
}

std::int64_t estimated_tokens(std::size_t text_bytes) {
  constexpr std::size_t k_bytes_per_token = 4;
  return static_cast<std::int64_t>((text_bytes + k_bytes_per_token - 1) / k_bytes_per_token);
}

}  // namespace kw
