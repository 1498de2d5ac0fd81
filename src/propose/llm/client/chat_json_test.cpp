#include "propose/llm/client/chat_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "propose/llm/client/chat_errors.hpp"

namespace kw {
namespace {

constexpr std::string_view k_replacement = "\xef\xbf\xbd";

TEST(ChatJson, replaces_bytes_that_are_no_text) {
  const auto json = parse_chat_json("{\"a\": \"x\xff\xc3y\", \"b\": \"\\u0000\"}");
  ASSERT_TRUE(json) << json.error().to_string();
  EXPECT_EQ(text_at(*json, "a"), fmt::format("x{}{}y", k_replacement, k_replacement));
  EXPECT_EQ(text_at(*json, "b"), k_replacement);
}

TEST(ChatJson, replaces_halves_of_surrogate_pairs_and_keeps_whole_ones) {
  const auto json = parse_chat_json(R"({"a": "\ud83d", "b": "\ude00x", "c": "\ud83d\ude00", "d": "\ud83d\ud83d\ude00",
                                        "e": "\\ud83d", "f": "\u00e4"})");
  ASSERT_TRUE(json) << json.error().to_string();
  EXPECT_EQ(text_at(*json, "a"), k_replacement);
  EXPECT_EQ(text_at(*json, "b"), fmt::format("{}x", k_replacement));
  EXPECT_EQ(text_at(*json, "c"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(text_at(*json, "d"), fmt::format("{}\xf0\x9f\x98\x80", k_replacement));
  EXPECT_EQ(text_at(*json, "e"), "\\ud83d") << "an escaped backslash starts no escape";
  EXPECT_EQ(text_at(*json, "f"), "\xc3\xa4");
}

void expect_refused(const std::string& text, const ErrorCode& code, std::string_view message) {
  const auto json = parse_chat_json(text);
  ASSERT_FALSE(json) << text.substr(0, 80);
  EXPECT_EQ(json.error().code, code);
  EXPECT_EQ(json.error().message, message);
}

TEST(ChatJson, refuses_what_is_no_object_too_deep_or_too_large) {
  expect_refused("{\"a\": ", errc::chat_protocol, "the server sent what is not JSON, or JSON cut short");
  expect_refused("[1]", errc::chat_protocol, "the server sent JSON of type array instead of an object");
  expect_refused("{\"a\":" + std::string(100'000, '['), errc::chat_protocol,
                 "the server sent JSON nested deeper than 32 levels");
  expect_refused(std::string(k_max_json_bytes + 1, ' '), errc::chat_too_large,
                 "the server sent 8388609 bytes of JSON, more than 8388608");
  EXPECT_TRUE(parse_chat_json("{\"a\": \"" + std::string(1000, '[') + "\"}")) << "brackets in text nest nothing";
  EXPECT_TRUE(parse_chat_json("{\"a\\\"" + std::string(1000, '[') + "\": 1}")) << "nor behind an escaped quote";
}

}  // namespace
}  // namespace kw
