#pragma once
// Whether to ask again after a failure, and how long to wait first. Pure: time left, randomness and the server's wish
// come in, a decision goes out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"

namespace kw {

struct RetryPolicy {
  int most = 5;                                      ///< retries after the first try
  Duration first_wait = std::chrono::seconds(1);     ///< doubles with each retry
  Duration longest_wait = std::chrono::seconds(60);  ///< of our own choice; a server may ask for more
};

/// A try that failed.
struct ChatFailure {
  Error error;
  bool worth_retrying = false;          ///< 408, 409, 429, 5xx, no connection, a connection that broke
  std::optional<Duration> retry_after;  ///< as the server asked
};

/// 408, 409, 429 and 5xx.
[[nodiscard]] bool is_retried_status(int status);

/// Seconds since 1970 of an HTTP date in any of its three forms (RFC 9110, 5.6.7); nothing for anything else.
[[nodiscard]] std::optional<std::int64_t> parse_http_date(std::string_view value);

/// The value of a Retry-After header (RFC 9110, 10.2.3): seconds, or an HTTP date, which counts from
/// `now_unix_seconds`. Not negative, at most a day. Nothing for anything else.
[[nodiscard]] std::optional<Duration> parse_retry_after(std::string_view value, std::int64_t now_unix_seconds);

/// Exactly one of the two.
struct RetryDecision {
  std::optional<Duration> wait;
  std::optional<Error> give_up;  ///< the failure, with a word on why there is no further try
};

/// `retries` were made already; `remaining` is the time until the deadline. The wait is uniform between a half and all
/// of first_wait * 2^retries, capped, and never shorter than what the server asked for. A wait that the deadline would
/// end is not begun.
[[nodiscard]] RetryDecision decide_retry(const RetryPolicy& policy, const ChatFailure& failure, int retries,
                                         Duration remaining, Rng& rng);

}  // namespace kw
