#include "propose/llm/client/server_error.hpp"

#include <gtest/gtest.h>

#include "base/utf8.hpp"
#include "propose/llm/client/chat_errors.hpp"

namespace kw {
namespace {

const ApiKey& key() {
  static const ApiKey key = *ApiKey::make("sk-test-0123456789", "test");
  return key;
}

ChatFailure failure_of(int status, std::string_view body) {
  static const Provider provider = *make_provider("deepseek", "");
  return describe(read_error_body(status, body), {provider, "m-1", &key()});
}

void expect_failure(int status, std::string_view body, const ErrorCode& code, std::string_view message, bool retried) {
  const auto failure = failure_of(status, body);
  EXPECT_EQ(failure.error.code, code) << status << " " << failure.error.code.name;
  EXPECT_EQ(failure.error.message, message);
  EXPECT_FALSE(failure.error.hint.empty()) << status;
  EXPECT_EQ(failure.worth_retrying, retried) << status;
}

TEST(ServerError, statuses_become_codes_with_the_servers_words) {
  expect_failure(400, R"({"error":{"message":"bad temperature","type":"invalid_request_error"}})",
                 errc::chat_bad_request, "deepseek refused the request (HTTP 400): bad temperature", false);
  expect_failure(401, R"({"error":{"message":"Incorrect key"}})", errc::chat_unauthorized,
                 "deepseek does not accept the key (HTTP 401): Incorrect key", false);
  expect_failure(402, R"({"error":{"message":"Insufficient Balance"}})", errc::chat_payment,
                 "the account at deepseek has no credit left (HTTP 402): Insufficient Balance", false);
  expect_failure(403, "", errc::chat_forbidden, "deepseek does not allow this request (HTTP 403)", false);
  expect_failure(
      404, R"({"detail":"Not Found"})", errc::chat_not_found,
      "deepseek finds no model 'm-1', or no chat completions at https://api.deepseek.com (HTTP 404): Not Found", false);
  expect_failure(409, "", errc::chat_server, "deepseek could not handle the request now (HTTP 409)", true);
  expect_failure(422, R"({"detail":[{"loc":["body"],"msg":"extra"}]})", errc::chat_bad_request,
                 R"(deepseek refused the request (HTTP 422): [{"loc":["body"],"msg":"extra"}])", false);
  expect_failure(429, R"({"error":"slow down"})", errc::chat_rate_limit,
                 "deepseek limits the rate of requests (HTTP 429): slow down", true);
  expect_failure(503, "upstream\nfailed", errc::chat_server, "deepseek failed (HTTP 503): upstream failed", true);
  expect_failure(204, "", errc::chat_protocol, "deepseek answered in a way that is not a chat completion (HTTP 204)",
                 false);
}

TEST(ServerError, a_prompt_that_is_too_long_is_known_by_many_words) {
  const std::string message = "the prompt is longer than model 'm-1' takes";
  expect_failure(400, R"({"error":{"message":"too long","code":"context_length_exceeded"}})", errc::chat_context_length,
                 message + " (HTTP 400): too long", false);
  expect_failure(400, R"({"object":"error","message":"This model's maximum context length is 8192 tokens","code":400})",
                 errc::chat_context_length, message + " (HTTP 400): This model's maximum context length is 8192 tokens",
                 false);
  expect_failure(500, R"({"error":{"message":"the request exceeds the available context size"}})",
                 errc::chat_context_length, message + " (HTTP 500): the request exceeds the available context size",
                 false);
  expect_failure(413, "<html>too large</html>", errc::chat_context_length, message + " (HTTP 413)", false);
}

TEST(ServerError, a_quota_that_is_used_up_is_not_retried_like_a_rate) {
  expect_failure(429, R"({"error":{"message":"You exceeded your quota","code":"insufficient_quota"}})",
                 errc::chat_payment, "the account at deepseek has no credit left (HTTP 429): You exceeded your quota",
                 false);
}

TEST(ServerError, errors_inside_a_stream_are_known_by_their_kind) {
  const Provider provider = *make_provider("vllm", "");
  const auto code_of = [&](const char* kind) { return describe({0, kind, ""}, {provider, "m", nullptr}).error.code; };
  EXPECT_EQ(code_of("rate_limit_exceeded"), errc::chat_rate_limit);
  EXPECT_EQ(code_of("authentication_error"), errc::chat_unauthorized);
  EXPECT_EQ(code_of("invalid_request_error"), errc::chat_bad_request);
  EXPECT_EQ(code_of("context_length_exceeded invalid_request_error"), errc::chat_context_length);
  EXPECT_EQ(code_of("overloaded_error"), errc::chat_server);
}

TEST(ServerError, hints_name_the_variable_of_the_key) {
  EXPECT_EQ(failure_of(401, "").error.hint, "check DEEPSEEK_API_KEY or the --key-file");
  const Provider provider = *make_provider("vllm", "");
  const auto without = describe({401, "", ""}, {provider, "m", nullptr}).error;
  EXPECT_EQ(without.message, "vllm wants a key (HTTP 401)");
  EXPECT_EQ(without.hint, "export VLLM_API_KEY=..., or --key-file FILE with mode 0600");
}

TEST(ServerError, excerpts_hold_no_key_no_control_characters_and_little_text) {
  EXPECT_EQ(excerpt("a\x1b[31m\r\nsk-test-0123456789", &key()), "a [31m  [key]");
  // The key is taken out before the text is cut: half a key would be left otherwise.
  const auto cut = excerpt(std::string(k_max_excerpt_bytes - 8, 'x') + "sk-test-0123456789", &key());
  EXPECT_EQ(cut.find("sk-"), std::string::npos);
  std::string umlauts = "x";
  for (int i = 0; i < 400; ++i) umlauts += "\xc3\xa4";
  const auto characters = excerpt(umlauts, nullptr);
  EXPECT_LE(characters.size(), k_max_excerpt_bytes + 3);
  EXPECT_FALSE(first_non_text_byte(characters));
}

TEST(ServerError, pages_of_html_are_not_quoted) {
  EXPECT_EQ(failure_of(502, "\n<!DOCTYPE html><h1>Bad gateway</h1>").error.message, "deepseek failed (HTTP 502)");
}

TEST(ServerError, final_errors_are_those_that_every_further_request_would_meet) {
  const auto is_final = [](int status, const char* body) {
    return is_final_chat_error(failure_of(status, body).error);
  };
  for (const int status : {400, 401, 402, 403, 404}) EXPECT_TRUE(is_final(status, "")) << status;
  for (const int status : {408, 409, 413, 429, 500, 503}) EXPECT_FALSE(is_final(status, "")) << status;
  EXPECT_TRUE(is_final_chat_error({errc::chat_key, ""}));
  EXPECT_TRUE(is_final_chat_error({errc::chat_provider, ""}));
  for (const auto& code : {errc::chat_stopped, errc::chat_timeout, errc::chat_connection, errc::chat_protocol,
                           errc::chat_too_large, errc::chat_context_length}) {
    EXPECT_FALSE(is_final_chat_error({code, ""})) << code.name;
  }
}

}  // namespace
}  // namespace kw
