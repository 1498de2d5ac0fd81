#include "propose/llm/client/server_error.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "propose/llm/client/chat_errors.hpp"
#include "propose/llm/client/chat_json.hpp"

namespace kw {
namespace {

using Json = nlohmann::json;

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool says_too_long(const ServerError& error) {
  constexpr std::array<std::string_view, 10> k_words = {
      "context_length",     "context length",    "context size",          "context window", "maximum context",
      "prompt is too long", "input is too long", "too many input tokens", "exceed_context", "reduce the length"};
  return has_any(error.kind, k_words) || has_any(lower_case(error.message), k_words);
}

bool says_quota_used_up(const ServerError& error) {
  constexpr std::array<std::string_view, 3> k_words = {"insufficient_quota", "insufficient balance", "billing"};
  return has_any(error.kind, k_words) || has_any(lower_case(error.message), k_words);
}

/// An error inside a stream has no status of HTTP; its kind says which it would have had.
int likely_status(const ServerError& error) {
  struct Row {
    std::string_view word;
    int status;
  };
  constexpr std::array<Row, 7> k_rows = {{{"rate_limit", 429},
                                          {"authentication", 401},
                                          {"invalid_api_key", 401},
                                          {"permission", 403},
                                          {"not_found", 404},
                                          {"invalid_request", 400},
                                          {"badrequest", 400}}};
  for (const auto& row : k_rows) {
    if (error.kind.find(row.word) != std::string::npos) return row.status;
  }
  return 500;
}

int number_or_zero(const Json& value) {
  if (!value.is_number_integer()) return 0;
  const auto number = value.get<std::int64_t>();
  return number >= 400 && number <= 599 ? static_cast<int>(number) : 0;
}

struct ErrorExplanation {
  ErrorCode code;
  std::string what;  ///< a clause; status and the server's own words follow
  std::string hint;
};

std::string key_hint(const ErrorScene& scene) {
  if (scene.key != nullptr) return fmt::format("check {} or the --key-file", scene.provider.key_variable);
  return fmt::format("export {}=..., or --key-file FILE with mode 0600", scene.provider.key_variable);
}

ErrorExplanation explain(int status, const ErrorScene& scene) {
  const auto& name = scene.provider.name;
  switch (status) {
    case 401:
      return {
          errc::chat_unauthorized,
          scene.key == nullptr ? fmt::format("{} wants a key", name) : fmt::format("{} does not accept the key", name),
          key_hint(scene)};
    case 402:
      return {errc::chat_payment, fmt::format("the account at {} has no credit left", name),
              "top it up, or choose another --provider"};
    case 403:
      return {errc::chat_forbidden, fmt::format("{} does not allow this request", name),
              fmt::format("the key may lack access to model '{}', or the region may be blocked", scene.model)};
    case 404:
    case 405:
    case 410:
      return {errc::chat_not_found,
              fmt::format("{} finds no model '{}', or no chat completions at {}", name, scene.model,
                          scene.provider.base_url),
              "check --model, and --base-url, which most often ends in /v1"};
    case 429:
      return {errc::chat_rate_limit, fmt::format("{} limits the rate of requests", name),
              "ask for fewer --chains and --samples, or try again later"};
    case 408:
    case 409:
      return {errc::chat_server, fmt::format("{} could not handle the request now", name), "try again later"};
    default:
      break;
  }
  if (status >= 500) return {errc::chat_server, fmt::format("{} failed", name), "try again later"};
  if (status >= 400) {
    return {errc::chat_bad_request, fmt::format("{} refused the request", name),
            fmt::format("check that model '{}' takes chat messages", scene.model)};
  }
  return {errc::chat_protocol, fmt::format("{} answered in a way that is not a chat completion", name),
          "check --base-url, which most often ends in /v1"};
}

}  // namespace

std::optional<ServerError> find_server_error(const Json& object) {
  const Json& error = value_at(object, "error");
  ServerError found;
  if (error.is_string()) {
    found.message = text_at(object, "error");
    found.status = number_or_zero(value_at(object, "code"));
    return found;
  }
  // Some put message and code beside each other at the top, some an array of complaints under "detail".
  const bool at_top = error.is_null() && value_at(object, "choices").is_null();
  const Json& holder = at_top ? object : error;
  if (!holder.is_object() || holder.empty()) return std::nullopt;
  found.message = text_at(holder, "message");
  const Json& detail = value_at(holder, "detail");
  if (found.message.empty() && !detail.is_null()) {
    found.message = detail.is_string() ? text_at(holder, "detail") : detail.dump();
  }
  if (at_top && found.message.empty()) return std::nullopt;
  found.status = number_or_zero(value_at(holder, "code"));
  if (found.status == 0) found.status = number_or_zero(value_at(holder, "status"));
  found.kind = lower_case(text_at(holder, "code") + " " + text_at(holder, "type"));
  return found;
}

ServerError read_error_body(int status, std::string_view body) {
  ServerError read;
  if (const auto json = parse_chat_json(body)) {
    if (auto found = find_server_error(*json)) read = *std::move(found);
  } else {
    const std::size_t first = body.find_first_not_of(" \t\r\n");
    const bool markup = first != std::string_view::npos && body[first] == '<';
    if (!markup) read.message = replace_non_text(body);
  }
  read.status = status;
  return read;
}

std::string excerpt(std::string_view server_text, const ApiKey* key) {
  std::string text = replace_non_text(key != nullptr ? key->redact(server_text) : std::string(server_text));
  for (char& c : text) {
    if ((c >= 0 && c < ' ') || c == '\x7f') c = ' ';
  }
  if (text.size() <= k_max_excerpt_bytes) return text;
  std::size_t end = k_max_excerpt_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

ChatFailure describe(const ServerError& error, const ErrorScene& scene) {
  const int status = error.status != 0 ? error.status : likely_status(error);
  const bool about_request = status == 400 || status == 413 || status == 422 || status == 500;
  ErrorExplanation found = explain(status, scene);
  bool retried = is_retried_status(status);
  if (status == 413 || (about_request && says_too_long(error))) {
    found = {errc::chat_context_length, fmt::format("the prompt is longer than model '{}' takes", scene.model),
             "use a model with a longer context, or shorten the prompt: --exemplars none"};
    retried = false;
  } else if (status == 429 && says_quota_used_up(error)) {
    found = explain(402, scene);
    retried = false;
  }
  std::string message = found.what;
  if (error.status != 0) message += fmt::format(" (HTTP {})", error.status);
  if (const auto words = excerpt(error.message, scene.key); !words.empty()) message += ": " + words;
  return {Error{found.code, std::move(message), std::move(found.hint)}, retried, std::nullopt};
}

}  // namespace kw
