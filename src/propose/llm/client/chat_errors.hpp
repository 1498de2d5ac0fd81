#pragma once
// How asking a model fails. `is_final` says which of these mean that asking again cannot help: the run then ends, or
// goes on without the model.

#include "base/result.hpp"

namespace kw::errc {
inline constexpr ErrorCode chat_bad_request{"chat.bad_request"};                        ///< 400, 422
inline constexpr ErrorCode chat_unauthorized{"chat.unauthorized"};                      ///< 401
inline constexpr ErrorCode chat_payment{"chat.payment"};                                ///< 402
inline constexpr ErrorCode chat_forbidden{"chat.forbidden"};                            ///< 403
inline constexpr ErrorCode chat_not_found{"chat.not_found"};                            ///< 404: URL or model name
inline constexpr ErrorCode chat_context_length{"chat.context_length"};                  ///< the prompt is too long
inline constexpr ErrorCode chat_rate_limit{"chat.rate_limit", ExitClass::environment};  ///< 429, retries used up
inline constexpr ErrorCode chat_server{"chat.server", ExitClass::environment};  ///< 5xx, 408, 409, retries used up
inline constexpr ErrorCode chat_connection{"chat.connection", ExitClass::environment};  ///< no connection, reset, TLS
inline constexpr ErrorCode chat_timeout{"chat.timeout", ExitClass::environment};        ///< connect, first token, idle
inline constexpr ErrorCode chat_protocol{"chat.protocol", ExitClass::environment};      ///< not a chat completion
inline constexpr ErrorCode chat_too_large{"chat.too_large", ExitClass::environment};    ///< over k_max_reply_bytes
inline constexpr ErrorCode chat_stopped{"chat.stopped"};    ///< deadline or stop: nobody's fault
inline constexpr ErrorCode chat_replayed{"chat.replayed"};  ///< a replay has no further reply
inline constexpr ErrorCode chat_key{"chat.key"};            ///< a key is missing, or its file is readable by others
inline constexpr ErrorCode chat_provider{"chat.provider"};  ///< unknown preset, or a base URL that is none
}  // namespace kw::errc

namespace kw {

/// Whether every further request would fail, whoever waits: credentials, payment, permission, URL, model, parameters.
/// A prompt that is too long is not final: the next one may be shorter.
[[nodiscard]] bool is_final_chat_error(const Error& error);

}  // namespace kw
