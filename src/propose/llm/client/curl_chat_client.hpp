#pragma once
// The ChatClient that talks to a real server: chat completions over HTTP. Streams, falls back to a plain answer,
// retries within the deadline, takes the key out of everything the server said. Sends the request's messages and
// parameters and nothing else; follows no redirect; sends no key in the clear to another machine.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "propose/llm/client/api_key.hpp"
#include "propose/llm/client/chat_client.hpp"
#include "propose/llm/client/provider.hpp"
#include "propose/llm/client/reply_receiver.hpp"
#include "propose/llm/client/retry.hpp"

namespace kw {

struct ClientOptions {
  Provider provider;
  std::optional<ApiKey> key = std::nullopt;
  ChatTimeouts timeouts = {};
  RetryPolicy retry = {};
  std::uint64_t seed = 0;            ///< of the waits between retries
  bool allow_key_over_http = false;  ///< anyone on the way to the server could then read the key and use it
  std::string ca_file = {};          ///< certificates to trust; empty: CURL_CA_BUNDLE, SSL_CERT_FILE, the system's
};

/// `clock` must outlive the client. Proxies come from http_proxy, https_proxy, all_proxy and no_proxy, as curl reads
/// them; a server on this machine is never asked through one. errc::chat_key: a key would go over plain http to another
/// machine, or the provider wants a key and there is none.
[[nodiscard]] Result<std::unique_ptr<ChatClient>> make_curl_chat_client(ClientOptions options, const Clock& clock);

}  // namespace kw
