#include "propose/llm/client/retry.hpp"

#include <gtest/gtest.h>

#include "propose/llm/client/chat_errors.hpp"

namespace kw {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ChatFailure k_busy{Error{errc::chat_rate_limit, "busy"}, true, std::nullopt};

TEST(Retry, statuses_that_may_pass_are_retried_and_no_others) {
  for (const int status : {408, 409, 429, 500, 502, 503, 504, 529, 599})
    EXPECT_TRUE(is_retried_status(status)) << status;
  for (const int status : {0, 200, 301, 400, 401, 402, 403, 404, 413, 422, 600}) {
    EXPECT_FALSE(is_retried_status(status)) << status;
  }
}

TEST(Retry, reads_retry_after_as_seconds) {
  EXPECT_EQ(parse_retry_after("0", 0), seconds(0));
  EXPECT_EQ(parse_retry_after(" 17 ", 0), seconds(17));
  EXPECT_EQ(parse_retry_after("99999999999999999999", 0), seconds(86400));
}

TEST(Retry, reads_retry_after_as_http_date) {
  constexpr std::int64_t k_now = 784'111'777;  // Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:57 GMT", k_now), seconds(20));
  EXPECT_EQ(parse_retry_after("Sunday, 06-Nov-94 08:49:57 GMT", k_now), seconds(20));
  EXPECT_EQ(parse_retry_after("Sun Nov  6 08:49:57 1994", k_now), seconds(20));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:00 GMT", k_now), seconds(0)) << "the past is now";
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 2094 08:49:37 GMT", k_now), seconds(86400));
}

TEST(Retry, passes_over_a_retry_after_that_is_neither) {
  for (const auto* text : {"", "soon", "-1", "1.5", "12 seconds"}) {
    EXPECT_EQ(parse_retry_after(text, 0), std::nullopt) << text;
  }
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT" + std::string(100, ' ')), std::nullopt);
}

TEST(Retry, waits_twice_as_long_each_time_up_to_the_cap) {
  const RetryPolicy policy{20, seconds(1), seconds(10)};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    for (const int retries : {0, 1, 2, 3, 4, 19}) {
      const auto full = std::min(seconds(1 << std::min(retries, 4)), seconds(10));
      const auto decision = decide_retry(policy, k_busy, retries, seconds(1000), rng);
      ASSERT_TRUE(decision.wait) << "seed " << seed;
      EXPECT_GE(*decision.wait, full / 2) << "seed " << seed << ", retries " << retries;
      EXPECT_LE(*decision.wait, full) << "seed " << seed << ", retries " << retries;
    }
  }
}

TEST(Retry, waits_differ_between_seeds) {
  Rng one(1);
  Rng two(2);
  EXPECT_NE(decide_retry({}, k_busy, 0, seconds(100), one).wait, decide_retry({}, k_busy, 0, seconds(100), two).wait);
}

TEST(Retry, waits_as_long_as_the_server_asks_even_past_the_cap) {
  Rng rng(1);
  ChatFailure failure = k_busy;
  failure.retry_after = seconds(90);
  EXPECT_EQ(decide_retry({5, seconds(1), seconds(10)}, failure, 0, seconds(100), rng).wait, seconds(90));
}

TEST(Retry, gives_up_at_once_when_the_server_asks_for_more_than_is_left) {
  Rng rng(1);
  ChatFailure failure = k_busy;
  failure.retry_after = seconds(90);
  const auto decision = decide_retry({}, failure, 0, milliseconds(12500), rng);
  EXPECT_FALSE(decision.wait);
  ASSERT_TRUE(decision.give_up);
  EXPECT_EQ(decision.give_up->code, errc::chat_rate_limit);
  EXPECT_EQ(decision.give_up->message, "busy; it asks to wait 90 s, which is longer than the 12.5 s left");
}

TEST(Retry, never_waits_past_the_deadline) {
  Rng rng(1);
  const auto decision = decide_retry({}, k_busy, 4, milliseconds(300), rng);
  EXPECT_FALSE(decision.wait);
  EXPECT_EQ(decision.give_up->message, "busy; the 0.3 s left are too short for another try");
}

TEST(Retry, gives_up_after_the_most_it_may) {
  Rng rng(1);
  EXPECT_EQ(decide_retry({3, seconds(1), seconds(1)}, k_busy, 3, seconds(100), rng).give_up->message,
            "busy; given up after 3 retries");
}

TEST(Retry, never_repeats_what_cannot_help) {
  Rng rng(1);
  const ChatFailure refused{Error{errc::chat_unauthorized, "no"}, false, seconds(1)};
  EXPECT_EQ(decide_retry({}, refused, 0, seconds(100), rng).give_up->message, "no");
}

}  // namespace
}  // namespace kw
