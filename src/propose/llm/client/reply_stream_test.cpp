#include "propose/llm/client/reply_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "propose/llm/client/chat_errors.hpp"

namespace kw {
namespace {

/// The reply of a stream with these events; the test fails when one of them is refused.
ChatReply reply_of(std::initializer_list<std::string_view> events, std::size_t prompt_bytes = 0) {
  ReplyStream stream;
  for (const auto event : events) {
    const auto added = stream.add(event);
    EXPECT_TRUE(added) << event << (added ? "" : added.error().to_string());
  }
  auto reply = stream.finish(prompt_bytes);
  EXPECT_TRUE(reply) << (reply ? "" : reply.error().to_string());
  return reply.value_or(ChatReply{});
}

TEST(ReplyStream, joins_deltas_and_reads_usage_behind_the_last_choice) {
  const auto reply = reply_of(
      {R"({"id":"1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})",
       R"({"choices":[{"index":0,"delta":{"content":"ker"},"finish_reason":null}],"usage":null})",
       R"({"choices":[{"index":0,"delta":{"content":"nel"}}]})",
       R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})",
       R"({"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18,
           "completion_tokens_details":{"reasoning_tokens":3},"prompt_tokens_details":{"cached_tokens":5}}})",
       "[DONE]", "behind the end nothing counts"});
  EXPECT_EQ(reply.text, "kernel");
  EXPECT_EQ(reply.reasoning, "");
  EXPECT_EQ(reply.finish, ChatFinish::stop);
  EXPECT_EQ(reply.model, "m-1");
  EXPECT_EQ(reply.usage, (TokenUsage{11, 7, 3, 5, false}));
}

TEST(ReplyStream, reads_a_plain_answer) {
  const auto reply =
      reply_of({R"({"object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"length",
           "message":{"role":"assistant","content":"kernel","reasoning_content":"hm"}}],
           "usage":{"prompt_tokens":1,"completion_tokens":2,"prompt_cache_hit_tokens":1}})"});
  EXPECT_EQ(reply.text, "kernel");
  EXPECT_EQ(reply.reasoning, "hm");
  EXPECT_EQ(reply.finish, ChatFinish::length);
  EXPECT_EQ(reply.usage, (TokenUsage{1, 2, 0, 1, false}));
}

TEST(ReplyStream, keeps_reasoning_apart_under_each_of_its_names) {
  EXPECT_EQ(
      reply_of({R"({"choices":[{"delta":{"reasoning_content":"a"}}]})", R"({"choices":[{"delta":{"reasoning":"b"}}]})",
                R"({"choices":[{"delta":{"reasoning_content":"c","reasoning":"c"}}]})",
                R"({"choices":[{"delta":{"content":"k","reasoning_content":null}}]})"})
          .reasoning,
      "abc");
  EXPECT_EQ(reply_of({R"({"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},
                          {"type":"text","text":"k"}]}}]})"})
                .reasoning,
            "t");
}

TEST(ReplyStream, finds_think_tags_that_chunks_cut_in_two) {
  const auto reply =
      reply_of({R"({"choices":[{"delta":{"content":"<thi"}}]})", R"({"choices":[{"delta":{"content":"nk>hm</th"}}]})",
                R"({"choices":[{"delta":{"content":"ink>kernel"}}]})"});
  EXPECT_EQ(reply.reasoning, "hm");
  EXPECT_EQ(reply.text, "kernel");
}

TEST(ReplyStream, says_why_the_model_stopped) {
  const auto finish = [](std::string_view reason) {
    return reply_of({fmt::format(R"({{"choices":[{{"delta":{{"content":"x"}},"finish_reason":"{}"}}]}})", reason)})
        .finish;
  };
  EXPECT_EQ(finish("stop"), ChatFinish::stop);
  EXPECT_EQ(finish("length"), ChatFinish::length);
  EXPECT_EQ(finish("content_filter"), ChatFinish::filter);
  EXPECT_EQ(finish("tool_calls"), ChatFinish::tool);
  EXPECT_EQ(finish("moonlight"), ChatFinish::unknown);
  EXPECT_EQ(reply_of({R"({"choices":[{"delta":{"content":"x"}}]})"}).finish, ChatFinish::unknown)
      << "a stream may end without a reason and without [DONE]";
}

TEST(ReplyStream, takes_tool_calls_for_noise_beside_text_and_for_the_finish_without) {
  constexpr std::string_view k_call =
      R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"run","arguments":"{}"}}]}}]})";
  constexpr std::string_view k_stop = R"({"choices":[{"delta":{},"finish_reason":"stop"}]})";
  EXPECT_EQ(reply_of({k_call, k_stop}).finish, ChatFinish::tool);
  const auto both = reply_of({k_call, R"({"choices":[{"delta":{"content":"kernel"}}]})", k_stop});
  EXPECT_EQ(both.finish, ChatFinish::stop);
  EXPECT_EQ(both.text, "kernel");
}

TEST(ReplyStream, estimates_tokens_when_the_server_counts_none) {
  const auto reply = reply_of({R"({"choices":[{"delta":{"content":"12345","reasoning":"123"}}]})"}, 9);
  EXPECT_EQ(reply.usage, (TokenUsage{3, 2, 1, 0, true}));
}

TEST(ReplyStream, does_not_believe_impossible_counts) {
  EXPECT_TRUE(
      reply_of({R"({"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":-5,"completion_tokens":1e300}})"})
          .usage.estimated);
  EXPECT_EQ(reply_of({R"({"choices":[{"delta":{"content":"x"}}],
                          "usage":{"prompt_tokens":2,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":9},
                          "completion_tokens_details":{"reasoning_tokens":"many"}}})"})
                .usage,
            (TokenUsage{2, 3, 0, 2, false}));
}

TEST(ReplyStream, keeps_the_error_that_comes_in_place_of_an_answer) {
  ReplyStream stream;
  EXPECT_TRUE(stream.add(R"({"error":{"message":"overloaded","type":"server_error","code":503}})"));
  ASSERT_TRUE(stream.server_error());
  EXPECT_EQ(stream.server_error()->status, 503);
  EXPECT_EQ(stream.server_error()->message, "overloaded");

  ReplyStream broken_off;
  EXPECT_TRUE(broken_off.add(R"({"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]})"));
  ASSERT_TRUE(broken_off.server_error());
  EXPECT_EQ(broken_off.server_error()->status, 503);

  ReplyStream in_choice;
  EXPECT_TRUE(in_choice.add(
      R"({"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"x"}}]})"));
  ASSERT_TRUE(in_choice.server_error());
  EXPECT_EQ(in_choice.server_error()->status, 502);
}

TEST(ReplyStream, is_no_reply_without_a_single_choice) {
  ReplyStream stream;
  EXPECT_TRUE(stream.add(R"({"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}})"));
  EXPECT_TRUE(stream.add("[DONE]"));
  const auto reply = stream.finish(0);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, errc::chat_protocol);
  EXPECT_EQ(reply.error().message, "the server answered without a single choice, so it gave no answer");
}

TEST(ReplyStream, is_a_reply_when_the_answer_is_empty) {
  EXPECT_EQ(reply_of({R"({"choices":[{"delta":{"content":null},"finish_reason":"stop"}]})"}).text, "");
}

TEST(ReplyStream, bounds_answer_and_reasoning_together) {
  ReplyStream stream;
  const std::string half(k_max_reply_bytes / 2, 'x');
  EXPECT_TRUE(stream.add(fmt::format(R"({{"choices":[{{"delta":{{"content":"{}"}}}}]}})", half)));
  EXPECT_TRUE(stream.add(fmt::format(R"({{"choices":[{{"delta":{{"reasoning":"{}"}}}}]}})", half)));
  const auto more = stream.add(R"({"choices":[{"delta":{"content":"x"}}]})");
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, errc::chat_too_large);
  EXPECT_EQ(more.error().message, "the answer is longer than 4194304 bytes");
}

TEST(ReplyStream, survives_values_of_the_wrong_type) {
  for (const auto* event : {R"({"choices":7})", R"({"choices":[7]})", R"({"choices":[{"delta":[]}]})",
                            R"({"choices":[{"delta":{"content":{"a":1},"tool_calls":"x"},"finish_reason":3}]})",
                            R"({"usage":[],"model":{},"choices":[{"message":"x","error":[]}]})"}) {
    ReplyStream stream;
    EXPECT_TRUE(stream.add(event)) << event;
    (void)stream.finish(0);
  }
}

}  // namespace
}  // namespace kw
