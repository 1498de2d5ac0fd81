#include "propose/llm/curl_chat_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "propose/llm/chat_errors.hpp"
#include "propose/llm/loopback_server.hpp"

namespace kw {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view k_secret = "sk-test-0123456789abcdef";
constexpr std::string_view k_kernel_event = R"(data: {"choices":[{"delta":{"content":"kernel"}}]})"
                                            "\n\n";
constexpr std::string_view k_stop_event = R"(data: {"choices":[{"delta":{},"finish_reason":"stop"}]})"
                                          "\n\n";
constexpr std::string_view k_plain_answer =
    R"({"model":"m-1","choices":[{"message":{"content":"kernel"},"finish_reason":"stop"}],)"
    R"("usage":{"prompt_tokens":3,"completion_tokens":1}})";

std::string events(std::initializer_list<std::string_view> parts) {
  std::string text(k_event_head);
  for (const auto part : parts) text += part;
  return text;
}

/// A handler that reads the request and says this.
LoopbackServer::Handler saying(std::string bytes) {
  return [bytes = std::move(bytes)](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send(bytes);
  };
}
/// The same, one thing per connection, the last one ever after.
LoopbackServer::Handler saying_in_turn(std::vector<std::string> answers) {
  return [answers = std::move(answers)](LoopbackConnection& connection, int index) {
    connection.read_request();
    connection.send(answers[std::min(static_cast<std::size_t>(index), answers.size() - 1)]);
  };
}

class CurlChatClient : public testing::Test {
 protected:
  ClientOptions options_for(std::string_view url) {
    ClientOptions options{*make_provider("custom", url)};
    options.key = *ApiKey::make(k_secret, "test");
    options.timeouts = {seconds(5), seconds(15), seconds(15)};
    options.retry = {2, milliseconds(2), milliseconds(4)};
    return options;
  }
  ClientOptions options_for(const LoopbackServer& server) {
    return options_for(fmt::format("http://127.0.0.1:{}/v1", server.port()));
  }
  Result<ChatReply> ask(ClientOptions options, ChatLimits limits = {}) {
    if (limits.deadline == Instant::max()) limits.deadline = clock_.now() + seconds(20);
    auto client = make_curl_chat_client(std::move(options), clock_);
    EXPECT_TRUE(client);
    const Instant began = clock_.now();
    auto reply = (*client)->complete({"m-1", {{ChatRole::user, "kernel?"}}, 0.5, std::nullopt}, limits);
    took_ = clock_.now() - began;
    return reply;
  }
  Result<ChatReply> ask(const LoopbackServer& server) { return ask(options_for(server)); }

  SteadyClock clock_;
  Duration took_{};
};

void expect_kernel(const Result<ChatReply>& reply, int retries = 0) {
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_EQ(reply->text, "kernel");
  EXPECT_EQ(reply->finish, ChatFinish::stop);
  EXPECT_EQ(reply->retries, retries);
}

void expect_error(const Result<ChatReply>& reply, const ErrorCode& code, std::string_view message_part) {
  ASSERT_FALSE(reply) << reply->text.substr(0, 200);
  EXPECT_EQ(reply.error().code, code) << reply.error().to_string();
  EXPECT_THAT(reply.error().message, HasSubstr(message_part));
  EXPECT_THAT(reply.error().to_string(), Not(HasSubstr(k_secret))) << "no message holds the key";
}

TEST_F(CurlChatClient, posts_the_request_with_its_key) {
  std::mutex mutex;
  std::string request;
  const LoopbackServer server([&](LoopbackConnection& connection, int) {
    const std::scoped_lock lock(mutex);
    request = connection.read_request();
    connection.send(events({k_kernel_event, k_stop_event, "data: [DONE]\n\n"}));
  });
  expect_kernel(ask(server));
  const std::scoped_lock lock(mutex);
  EXPECT_THAT(request, testing::StartsWith("POST /v1/chat/completions HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr(fmt::format("\r\nAuthorization: Bearer {}\r\n", k_secret)));
  EXPECT_THAT(request, HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(request,
              testing::EndsWith(R"({"model":"m-1","messages":[{"role":"user","content":"kernel?"}],"temperature":0.5,)"
                                R"("stream":true,"stream_options":{"include_usage":true}})"));
}

TEST_F(CurlChatClient, takes_a_stream_with_crlf_comments_and_usage_cut_after_every_byte) {
  const LoopbackServer server([&](LoopbackConnection& connection, int) {
    connection.read_request();
    const auto text = events(
        {": keep-alive\r\n\r\n", "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"h\xc3\xa4\"}}]}\r\n\r\n",
         ": keep-alive\r\n\r\n",
         "data: {\"choices\":[{\"delta\":{\"content\":\"\xe2\x82\xac\xf0\x9f\x98\x80\"}}]}\r\n\r\n",
         "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\n",
         "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":4}}\r\n\r\n",
         "data: [DONE]\r\n\r\n"});
    for (const char byte : text) connection.send({&byte, 1});
  });
  const auto reply = ask(server);
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_EQ(reply->text, "\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(reply->reasoning, "h\xc3\xa4");
  EXPECT_EQ(reply->usage, (TokenUsage{5, 4, 0, 0, false}));
  EXPECT_GT(reply->first_token_seconds, 0.0);
  EXPECT_LE(reply->first_token_seconds, reply->seconds);
}

TEST_F(CurlChatClient, takes_a_plain_answer_behind_keep_alive_lines) {
  const LoopbackServer server(saying(http_answer(200, "application/json", fmt::format("\n\n\n{}\n", k_plain_answer))));
  const auto reply = ask(server);
  expect_kernel(reply);
  EXPECT_EQ(reply->usage, (TokenUsage{3, 1, 0, 0, false}));
  EXPECT_EQ(reply->model, "m-1");
}

TEST_F(CurlChatClient, takes_answers_of_servers_that_name_no_type) {
  const LoopbackServer plain(saying(fmt::format("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}", k_plain_answer)));
  expect_kernel(ask(plain));
  const LoopbackServer stream(
      saying(fmt::format("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}{}", k_kernel_event, k_stop_event)));
  expect_kernel(ask(stream));
}

TEST_F(CurlChatClient, does_not_wait_for_a_connection_that_stays_open_behind_done) {
  const LoopbackServer server([&](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send(events({k_kernel_event, k_stop_event, "data: [DONE]\n\n"}));
    connection.wait_for_client_to_leave();
  });
  expect_kernel(ask(server));
}

TEST_F(CurlChatClient, keeps_a_whole_answer_when_the_connection_breaks_behind_it) {
  const LoopbackServer server(
      saying(fmt::format("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100000\r\n\r\n{}{}",
                         k_kernel_event, k_stop_event)));
  expect_kernel(ask(server));
}

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

TEST_F(CurlChatClient, waits_as_long_as_429_asks) {
  const LoopbackServer server(saying_in_turn({http_answer(429, "application/json", "{}", "Retry-After: 1\r\n"),
                                              http_answer(200, "application/json", k_plain_answer)}));
  expect_kernel(ask(server), 1);
  EXPECT_GE(took_, seconds(1));
}

TEST_F(CurlChatClient, reads_a_date_in_retry_after_by_the_servers_own_clock) {
  const LoopbackServer server(saying_in_turn(
      {http_answer(429, "application/json", "{}",
                   "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:49:38 GMT\r\n"),
       http_answer(200, "application/json", k_plain_answer)}));
  expect_kernel(ask(server), 1);
  EXPECT_GE(took_, seconds(1));
}

TEST_F(CurlChatClient, fails_at_once_when_429_asks_for_more_time_than_is_left) {
  const LoopbackServer server(
      saying(http_answer(429, "application/json", R"({"error":"busy"})", "Retry-After: 100\r\n")));
  expect_error(ask(server), errc::chat_rate_limit, "busy; it asks to wait 100 s, which is longer than the");
  EXPECT_LT(took_, seconds(5));
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

TEST_F(CurlChatClient, ends_headers_that_trickle) {
  const LoopbackServer server([](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nX-Long: ");
    connection.trickle("x", milliseconds(5));
  });
  auto options = options_for(server);
  options.timeouts.first_token = milliseconds(200);
  expect_error(ask(std::move(options)), errc::chat_timeout, "model 'm-1' said nothing within 0.2 s");
  EXPECT_LT(took_, seconds(2));
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
  EXPECT_LT(took_, seconds(2));
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
  EXPECT_LT(took_, seconds(2));
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
  expect_error(ask(server), errc::chat_protocol, "the server sent more than 256 KiB of headers");
}

TEST_F(CurlChatClient, replaces_bytes_that_are_no_utf8) {
  const LoopbackServer server(
      saying(events({"data: {\"choices\":[{\"delta\":{\"content\":\"a\xff\xfe z\"}}]}\n\n", k_stop_event})));
  const auto reply = ask(server);
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_EQ(reply->text, "a\xef\xbf\xbd\xef\xbf\xbd z");
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

TEST_F(CurlChatClient, takes_the_key_out_of_an_answer_that_reflects_it) {
  const LoopbackServer server(saying(events(
      {fmt::format("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", k_secret), k_stop_event})));
  const auto reply = ask(server);
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_EQ(reply->text, "[key]");
}

TEST_F(CurlChatClient, asks_without_usage_where_the_server_does_not_know_it) {
  std::mutex mutex;
  std::vector<std::string> requests;
  const LoopbackServer server([&](LoopbackConnection& connection, int index) {
    const std::scoped_lock lock(mutex);
    requests.push_back(connection.read_request());
    connection.send(index == 0 ? http_answer(422, "application/json", R"({"detail":"extra field: stream_options"})")
                               : events({k_kernel_event, k_stop_event}));
  });
  expect_kernel(ask(server));
  const std::scoped_lock lock(mutex);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_THAT(requests[0], HasSubstr("stream_options"));
  EXPECT_THAT(requests[1], Not(HasSubstr("stream_options")));
}

TEST_F(CurlChatClient, follows_no_redirect) {
  std::atomic<int> others = 0;
  const LoopbackServer other([&](LoopbackConnection&, int) { ++others; });
  const LoopbackServer server(saying(http_answer(
      307, "text/html", "", fmt::format("Location: http://127.0.0.1:{}/v1/chat/completions\r\n", other.port()))));
  expect_error(ask(server), errc::chat_provider, "redirects are not followed, because the key would go along");
  EXPECT_EQ(others, 0);
}

TEST_F(CurlChatClient, ends_at_the_deadline_whatever_the_server_does) {
  const LoopbackServer server([](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send(k_event_head);
    connection.trickle(k_kernel_event, milliseconds(5));
  });
  expect_error(ask(options_for(server), {clock_.now() + milliseconds(200), nullptr}), errc::chat_stopped,
               "the request was given up: the budget's time is over");
  EXPECT_GE(took_, milliseconds(150));
  EXPECT_LT(took_, milliseconds(900));
  const LoopbackServer silent([](LoopbackConnection& connection, int) { connection.wait_for_client_to_leave(); });
  expect_error(ask(options_for(silent), {clock_.now() + milliseconds(200), nullptr}), errc::chat_stopped, "given up");
  EXPECT_LT(took_, milliseconds(900));
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
  EXPECT_LT(took_, seconds(2));
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
  options.retry = {2, seconds(15), seconds(15)};
  expect_error(ask(std::move(options), {Instant::max(), &stop}), errc::chat_stopped, "the run was stopped");
  EXPECT_LT(took_, seconds(5));
}

TEST_F(CurlChatClient, sends_no_key_in_the_clear_to_another_machine) {
  auto options = options_for("http://10.1.2.3/v1");
  const auto refused = make_curl_chat_client(options, clock_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::chat_key);
  EXPECT_EQ(refused.error().message,
            "http://10.1.2.3/v1 is plain http to another machine: the key could be read on the way");
  options.allow_key_over_http = true;
  EXPECT_TRUE(make_curl_chat_client(options, clock_));
  options.allow_key_over_http = false;
  options.key.reset();
  EXPECT_TRUE(make_curl_chat_client(options, clock_));
}

TEST_F(CurlChatClient, wants_the_key_that_the_provider_wants) {
  const auto refused = make_curl_chat_client({*make_provider("deepseek", "")}, clock_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::chat_key);
  EXPECT_EQ(refused.error().message, "deepseek wants a key");
}

/// Sets a variable of the environment as long as it lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST_F(CurlChatClient, goes_through_the_proxy_of_the_environment_but_not_to_this_machine) {
  std::mutex mutex;
  std::string request;
  const LoopbackServer proxy([&](LoopbackConnection& connection, int) {
    const std::scoped_lock lock(mutex);
    request = connection.read_request();
    connection.send(http_answer(200, "application/json", k_plain_answer));
  });
  const ScopedVariable variable("http_proxy", fmt::format("http://127.0.0.1:{}", proxy.port()));
  const LoopbackServer local(saying(http_answer(200, "application/json", k_plain_answer)));
  expect_kernel(ask(local));
  {
    const std::scoped_lock lock(mutex);
    EXPECT_EQ(request, "") << "a proxy would learn the key of a local server";
  }
  auto options = options_for("http://kernelwright.invalid/v1");
  options.key.reset();
  expect_kernel(ask(std::move(options)));
  const std::scoped_lock lock(mutex);
  EXPECT_THAT(request, testing::StartsWith("POST http://kernelwright.invalid/v1/chat/completions HTTP/1.1\r\n"));
}

}  // namespace
}  // namespace kw
