// Speed over minutes and over tokens, as every printer shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/testing/synthetic_run.hpp"
#include "report/report.hpp"
#include "report/sections.hpp"
#include "report/terminal.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Attempt best_after(std::int64_t ordinal, double seconds, double ms) {
  Attempt attempt;
  attempt.ordinal = ordinal;
  attempt.proposer = "llm";
  attempt.elapsed_seconds = seconds;
  attempt.became_best = true;
  attempt.measurement.emplace().median_ns = ms * 1e6;
  return attempt;
}

Turn turn_before(std::int64_t attempt, std::int64_t tokens) {
  Turn turn;
  turn.before_attempt = attempt;
  turn.reply.usage.prompt = tokens;
  return turn;
}

class SpeedCurveTest : public testing::Test {
 protected:
  SpeedCurveTest() {
    run = synthetic_run(5, 0).run;
    run.baselines.front().median_ns = 60e6;
    run.used.wall_seconds = 90;
    attempts = {best_after(0, 10, 30), best_after(2, 40, 6)};
  }
  [[nodiscard]] ReportModel report() const { return build_report(run, attempts, turns); }
  RunRecord run;
  std::vector<Attempt> attempts;
  std::vector<Turn> turns;
};

TEST_F(SpeedCurveTest, is_in_every_report_over_time) {
  const auto curves = speed_curves(run, attempts, turns);
  ASSERT_EQ(curves.size(), 1U);
  ASSERT_EQ(curves[0].steps.size(), 2U);
  EXPECT_EQ(curves[0].steps[0].speedup, 2);
  EXPECT_EQ(curves[0].steps[1].speedup, 10);
  EXPECT_EQ(curves[0].steps[1].spent.value, 40);
  EXPECT_EQ(curves[0].end.value, 90);
  EXPECT_EQ(curves[0].spent_title, "seconds");
  EXPECT_THAT(to_html(report()), HasSubstr("<figcaption>Speed of the best kernel over time</figcaption>"));
  EXPECT_THAT(to_html(report()), HasSubstr("<title>candidate 2 by llm: 10.00× after 40.00 s</title>"));
  EXPECT_THAT(to_json(report()), HasSubstr("\"key\": \"speed_over_time\""));
  EXPECT_THAT(to_markdown(report()), HasSubstr("| 40.00 s | 10.00× | 2 | llm |"));
  EXPECT_THAT(to_terminal(report(), false), HasSubstr("40.00 s    10.00×  ########################################\n"));
  EXPECT_THAT(to_html(report()), Not(HasSubstr("speed_over_tokens")));
}

TEST_F(SpeedCurveTest, counts_minutes_in_a_longer_run) {
  run.used.wall_seconds = 900;
  EXPECT_EQ(speed_curves(run, attempts, turns)[0].spent_title, "minutes");
}

TEST_F(SpeedCurveTest, counts_the_tokens_of_replies_taken_until_then) {
  turns = {turn_before(0, 100), turn_before(1, 50), turn_before(2, 25), turn_before(3, 1000)};
  const auto curves = speed_curves(run, attempts, turns);
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[1].steps[0].spent.value, 100);
  EXPECT_EQ(curves[1].steps[1].spent.value, 175);
  EXPECT_EQ(curves[1].end.value, 1175);
  EXPECT_THAT(to_markdown(report()), HasSubstr("| 175 | 10.00× | 2 | llm |"));
}

TEST_F(SpeedCurveTest, is_left_out_where_nothing_was_timed) {
  attempts.clear();
  EXPECT_TRUE(speed_curves(run, attempts, turns).empty());
  attempts = {best_after(0, 10, 30)};
  run.baselines.clear();
  EXPECT_TRUE(speed_curves(run, attempts, turns).empty());
}

TEST_F(SpeedCurveTest, of_many_steps_a_terminal_shows_those_that_gained_most) {
  attempts.clear();
  for (int i = 0; i < 40; ++i) attempts.push_back(best_after(i, 1 + i, i < 20 ? 50 : 20 - 0.1 * i));
  const std::string text = to_terminal(report(), false);
  const std::size_t begin = text.find("Speed of the best kernel over time");
  const std::string part = text.substr(begin, text.find("all that was spent") - begin);
  EXPECT_EQ(std::count(part.begin(), part.end(), '\n'), 1 + 12) << part;
  EXPECT_THAT(part, HasSubstr("21.00 s")) << "the greatest gain\n" << part;
  EXPECT_THAT(part, HasSubstr("40.00 s")) << "the last one\n" << part;
}

}  // namespace
}  // namespace kw
