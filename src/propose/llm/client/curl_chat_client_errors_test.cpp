// What servers and connections do wrong: what is said of each failure, and which are worth another try.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "propose/llm/client/chat_errors.hpp"
#include "propose/testing/curl_chat_client_fixture.hpp"

namespace kw {
namespace {

using namespace chat_client_test;  // NOLINT: a test's own vocabulary

TEST_F(CurlChatClient, tries_again_after_500_and_says_how_often) {
  const LoopbackServer server(
      saying_in_turn({http_answer(500, "application/json", R"({"error":"oops"})"),
                      http_answer(503, "text/html", "<html>"), http_answer(200, "application/json", k_plain_answer)}));
  expect_kernel(ask(server), 2);
}

TEST_F(CurlChatClient, gives_up_after_the_most_retries) {
  const LoopbackServer server(saying(http_answer(500, "application/json", R"({"error":"oops"})")));
  expect_error(ask(server), errc::chat_server, "custom failed (HTTP 500): oops; given up after 2 retries");
}

/// How long a client stays away after a 429 with these headers: by a clock that stands while the two talk, and jumps
/// half an hour at each reading in between. The few readings around a request are no day.
class RateLimited : public CurlChatClient {
 protected:
  Duration stays_away_after(std::string_view headers) {
    JumpingClock clock;
    Instant left;
    Duration away{};
    {
      const LoopbackServer server([&](LoopbackConnection& connection, int index) {
        clock.jump_at_each_reading({});
        if (index > 0) away = clock.now() - left;
        connection.read_request();
        if (index > 0) {
          connection.send(http_answer(200, "application/json", k_plain_answer));
          return;
        }
        connection.send(http_answer(429, "application/json", "{}", headers));
        connection.wait_for_client_to_leave();
        left = clock.now();
        clock.jump_at_each_reading(minutes(30));
      });
      auto options = options_for(server);
      options.timeouts = {seconds(5), hours(100'000), hours(100'000)};
      expect_kernel(ask(std::move(options), {clock.now() + hours(200'000), nullptr}, clock), 1);
    }
    return away;
  }
};

TEST_F(RateLimited, waits_as_long_as_429_asks) {
  EXPECT_GE(stays_away_after("Retry-After: 86400\r\n"), hours(24));
}

TEST_F(RateLimited, reads_a_date_in_retry_after_by_the_servers_own_clock) {
  EXPECT_GE(stays_away_after("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Mon, 07 Nov 1994 08:49:37 GMT\r\n"),
            hours(24));
}

TEST_F(CurlChatClient, fails_at_once_when_429_asks_for_more_time_than_is_left) {
  std::atomic<int> requests = 0;
  const LoopbackServer server([&](LoopbackConnection& connection, int) {
    ++requests;
    connection.read_request();
    connection.send(http_answer(429, "application/json", R"({"error":"busy"})", "Retry-After: 100\r\n"));
  });
  expect_error(ask(server), errc::chat_rate_limit, "busy; it asks to wait 100 s, which is longer than the");
  EXPECT_EQ(requests, 1);
}

TEST_F(CurlChatClient, starts_over_when_the_connection_is_reset_in_the_middle) {
  const LoopbackServer server([&](LoopbackConnection& connection, int index) {
    connection.read_request();
    connection.send(events({k_kernel_event}));
    if (index == 0) return connection.reset();
    connection.send(k_stop_event);
  });
  expect_kernel(ask(server), 1);
}

TEST_F(CurlChatClient, gives_up_on_a_connection_that_is_always_reset) {
  const LoopbackServer server([&](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.reset();
  });
  expect_error(ask(server), errc::chat_connection, "the connection broke: ");
}

TEST_F(CurlChatClient, gives_up_on_a_port_where_nobody_listens) {
  int port = 0;
  {
    port = LoopbackServer([](LoopbackConnection&, int) {}).port();
  }
  expect_error(ask(options_for(fmt::format("http://127.0.0.1:{}/v1", port))), errc::chat_connection, "no connection: ");
}

TEST_F(CurlChatClient, tells_truncated_json_from_other_bytes) {
  const LoopbackServer cut(saying(http_answer(200, "application/json", k_plain_answer.substr(0, 40))));
  expect_error(ask(cut), errc::chat_connection, "the answer broke off in the middle; given up after 2 retries");
  const LoopbackServer cut_stream(saying(events({k_kernel_event, R"(data: {"choices":[{"del)"})));
  expect_error(ask(cut_stream), errc::chat_connection, "the answer broke off in the middle");
  const LoopbackServer nonsense(saying(http_answer(200, "application/json", "{nonsense}")));
  expect_error(ask(nonsense), errc::chat_protocol, "the server sent what is not JSON");
}

TEST_F(CurlChatClient, refuses_a_page_of_html) {
  const LoopbackServer server(saying(http_answer(200, "text/html; charset=utf-8", "<script>alert(1)</script>")));
  expect_error(ask(server), errc::chat_protocol, "answered with text/html instead of a chat completion");
}

TEST_F(CurlChatClient, refuses_an_answer_without_choices) {
  const LoopbackServer plain(saying(http_answer(200, "application/json", R"({"choices":[]})")));
  expect_error(ask(plain), errc::chat_protocol, "the server answered without a single choice, so it gave no answer");
  const LoopbackServer nothing(saying(events({})));
  expect_error(ask(nothing), errc::chat_protocol, "the server answered without a single choice, so it gave no answer");
}

TEST_F(CurlChatClient, errors_of_the_account_and_the_request_are_told_apart_and_hold_no_key) {
  struct Row {
    int status;
    std::string_view body;
    ErrorCode code;
    std::string_view message;
  };
  const std::string quoting = fmt::format(R"({{"error":{{"message":"Incorrect key: {} is wrong"}}}})", k_secret);
  const std::vector<Row> rows = {
      {400, R"({"error":{"message":"bad"}})", errc::chat_bad_request, "custom refused the request (HTTP 400): bad"},
      {400, R"({"error":{"message":"x","code":"context_length_exceeded"}})", errc::chat_context_length,
       "the prompt is longer than model 'm-1' takes (HTTP 400): x"},
      {401, quoting, errc::chat_unauthorized,
       "custom does not accept the key (HTTP 401): Incorrect key: [key] is wrong"},
      {402, "{}", errc::chat_payment, "the account at custom has no credit left (HTTP 402)"},
      {403, "{}", errc::chat_forbidden, "custom does not allow this request (HTTP 403)"},
      {404, "{}", errc::chat_not_found, "custom finds no model 'm-1'"},
  };
  for (const auto& row : rows) {
    std::atomic<int> requests = 0;
    const LoopbackServer server([&](LoopbackConnection& connection, int) {
      ++requests;
      connection.read_request();
      connection.send(http_answer(row.status, "application/json", row.body));
    });
    expect_error(ask(server), row.code, row.message);
    EXPECT_EQ(requests, 1) << row.status << " is not worth a retry";
  }
}

TEST_F(CurlChatClient, an_error_inside_a_stream_is_an_error_and_retried_like_its_status) {
  const LoopbackServer server(
      saying_in_turn({events({": wait\n\n", R"(data: {"error":{"code":502,"message":"upstream"}})"
                                            "\n\n"}),
                      events({k_kernel_event, k_stop_event})}));
  expect_kernel(ask(server), 1);
  const LoopbackServer refused(
      saying(http_answer(200, "application/json", R"({"error":{"code":402,"message":"pay"}})")));
  expect_error(ask(refused), errc::chat_payment, "pay");
}

}  // namespace
}  // namespace kw
