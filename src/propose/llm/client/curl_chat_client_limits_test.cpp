// What ends an answer that would go on: time and size, the deadline, and another thread.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
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

/// An event of a whole answer, as gzip.
std::string packed_answer() {
  constexpr auto k_bytes = std::to_array<unsigned char>(
      {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x1d, 0xcc, 0xb1, 0x0a, 0x80, 0x20, 0x10, 0x06, 0xe0,
       0xdd, 0xa7, 0x88, 0x7f, 0x6e, 0x68, 0xbe, 0xb9, 0xd6, 0x7a, 0x00, 0x91, 0x90, 0xbc, 0x48, 0x92, 0x33, 0xf4, 0x86,
       0x20, 0x7c, 0xf7, 0xa2, 0xf9, 0x83, 0x2f, 0x78, 0xf5, 0xd4, 0x3d, 0xd8, 0x8e, 0x1c, 0x37, 0xae, 0x20, 0xfb, 0x20,
       0x4a, 0xe0, 0x1b, 0x34, 0xf4, 0x08, 0x9c, 0xd4, 0x83, 0x3e, 0xce, 0xa2, 0x2c, 0x0a, 0xc2, 0xc9, 0x45, 0x38, 0xa1,
       0xf5, 0xd8, 0xa3, 0xc4, 0x7a, 0xac, 0x85, 0x7d, 0xcd, 0xf2, 0x49, 0xd5, 0x7c, 0xa1, 0xb9, 0x66, 0x4c, 0xf8, 0x53,
       0x3b, 0x2e, 0xf3, 0xe4, 0x8c, 0x79, 0x01, 0xf9, 0x99, 0x80, 0x79, 0x63, 0x00, 0x00, 0x00});
  return {k_bytes.begin(), k_bytes.end()};
}

TEST_F(CurlChatClient, unpacks_nothing_for_a_few_bytes_may_become_many) {
  std::mutex mutex;
  std::string request;
  const LoopbackServer server([&](LoopbackConnection& connection, int) {
    const std::scoped_lock lock(mutex);
    request = connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n" +
                    packed_answer());
  });
  expect_error(ask(server), errc::chat_protocol, "without a single choice");
  const std::scoped_lock lock(mutex);
  EXPECT_THAT(request, testing::Not(testing::ContainsRegex("[Aa]ccept-[Ee]ncoding"))) << "nobody asks for it";
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
