#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/testing/synthetic_run.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* k_hostile = "</pre><script>alert(1)</script> \x1b]0;title\x07 | [x](javascript:1) <img src=x>";

SyntheticRun run_with_model() {
  SyntheticRun synthetic = synthetic_run(5, 3);
  ModelUse use;
  use.provider = "custom";
  use.model = k_hostile;
  use.turns = 2;
  use.dollars = 0.25;
  use.prices = "built in";
  synthetic.run.model_use = use;
  synthetic.attempts[1].provenance.turn = 4;
  return synthetic;
}

std::vector<Turn> turns() {
  Turn right;
  right.ordinal = 4;
  right.purpose = "one step";
  right.request.messages = {{ChatRole::user, k_hostile}};
  right.reply.text = k_hostile;
  right.reply.reasoning = k_hostile;
  right.summary = k_hostile;
  right.reply.usage = {100, 20, 0, 0, false};
  right.finished_seconds = 0.1;
  Turn faulty = right;
  faulty.ordinal = 5;
  faulty.fault = ReplyFault::no_code;
  faulty.fault_message = k_hostile;
  return {right, faulty};
}

TEST(ModelSection, what_a_model_said_runs_nowhere) {
  const auto synthetic = run_with_model();
  const auto model = build_report(synthetic.run, synthetic.attempts, turns());
  const auto html = to_html(model);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(to_markdown(model), Not(HasSubstr("[x](javascript")));
  EXPECT_THAT(to_markdown(model), Not(HasSubstr("<script")));
  EXPECT_THAT(to_terminal(model, true), Not(HasSubstr("\x1b]0")));
}

TEST(ModelSection, names_what_became_of_every_turn) {
  const auto synthetic = run_with_model();
  const auto model = build_report(synthetic.run, synthetic.attempts, turns());
  const auto* table = find_table(model, "turns");
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_THAT(std::get<std::string>(table->rows[0][3]), HasSubstr("candidate 1"));
  EXPECT_THAT(std::get<std::string>(table->rows[1][3]), HasSubstr("no code"));
}

TEST(ModelSection, says_how_far_the_run_was_over_time) {
  const auto synthetic = run_with_model();
  const auto model = build_report(synthetic.run, synthetic.attempts, turns());
  const auto* table = find_table(model, "over_time");
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->rows.size(), 10U);
  EXPECT_EQ(std::get<Number>(table->rows.back()[1]).value, 4) << "three candidates and a turn without one";
  EXPECT_EQ(std::get<Number>(table->rows.back()[4]).value, 240);
  EXPECT_EQ(std::get<Number>(table->rows.front()[4]).value, 240) << "both turns ended at once";
}

TEST(ModelSection, counts_requests_without_an_answer) {
  auto synthetic = run_with_model();
  ModelUse& use = *synthetic.run.model_use;
  use.requests = 3;
  use.request_tokens = 900;
  use.answered_tokens = 500;
  use.budget_share = 0.4;
  const auto text = to_terminal(build_report(synthetic.run, synthetic.attempts, turns()), false);
  EXPECT_THAT(text, HasSubstr("1 without an answer when the run ended, with some 400 prompt tokens"));
  EXPECT_THAT(text, HasSubstr("Share of the budget"));
  const auto json = final_json(synthetic.run, synthetic.attempts);
  EXPECT_THAT(json, HasSubstr("\"open_requests\": 1"));
  EXPECT_THAT(json, HasSubstr("\"open_prompt_tokens\": 400"));
  EXPECT_THAT(json, HasSubstr("\"budget_share\": 0.4"));
}

TEST(ModelSection, says_how_long_answers_were_and_how_hard_the_model_was_to_think) {
  auto synthetic = run_with_model();
  synthetic.run.model_use->effort = "high";
  auto said = turns();
  said[1].reply.usage.completion = 4096;
  said[1].reply.finish = ChatFinish::length;
  said.push_back(said[0]);
  said[2].purpose = k_judge_purpose;
  said[2].reply.usage.completion = 9999;
  const auto text = to_terminal(build_report(synthetic.run, synthetic.attempts, said), false);
  EXPECT_THAT(text, HasSubstr("20  in the middle; 4096 at most, 1 cut off by a limit"));
  EXPECT_THAT(text, HasSubstr("high"));
  EXPECT_THAT(final_json(synthetic.run, synthetic.attempts), HasSubstr("\"effort\": \"high\""));
}

TEST(ModelSection, that_sent_nothing_counts_nothing_as_open) {
  const auto synthetic = run_with_model();
  EXPECT_THAT(final_json(synthetic.run, synthetic.attempts), HasSubstr("\"open_requests\": null"));
}

TEST(ModelSection, is_left_out_where_no_model_took_part) {
  const auto synthetic = synthetic_run(5, 3);
  for (const auto& section : build_report(synthetic.run, synthetic.attempts).sections) EXPECT_NE(section.key, "model");
}

}  // namespace
}  // namespace kw
