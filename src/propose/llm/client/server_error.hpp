#pragma once
// What a server says went wrong, in any of the shapes that servers use, and the error that a user gets from it: a code,
// a sentence with a bounded excerpt, and a hint what to do.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "propose/llm/client/api_key.hpp"
#include "propose/llm/client/provider.hpp"
#include "propose/llm/client/retry.hpp"

namespace kw {

/// Untrusted text, apart from `status`.
struct ServerError {
  int status = 0;    ///< of HTTP, or the number an error inside a stream carries; 0 when there is none
  std::string kind;  ///< `code` and `type`, in lower case, a space between: "context_length_exceeded invalid_request"
  std::string message;
};

/// The error that an object with the key "error" (or "message", "detail") describes; nothing when it describes none.
[[nodiscard]] std::optional<ServerError> find_server_error(const nlohmann::json& object);
/// The body of an answer with an error status: JSON, or text that is quoted when it is no HTML.
[[nodiscard]] ServerError read_error_body(int status, std::string_view body);

/// At most this much of a server's words stands in a message.
inline constexpr std::size_t k_max_excerpt_bytes = 300;
/// One line of printable text: the key taken out first, then control characters replaced, then cut to
/// k_max_excerpt_bytes at a character.
[[nodiscard]] std::string excerpt(std::string_view server_text, const ApiKey* key);

/// Whom was asked for what, for messages and hints. `key` may be null.
struct ErrorScene {
  const Provider& provider;
  std::string_view model;
  const ApiKey* key = nullptr;
};
/// Codes: all of chat_errors.hpp that stand for a status. A quota that is used up is errc::chat_payment and not worth
/// retrying, whatever its status; a prompt that is too long is errc::chat_context_length.
[[nodiscard]] ChatFailure describe(const ServerError& error, const ErrorScene& scene);

}  // namespace kw
