#pragma once
// One HTTP request over libcurl: posts a body, hands the answer to a receiver as it comes, and lets the receiver end it
// at any time. Knows nothing of chat. One connection per call, no redirects, no cookies, no credentials but the headers
// it is given, http and https only.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/clock.hpp"
#include "propose/llm/client/retry.hpp"

namespace kw {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  ///< "Name: value"
  std::string body;
  std::string ca_file;        ///< certificates to trust; empty: those of the system
  bool bypass_proxy = false;  ///< else http_proxy, https_proxy, all_proxy and no_proxy are followed
  Duration connect_timeout = std::chrono::seconds(15);  ///< name, TCP and TLS together
};

/// Untrusted text, apart from `status`. Empty where there is no such header.
struct HttpHead {
  int status = 0;
  std::string content_type;
  std::string retry_after;
  std::string date;
  std::string location;
};

template <typename T>
using Tried = tl::expected<T, ChatFailure>;

/// Called from inside http_post, in its thread. A failure ends the request and is what http_post returns.
class HttpReceiver {
 public:
  virtual ~HttpReceiver() = default;
  /// The final status and headers, once, before any body.
  [[nodiscard]] virtual Tried<void> on_head(const HttpHead& head) = 0;
  [[nodiscard]] virtual Tried<void> on_body(std::string_view bytes) = 0;
  /// At least every k_tick while nothing comes: the place to look at clocks and stop flags.
  [[nodiscard]] virtual Tried<void> on_tick() = 0;
  /// Nothing more is wanted: the request ends as if the server had closed it.
  [[nodiscard]] virtual bool is_complete() const = 0;
};

inline constexpr std::chrono::milliseconds k_tick{20};

/// Blocks until the answer is complete. An error status is no failure. Failures: the receiver's;
/// errc::chat_connection (no connection, broken connection, TLS), errc::chat_timeout (connecting),
/// errc::chat_provider (the URL cannot be used), errc::chat_protocol (headers past 256 KiB).
[[nodiscard]] Tried<void> http_post(const HttpRequest& request, HttpReceiver& receiver);

/// Connects to the request's server as http_post would, TLS and proxies included, and sends nothing. The receiver is
/// only ticked. Failures as http_post's.
[[nodiscard]] Tried<void> http_connect(const HttpRequest& request, HttpReceiver& receiver);

}  // namespace kw
