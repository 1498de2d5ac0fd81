#pragma once
// For the tests of the client for real servers: a client whose timeouts and retries are short, answers for a server on
// this machine to give, and what is expected of a reply.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "propose/llm/client/curl_chat_client.hpp"
#include "propose/testing/loopback_server.hpp"

namespace kw::chat_client_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

inline constexpr std::string_view k_secret = "sk-test-0123456789abcdef";
inline constexpr std::string_view k_kernel_event = R"(data: {"choices":[{"delta":{"content":"kernel"}}]})"
                                                   "\n\n";
inline constexpr std::string_view k_stop_event = R"(data: {"choices":[{"delta":{},"finish_reason":"stop"}]})"
                                                 "\n\n";
inline constexpr std::string_view k_plain_answer =
    R"({"model":"m-1","choices":[{"message":{"content":"kernel"},"finish_reason":"stop"}],)"
    R"("usage":{"prompt_tokens":3,"completion_tokens":1}})";

inline std::string events(std::initializer_list<std::string_view> parts) {
  std::string text(k_event_head);
  for (const auto part : parts) text += part;
  return text;
}

/// A handler that reads the request and says this.
inline LoopbackServer::Handler saying(std::string bytes) {
  return [bytes = std::move(bytes)](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send(bytes);
  };
}
/// The same, one thing per connection, the last one ever after.
inline LoopbackServer::Handler saying_in_turn(std::vector<std::string> answers) {
  return [answers = std::move(answers)](LoopbackConnection& connection, int index) {
    connection.read_request();
    connection.send(answers[std::min(static_cast<std::size_t>(index), answers.size() - 1)]);
  };
}

/// A clock that the server's thread moves, so that no test waits for what it tests.
class JumpingClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return Instant(Duration(now_ += jump_.load())); }
  void advance(Duration by) { now_ += by.count(); }
  void jump_at_each_reading(Duration by) { jump_ = by.count(); }

 private:
  mutable std::atomic<Duration::rep> now_ = 0;
  std::atomic<Duration::rep> jump_ = 0;
};

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
  /// Where nothing else is said, the deadline is 20 s away: what should have ended before ends with another error then.
  Result<ChatReply> ask(ClientOptions options, ChatLimits limits = {}) {
    if (limits.deadline == Instant::max()) limits.deadline = clock_.now() + seconds(20);
    return ask(std::move(options), limits, clock_);
  }
  static Result<ChatReply> ask(ClientOptions options, const ChatLimits& limits, const Clock& clock) {
    auto client = make_curl_chat_client(std::move(options), clock);
    EXPECT_TRUE(client);
    return (*client)->complete({"m-1", {{ChatRole::user, "kernel?"}}, 0.5, std::nullopt}, limits);
  }
  Result<ChatReply> ask(const LoopbackServer& server) { return ask(options_for(server)); }

  SteadyClock clock_;
};

inline void expect_kernel(const Result<ChatReply>& reply, int retries = 0) {
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_EQ(reply->text, "kernel");
  EXPECT_EQ(reply->finish, ChatFinish::stop);
  EXPECT_EQ(reply->retries, retries);
}

inline void expect_error(const Result<ChatReply>& reply, const ErrorCode& code, std::string_view message_part) {
  ASSERT_FALSE(reply) << reply->text.substr(0, 200);
  EXPECT_EQ(reply.error().code, code) << reply.error().to_string();
  EXPECT_THAT(reply.error().message, testing::HasSubstr(message_part));
  EXPECT_THAT(reply.error().to_string(), testing::Not(testing::HasSubstr(k_secret))) << "no message holds the key";
}

}  // namespace kw::chat_client_test
