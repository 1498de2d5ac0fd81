#include "propose/llm/client/curl_chat_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "propose/llm/client/chat_errors.hpp"
#include "propose/testing/curl_chat_client_fixture.hpp"

namespace kw {
namespace {

using namespace chat_client_test;  // NOLINT: a test's own vocabulary
using testing::HasSubstr;
using testing::Not;

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

TEST_F(CurlChatClient, replaces_bytes_that_are_no_utf8) {
  const LoopbackServer server(
      saying(events({"data: {\"choices\":[{\"delta\":{\"content\":\"a\xff\xfe z\"}}]}\n\n", k_stop_event})));
  const auto reply = ask(server);
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_EQ(reply->text, "a\xef\xbf\xbd\xef\xbf\xbd z");
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
