#include "propose/llm/client/request_body.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kw {
namespace {

using Json = nlohmann::json;

ChatRequest request(std::string model) {
  return {std::move(model),
          {{ChatRole::system, "be brief"},
           {ChatRole::user, "kernel?"},
           {ChatRole::assistant, "here"},
           {ChatRole::user, "faster"}},
          0.6,
          1000};
}

TEST(RequestBody, holds_the_request_and_nothing_else) {
  const auto body = Json::parse(request_body(request("deepseek-chat"), *make_provider("deepseek", ""), {}));
  EXPECT_EQ(body, Json::parse(R"({"model":"deepseek-chat","temperature":0.6,"max_tokens":1000,"stream":true,
      "stream_options":{"include_usage":true},"messages":[{"role":"system","content":"be brief"},
      {"role":"user","content":"kernel?"},{"role":"assistant","content":"here"},{"role":"user","content":"faster"}]})"));
}

TEST(RequestBody, leaves_out_what_was_not_asked_for) {
  const auto body = Json::parse(
      request_body({"m", {{ChatRole::user, "x"}}, std::nullopt, std::nullopt}, *make_provider("vllm", ""), {false}));
  EXPECT_EQ(body, Json::parse(R"({"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]})"));
}

TEST(RequestBody, puts_system_text_in_front_of_the_user_for_models_without_system_role) {
  const auto body = Json::parse(request_body(request("deepseek-ai/deepseek-r1"), *make_provider("nvidia", ""), {}));
  EXPECT_EQ(body["messages"], Json::parse(R"([{"role":"user","content":"be brief\n\nkernel?"},
      {"role":"assistant","content":"here"},{"role":"user","content":"faster"}])"));
  const auto alone =
      Json::parse(request_body({"deepseek-r1", {{ChatRole::system, "s"}}, {}, {}}, *make_provider("vllm", ""), {}));
  EXPECT_EQ(alone["messages"], Json::parse(R"([{"role":"user","content":"s\n\n"}])"));
}

TEST(RequestBody, names_and_omits_parameters_as_the_model_takes_them) {
  const auto body = Json::parse(request_body(request("o3-mini"), *make_provider("openai", ""), {}));
  EXPECT_EQ(body["max_completion_tokens"], 1000);
  EXPECT_FALSE(body.contains("max_tokens"));
  EXPECT_FALSE(body.contains("temperature"));
  EXPECT_EQ(body["messages"][0]["role"], "system");
}

TEST(RequestBody, holds_the_effort_that_was_set) {
  auto provider = *make_provider("openai", "");
  EXPECT_FALSE(Json::parse(request_body(request("o3-mini"), provider, {})).contains("reasoning_effort"));
  ASSERT_TRUE(set_effort(provider, "o3-mini", "high"));
  EXPECT_EQ(Json::parse(request_body(request("o3-mini"), provider, {}))["reasoning_effort"], "high");
}

TEST(RequestBody, sends_only_text) {
  const auto body =
      request_body({"m", {{ChatRole::user, std::string("log: \xff\0", 7)}}, {}, {}}, *make_provider("vllm", ""), {});
  EXPECT_EQ(Json::parse(body)["messages"][0]["content"], "log: \xef\xbf\xbd\xef\xbf\xbd");
}

TEST(RequestBody, counts_the_bytes_of_a_prompt) {
  EXPECT_EQ(prompt_bytes(request("m")), 8U + 7U + 4U + 6U);
}

}  // namespace
}  // namespace kw
