#include "propose/llm/client/retry.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <ctime>

namespace kw {
namespace {

constexpr std::int64_t k_day_seconds = 86'400;

Duration own_wait(const RetryPolicy& policy, int retries, Rng& rng) {
  Duration full = std::min(policy.first_wait, policy.longest_wait);
  for (int i = 0; i < retries && full < policy.longest_wait; ++i) full = std::min(2 * full, policy.longest_wait);
  return full / 2 + from_seconds(to_seconds(full / 2) * rng.uniform());
}

}  // namespace

bool is_retried_status(int status) {
  return status == 408 || status == 409 || status == 429 || (status >= 500 && status <= 599);
}

std::optional<std::int64_t> parse_http_date(std::string_view value) {
  constexpr std::size_t k_longest = 64;
  // The library reads many more forms; all of HTTP's have a time of day.
  if (value.size() > k_longest || value.find(':') == std::string_view::npos) return std::nullopt;
  const std::time_t date = curl_getdate(std::string(value).c_str(), nullptr);
  if (date == -1) return std::nullopt;
  return date;
}

std::optional<Duration> parse_retry_after(std::string_view value, std::int64_t now_unix_seconds) {
  constexpr std::string_view k_blanks = " \t\r\n";
  const std::size_t begin = value.find_first_not_of(k_blanks);
  if (begin == std::string_view::npos) return std::nullopt;
  value = value.substr(begin, value.find_last_not_of(k_blanks) - begin + 1);
  std::int64_t seconds = 0;
  if (std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    for (const char digit : value) seconds = std::min(k_day_seconds, seconds * 10 + (digit - '0'));
  } else {
    const auto date = parse_http_date(value);
    if (!date) return std::nullopt;
    seconds = std::clamp<std::int64_t>(*date - now_unix_seconds, 0, k_day_seconds);
  }
  return std::chrono::seconds(seconds);
}

RetryDecision decide_retry(const RetryPolicy& policy, const ChatFailure& failure, int retries, Duration remaining,
                           Rng& rng) {
  const auto give_up = [&](const std::string& why) {
    Error error = failure.error;
    if (!why.empty()) error.message += "; " + why;
    return RetryDecision{std::nullopt, std::move(error)};
  };
  if (!failure.worth_retrying) return give_up(retries == 0 ? "" : fmt::format("this was retry {}", retries));
  if (retries >= policy.most) return give_up(fmt::format("given up after {} retries", retries));
  const Duration asked = failure.retry_after.value_or(Duration::zero());
  const Duration wait = std::max(asked, own_wait(policy, retries, rng));
  if (wait < remaining) return {wait, std::nullopt};
  if (asked >= remaining) {
    return give_up(fmt::format("it asks to wait {:.0f} s, which is longer than the {:.1f} s left", to_seconds(asked),
                               to_seconds(remaining)));
  }
  return give_up(fmt::format("the {:.1f} s left are too short for another try", to_seconds(remaining)));
}

}  // namespace kw
