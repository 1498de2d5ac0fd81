// In the model's seat: how long an answer may be, where providers' own limits differ.
#include <gmock/gmock.h>

#include "propose/llm/client/chat_errors.hpp"
#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::Eq;
using testing::Optional;

class AnswerLengthTest : public ModelSeat {
 protected:
  /// What the oldest request that is out asks for.
  std::optional<std::int64_t> room() {
    (void)told();
    return service_.open.front().second.max_tokens;
  }
  /// An answer that a limit cut off after so many tokens.
  void cut_off_after(std::int64_t tokens) {
    (void)told();
    ChatReply reply;
    reply.text = "One could";
    reply.finish = ChatFinish::length;
    reply.usage.completion = tokens;
    service_.answer(std::move(reply));
    EXPECT_FALSE(proposer().next());
  }
  void fail_with(ErrorCode code) {
    (void)told();
    service_.answer(fail(code, "max_tokens is too large"));
    EXPECT_FALSE(proposer().next());
  }
};

TEST_F(AnswerLengthTest, is_the_providers_until_it_cut_one_off) {
  EXPECT_EQ(room(), std::nullopt);
  cut_off_after(4096);
  EXPECT_EQ(turns_.back().fault, ReplyFault::cut_off);
  EXPECT_THAT(room(), Optional(Eq(16384)));
  cut_off_after(16384);
  EXPECT_THAT(room(), Optional(Eq(32768)));
  cut_off_after(100000);
  EXPECT_THAT(room(), Optional(Eq(131072)));
  cut_off_after(4096);
  EXPECT_THAT(room(), Optional(Eq(131072))) << "what was granted is asked for again";
}

TEST_F(AnswerLengthTest, is_what_the_user_says) {
  options_.max_tokens = 2000;
  cut_off_after(2000);
  EXPECT_THAT(room(), Optional(Eq(2000)));
}

TEST_F(AnswerLengthTest, that_a_server_refuses_is_not_asked_for_again_and_ends_nothing) {
  cut_off_after(4096);
  const std::string message = told();
  fail_with(errc::chat_bad_request);
  EXPECT_EQ(told(), message) << "the same is asked again";
  EXPECT_EQ(room(), std::nullopt);
  cut_off_after(4096);
  EXPECT_EQ(room(), std::nullopt);
}

TEST_F(AnswerLengthTest, that_does_not_fit_beside_the_prompt_is_not_asked_for_again) {
  cut_off_after(4096);
  fail_with(errc::chat_context_length);
  EXPECT_EQ(room(), std::nullopt);
}

TEST_F(AnswerLengthTest, is_the_same_after_a_failure_that_has_nothing_to_do_with_it) {
  cut_off_after(4096);
  fail_with(errc::chat_server);
  EXPECT_THAT(room(), Optional(Eq(16384)));
}

TEST_F(AnswerLengthTest, is_no_excuse_for_a_request_that_asked_for_none) {
  fail_with(errc::chat_bad_request);
  EXPECT_FALSE(proposer().next());
  EXPECT_THAT(proposer().idle().why, Eq(Idle::Why::failed));
}

}  // namespace
}  // namespace kw
