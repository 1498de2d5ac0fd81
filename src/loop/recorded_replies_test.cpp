#include "loop/recorded_replies.hpp"

#include <gtest/gtest.h>

#include "loop/testing/scripted_client.hpp"
#include "propose/llm/client/chat_errors.hpp"

namespace kw {
namespace {

Turn turn(std::int64_t ordinal, std::int64_t before_attempt) {
  Turn made;
  made.ordinal = ordinal;
  made.before_attempt = before_attempt;
  made.request.model = "m";
  made.reply = reply_of("reply " + std::to_string(ordinal));
  return made;
}

ChatRequest request(const std::string& model = "m") {
  return {model, {}, {}, {}};
}

TEST(RecordedReplies, come_in_the_recorded_order_and_not_before_their_place) {
  RecordedReplies replies({turn(1, 0), turn(0, 2)}, nullptr, 2);
  replies.submit(0, request());
  replies.submit(1, request("other"));
  EXPECT_EQ(replies.poll(0)->turn, 1);
  EXPECT_FALSE(replies.poll(1));
  EXPECT_EQ(replies.poll(2)->reply->text, "reply 0");
}

TEST(RecordedReplies, one_that_was_not_asked_for_is_waited_for) {
  RecordedReplies replies({turn(0, 0)}, nullptr, 1);
  EXPECT_FALSE(replies.poll(5));
  replies.submit(0, request());
  EXPECT_TRUE(replies.poll(5));
}

TEST(RecordedReplies, a_waiting_loop_gets_the_next_one_early) {
  RecordedReplies replies({turn(0, 7), turn(1, 9)}, nullptr, 2);
  replies.submit(1, request());
  EXPECT_FALSE(replies.poll(3));
  replies.wait(Instant::max());
  EXPECT_EQ(replies.poll(3)->turn, 1);
}

TEST(RecordedReplies, a_failed_request_fails_again) {
  Turn failed = turn(0, 0);
  failed.fault = ReplyFault::no_reply;
  failed.fault_message = "it was down";
  RecordedReplies replies({failed}, nullptr, 1);
  replies.submit(0, request());
  const auto outcome = replies.poll(0);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->reply.error().message, "it was down");
}

TEST(RecordedReplies, what_was_never_recorded_ends_a_replay) {
  RecordedReplies replies({}, nullptr, 1);
  replies.submit(4, request());
  const auto outcome = replies.poll(0);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->reply.error().code, errc::chat_replayed);
}

}  // namespace
}  // namespace kw
