// Whether a server is there, before anything else is done for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "propose/llm/client/chat_errors.hpp"
#include "propose/testing/curl_chat_client_fixture.hpp"

namespace kw {
namespace {

using namespace chat_client_test;  // NOLINT: a test's own vocabulary
using testing::HasSubstr;

/// A port of this machine at which nobody listens any more.
int dead_port() {
  return LoopbackServer([](LoopbackConnection&, int) {}).port();
}

TEST_F(CurlChatClient, reaches_a_server_without_a_word) {
  std::vector<std::string> said;
  {
    const LoopbackServer server([&](LoopbackConnection& connection, int) {
      said.push_back(connection.read_request());
      connection.send(http_answer(200, "application/json", k_plain_answer));
    });
    const auto client = make_curl_chat_client(options_for(server), clock_);
    ASSERT_TRUE(client);
    const auto reached = (*client)->reach({});
    EXPECT_TRUE(reached) << reached.error().to_string();
    expect_kernel(ask(server));  // its connection is served behind the first
  }
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0], "") << "no key, no prompt";
}

TEST_F(CurlChatClient, says_what_server_is_not_there_and_what_to_try) {
  const std::string url = fmt::format("http://127.0.0.1:{}/v1", dead_port());
  const auto client = make_curl_chat_client(options_for(url), clock_);
  ASSERT_TRUE(client);
  const auto reached = (*client)->reach({});
  ASSERT_FALSE(reached);
  EXPECT_EQ(reached.error().code, errc::chat_connection);
  EXPECT_THAT(reached.error().message, HasSubstr("the model's server, " + url + ", is not there: no connection: "));
  EXPECT_EQ(reached.error().hint, "check that the server runs, --base-url, and https_proxy and no_proxy");
}

TEST_F(CurlChatClient, is_stopped_while_it_reaches) {
  const std::atomic<bool> stop = true;
  const LoopbackServer server([](LoopbackConnection& connection, int) { connection.wait_for_client_to_leave(); });
  const auto client = make_curl_chat_client(options_for(fmt::format("https://127.0.0.1:{}/v1", server.port())), clock_);
  ASSERT_TRUE(client);
  const auto reached = (*client)->reach({Instant::max(), &stop});
  ASSERT_FALSE(reached);
  EXPECT_EQ(reached.error().code, errc::chat_stopped) << reached.error().to_string();
}

}  // namespace
}  // namespace kw
