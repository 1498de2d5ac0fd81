// What ends an answer that would go on: time and size, the deadline, and another thread.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "propose/llm/client/chat_errors.hpp"
#include "propose/testing/curl_chat_client_fixture.hpp"

namespace kw {
namespace {

using namespace chat_client_test;  // NOLINT: a test's own vocabulary

TEST_F(CurlChatClient, ends_headers_that_trickle) {
  const LoopbackServer server([](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nX-Long: ");
    connection.trickle("x", milliseconds(5));
  });
  auto options = options_for(server);
  options.timeouts.first_token = milliseconds(200);
  expect_error(ask(std::move(options)), errc::chat_timeout, "model 'm-1' said nothing within 0.2 s");
}

TEST_F(CurlChatClient, ends_a_body_that_trickles) {
  const LoopbackServer server([](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send(events({k_kernel_event, "data: "}));
    connection.trickle("x", milliseconds(5));
  });
  auto options = options_for(server);
  options.timeouts.idle = milliseconds(200);
  expect_error(ask(std::move(options)), errc::chat_timeout,
               "model 'm-1' fell silent for 0.2 s in the middle of its answer");
}

TEST_F(CurlChatClient, keep_alive_comments_are_no_first_token) {
  const LoopbackServer server([](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send(k_event_head);
    connection.trickle(": keep-alive\n\n", milliseconds(5));
  });
  auto options = options_for(server);
  options.timeouts.first_token = milliseconds(200);
  expect_error(ask(std::move(options)), errc::chat_timeout, "model 'm-1' said nothing within 0.2 s");
}

TEST_F(CurlChatClient, ends_a_plain_answer_that_trickles) {
  const LoopbackServer server([](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"a\": \"");
    connection.trickle("x", milliseconds(5));
  });
  auto options = options_for(server);
  options.timeouts.idle = milliseconds(200);
  expect_error(ask(std::move(options)), errc::chat_timeout, "fell silent");
}

TEST_F(CurlChatClient, stops_reading_an_answer_of_ten_megabytes) {
  const std::string large(10U << 20U, 'x');
  const LoopbackServer plain(saying(
      http_answer(200, "application/json", fmt::format(R"({{"choices":[{{"message":{{"content":"{}"}}}}]}})", large))));
  expect_error(ask(plain), errc::chat_too_large, "the answer is longer than 8388608 bytes on the wire");
  std::string stream(k_event_head);
  for (std::size_t i = 0; i < large.size(); i += 1000) {
    stream += fmt::format("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", large.substr(i, 1000));
  }
  const LoopbackServer streamed(saying(std::move(stream)));
  expect_error(ask(streamed), errc::chat_too_large, "the answer is longer than 4194304 bytes");
}

TEST_F(CurlChatClient, refuses_endless_headers) {
  const LoopbackServer server([](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\n");
    const std::string header = "X-Long: " + std::string(1000, 'x') + "\r\n";
    while (connection.send(header)) {
    }
  });
  expect_error(ask(server), errc::chat_protocol,
               "the headers of the server's reply are too long: they have more than 256 KiB");
}

TEST_F(CurlChatClient, refuses_one_endless_header) {
  for (const char* const begin : {"HTTP/1.1 200 OK\r\nX-Long: ", "HTTP/1.1 200 "}) {
    const LoopbackServer server([&](LoopbackConnection& connection, int) {
      connection.read_request();
      connection.send(begin);
      while (connection.send(std::string(1000, 'x'))) {
      }
    });
    expect_error(ask(server), errc::chat_protocol,
                 "the headers of the server's reply are too long: one line has more than 100 KiB");
  }
}

TEST_F(CurlChatClient, ends_at_the_deadline_whatever_the_server_does) {
  JumpingClock clock;
  const Instant deadline = clock.now() + hours(2);
  const auto ask_until_deadline = [&](const LoopbackServer& server) {
    auto options = options_for(server);
    options.timeouts = {seconds(5), hours(100), hours(100)};
    return ask(std::move(options), {deadline, nullptr}, clock);
  };
  const LoopbackServer in_time([&](LoopbackConnection& connection, int) {
    connection.read_request();
    clock.advance(hours(1));
    connection.send(events({k_kernel_event, k_stop_event}));
  });
  expect_kernel(ask_until_deadline(in_time));
  const LoopbackServer talking([&](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send(k_event_head);
    clock.advance(hours(1));
    connection.trickle(k_kernel_event, milliseconds(5));
  });
  expect_error(ask_until_deadline(talking), errc::chat_stopped, "the request was given up: the budget's time is over");
  clock.advance(-hours(1));
  const LoopbackServer silent([&](LoopbackConnection& connection, int) {
    connection.read_request();
    clock.advance(hours(1));
    connection.wait_for_client_to_leave();
  });
  expect_error(ask_until_deadline(silent), errc::chat_stopped, "the request was given up: the budget's time is over");
}

TEST_F(CurlChatClient, asks_nobody_when_the_deadline_has_passed) {
  std::atomic<int> requests = 0;
  const LoopbackServer server([&](LoopbackConnection&, int) { ++requests; });
  expect_error(ask(options_for(server), {clock_.now(), nullptr}), errc::chat_stopped, "given up");
  EXPECT_EQ(requests, 0);
}

TEST_F(CurlChatClient, ends_when_another_thread_says_stop) {
  std::atomic<bool> stop = false;
  const LoopbackServer server([&](LoopbackConnection& connection, int) {
    connection.read_request();
    stop = true;
    connection.wait_for_client_to_leave();
  });
  expect_error(ask(options_for(server), {Instant::max(), &stop}), errc::chat_stopped,
               "the request was given up: the run was stopped");
}

TEST_F(CurlChatClient, ends_between_two_tries_when_another_thread_says_stop) {
  std::atomic<bool> stop = false;
  const LoopbackServer server([&](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send(http_answer(500, "application/json", "{}"));
    connection.wait_for_client_to_leave();
    stop = true;
  });
  auto options = options_for(server);
  options.retry = {2, hours(10), hours(10)};
  expect_error(ask(std::move(options), {clock_.now() + hours(100), &stop}), errc::chat_stopped, "the run was stopped");
}

}  // namespace
}  // namespace kw
