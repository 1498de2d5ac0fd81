#include "propose/llm/prompts/lesson.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

Turn turn(std::int64_t ordinal, std::int64_t chain, const std::string& asked, const std::string& said) {
  Turn one;
  one.ordinal = ordinal;
  one.chain = chain;
  one.request.messages = {{ChatRole::user, asked}};
  one.reply.text = said;
  return one;
}

Attempt attempt(std::int64_t ordinal, std::int64_t of_turn, double ms, bool right = true) {
  Attempt one;
  one.ordinal = ordinal;
  one.provenance.turn = of_turn;
  one.verdict.pass(GateId::read);
  if (right) {
    one.measurement.emplace().median_ns = ms * 1e6;
  } else {
    one.verdict.reject(GateId::check, Reason::wrong_result, "O is wrong");
  }
  return one;
}

constexpr const char* k_looks_back =
    "0. **Reflection**\n   Diagnosis: right, loads were the limit.\n   Avoid: more threads.\n"
    "   Prioritise: wider loads.\n1. **Analysis**: loads.\n";

TEST(Lesson, says_how_the_kernel_did_and_what_is_thought_of_it) {
  EXPECT_EQ(
      lesson_text(turn(1, 0, "b", k_looks_back), attempt(0, 0, 10), turn(0, 0, "a", "2. **Design**: panels.")),
      "right, 10 ms. Design: panels. Diagnosis: right, loads were the limit. Avoid: more threads. Prioritise: wider "
      "loads.");
}

TEST(Lesson, is_read_as_models_write_it) {
  const Turn marked =
      turn(1, 0, "b", "### Reflection\n- **Diagnosis:** wrong.\n- **Avoid**: barriers.\n\n# Analysis\nx");
  EXPECT_EQ(lesson_text(marked, attempt(0, 0, 10, false), turn(0, 0, "a", "")),
            "rejected at check, wrong_result. Diagnosis: wrong. Avoid: barriers.");
  EXPECT_EQ(lesson_text(turn(1, 0, "b", "1. **Analysis**: x"), attempt(0, 0, 10), turn(0, 0, "a", "")), "");
}

TEST(Lesson, of_a_record_looks_back_on_the_best_of_the_round_before) {
  const std::vector<Turn> turns = {turn(0, 0, "a", "**Design**: one."),
                                   turn(1, 0, "a", "**Design**: two."),
                                   turn(2, 1, "c", "**Design**: other chain."),
                                   turn(3, 0, "b", k_looks_back),
                                   turn(4, 0, "b", "no reflection"),
                                   turn(5, 1, "d", k_looks_back)};
  const std::vector<Attempt> attempts = {attempt(0, 0, 10), attempt(1, 1, 8), attempt(2, 2, 1, false)};
  const auto lessons = lessons_of(turns, attempts);
  ASSERT_EQ(lessons.size(), 2U);
  EXPECT_EQ(lessons[0].substr(0, 33), "right, 8 ms. Design: two. Diagnos");
  EXPECT_EQ(lessons[1].substr(0, 57), "rejected at check, wrong_result. Design: other chain. Dia");
}

TEST(Lesson, needs_a_kernel_to_look_back_on) {
  EXPECT_TRUE(lessons_of(std::vector<Turn>{turn(0, 0, "a", k_looks_back)}, std::vector<Attempt>{}).empty());
}

TEST(Lessons, shows_the_latest_of_earlier_runs_and_of_this_one) {
  Lessons lessons({"p1", "p2", "p3", "p4", "p5"});
  for (const char* own : {"o1", "", "o2", "o3", "o4", "o5"}) lessons.add(own);
  EXPECT_EQ(lessons.shown(), (std::vector<std::string>{"p2", "p3", "p4", "p5", "o2", "o3", "o4", "o5"}));
}

}  // namespace
}  // namespace kw
