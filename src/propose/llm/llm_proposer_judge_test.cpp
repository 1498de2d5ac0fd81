// In the model's seat, with a judge: when it is asked, what comes of its words, and that nothing depends on them.
#include <gmock/gmock.h>

#include "propose/llm/client/chat_errors.hpp"
#include "propose/llm/prompts/judge.hpp"
#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* k_said =
    "Bottleneck: loads, 40 of 100 instructions.\nMethod: keep four rows in registers.\nPlan: unroll over q;\nthen "
    "share K.\n";

class JudgeTest : public ModelSeat {
 protected:
  JudgeTest() {
    options_.model = "writer";
    options_.judge = "judge-1";
  }
  /// The oldest request that is out, after the proposer had its turn.
  const ChatRequest& asked() {
    if (service_.open.empty()) {
      EXPECT_FALSE(proposer().next());
    }
    return service_.open.front().second;
  }
  void judge_says(const std::string& text) {
    ASSERT_EQ(asked().model, "judge-1");
    ChatReply reply;
    reply.text = text;
    reply.finish = ChatFinish::stop;
    reply.usage.prompt = 100;
    service_.answer(std::move(reply));
    EXPECT_FALSE(proposer().next());
  }
  void right_kernel() { turn("O[0] = 1;", timed(10)); }
};

TEST_F(JudgeTest, is_asked_about_a_right_kernel_with_its_figures) {
  right_kernel();
  const ChatRequest& request = asked();
  EXPECT_EQ(request.model, "judge-1");
  ASSERT_EQ(request.messages.size(), 1U);
  EXPECT_THAT(request.messages[0].text, HasSubstr("# The kernel is correct"));
  EXPECT_THAT(request.messages[0].text, HasSubstr("* Time: 10 ms"));
  EXPECT_THAT(request.messages[0].text, HasSubstr("O[0] = 1;"));
  EXPECT_THAT(request.messages[0].text, HasSubstr("Bottleneck: what limits the time"));
}

TEST_F(JudgeTest, gives_the_next_prompt_its_plan_as_the_one_step) {
  right_kernel();
  judge_says(k_said);
  EXPECT_EQ(asked().model, "writer");
  EXPECT_THAT(told(), HasSubstr("# What a judge says"));
  EXPECT_THAT(told(), HasSubstr("* Bottleneck: loads, 40 of 100 instructions.\n* Method: keep four rows in "
                                "registers.\n* Plan: unroll over q; then share K."));
  EXPECT_THAT(told(), HasSubstr("One step, and only this one: what the judge plans"));
  EXPECT_EQ(turns_.back().purpose, k_judge_purpose);
  EXPECT_EQ(turns_.back().fault, ReplyFault::none);
  EXPECT_EQ(turns_.back().reply.usage.prompt, 100) << "counted like any other";
}

TEST_F(JudgeTest, is_asked_about_a_wrong_kernel_with_what_was_seen) {
  turn("O[0] = 2;", refused(GateId::check, Reason::wrong_result, "workload ragged: O is wrong"));
  EXPECT_THAT(asked().messages[0].text, HasSubstr("workload ragged: O is wrong"));
  EXPECT_THAT(asked().messages[0].text, HasSubstr("Method: the smallest change that mends it."));
  judge_says("Bottleneck: the last row.\n");
  EXPECT_THAT(told(), HasSubstr("* Bottleneck: the last row."));
  EXPECT_THAT(told(), HasSubstr("Find the cause, fix it"));
}

TEST_F(JudgeTest, is_asked_once_for_each_kernel) {
  right_kernel();
  judge_says(k_said);
  turn("O[0] = 3;", timed(12, 0.8, Comparison::slower));
  EXPECT_EQ(asked().model, "judge-1");
  judge_says("Plan: less.\n");
  EXPECT_THAT(told(), HasSubstr("* Plan: less."));
  EXPECT_THAT(told(), Not(HasSubstr("four rows"))) << "what it said before is gone";
}

TEST_F(JudgeTest, that_fails_stops_nothing) {
  right_kernel();
  ASSERT_EQ(asked().model, "judge-1");
  service_.answer(fail(errc::chat_server, "500"));
  EXPECT_FALSE(proposer().next());
  EXPECT_EQ(turns_.back().fault, ReplyFault::no_reply);
  EXPECT_FALSE(is_failed_try(turns_.back()));
  EXPECT_EQ(asked().model, "writer");
  EXPECT_THAT(told(), Not(HasSubstr("What a judge says")));
  turn("O[0] = 4;", timed(12, 0.8, Comparison::slower));
  EXPECT_EQ(asked().model, "judge-1") << "it may be there again";
}

TEST_F(JudgeTest, that_does_not_exist_is_asked_no_more) {
  right_kernel();
  ASSERT_EQ(asked().model, "judge-1");
  service_.answer(fail(errc::chat_not_found, "there is no judge-1"));
  EXPECT_FALSE(proposer().next());
  turn("O[0] = 4;", timed(12, 0.8, Comparison::slower));
  EXPECT_EQ(asked().model, "writer");
  EXPECT_NE(proposer().idle().why, Idle::Why::failed);
}

TEST_F(JudgeTest, that_says_nothing_of_use_is_left_out_after_three_times) {
  right_kernel();
  for (int i = 0; i < 3; ++i) {
    judge_says("```c\nint plan;\n```");
    EXPECT_EQ(turns_.back().fault, ReplyFault::no_judgement);
    EXPECT_THAT(told(), Not(HasSubstr("What a judge says")));
    turn(fmt::format("O[0] = {};", 5 + i), timed(12, 0.8, Comparison::slower));
  }
  EXPECT_EQ(asked().model, "writer");
}

TEST(JudgeOpinion, is_read_as_models_write_it_and_bounded) {
  const auto judgement = read_judgement("1. **Bottleneck**: barriers\n2. **Method**: fewer\n## Plan\nmerge both.\n");
  ASSERT_TRUE(judgement);
  EXPECT_EQ(judgement->bottleneck, "barriers");
  EXPECT_EQ(judgement->method, "fewer");
  EXPECT_EQ(judgement->plan, "merge both.");
  const auto longer = read_judgement("Plan: " + std::string(5000, 'x'));
  ASSERT_TRUE(longer);
  EXPECT_LE(longer->plan.size(), 710U);
  EXPECT_FALSE(read_judgement("I think it is fine."));
}

}  // namespace
}  // namespace kw
