#include "suite/suite_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/report.hpp"
#include "report/terminal.hpp"
#include "suite/eval_results.hpp"
#include "suite/suite_report.hpp"

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

SuiteRow row_of(const std::string& name, SuiteStatus status, std::int64_t id) {
  SuiteRow row;
  row.item = {"level1/" + name, name + ".py", 1, id};
  row.status = status;
  row.device = "opencl:0";
  return row;
}

SuiteRow solved_row(const std::string& name, std::int64_t id, double best_ms, double plain_ms, double first_seconds) {
  SuiteRow row = row_of(name, SuiteStatus::solved, id);
  row.run_id = "run" + name;
  row.best_ns = best_ms * 1e6;
  row.plain_ns = plain_ms * 1e6;
  row.speedup = plain_ms / best_ms;
  row.first_correct_seconds = first_seconds;
  row.used.wall_seconds = 5;
  return row;
}

/// Two solved, one of them smaller than its file; one that cannot be scored, one that failed, one not begun.
SuiteState mixed_state() {
  SuiteState state;
  state.settings.devices = {"opencl:0"};
  state.rows = {solved_row("1_a", 1, 2, 8, 1.5), solved_row("2_b", 2, 1, 1, 3),
                row_of("3_c", SuiteStatus::unscorable, 3), row_of("4_d", SuiteStatus::failed, 4),
                row_of("5_e", SuiteStatus::waiting, 5)};
  state.rows[1].is_smaller = true;
  state.rows[1].remarks = {"made smaller: N = 2 instead of 4"};
  state.rows[2].message = "all zeros as out passes every check";
  state.rows[2].as_kernelbench = KernelBenchVerdict{5, 5, 0, 3e6, ""};
  state.rows[3].message = "no <class> Model";
  return state;
}

const std::vector<SuiteBaseline> k_eager = {{"eager", {{"1_a", 3.0}, {"2_b", 9.0}, {"4_d", 1.0}, {"other", 1.0}}}};

TEST(SuiteFigures, compare_all_with_plain_and_those_of_equal_size_with_others) {
  const auto figures = figures_of(mixed_state(), k_eager);
  EXPECT_EQ(figures.count(SuiteStatus::solved), 2);
  EXPECT_EQ(figures.count(SuiteStatus::unsolved), 0);
  ASSERT_EQ(figures.baselines.size(), 2U);
  EXPECT_EQ(figures.baselines[0].problems, 5);
  EXPECT_THAT(figures.baselines[0].fast, ElementsAre(0.4, 0.4, 0.2, 0.2, 0.2));
  EXPECT_DOUBLE_EQ(figures.baselines[0].mean.value(), 2.0);
  EXPECT_EQ(figures.baselines[1].problems, 2) << "4_d failed and counts, 2_b ran at another size";
  EXPECT_EQ(figures.baselines[1].smaller, 1);
  EXPECT_THAT(figures.baselines[1].fast, ElementsAre(0.5, 0.5, 0.5, 0.0, 0.0));
  EXPECT_FALSE(figures.median_seconds) << "fewer than half of them are solved";
  EXPECT_EQ(figures.solved.size(), 2U);
}

TEST(SuiteFigures, say_nothing_of_times_where_none_were_measured) {
  SuiteState state;
  state.rows = {row_of("1_a", SuiteStatus::solved, 1)};
  EXPECT_TRUE(figures_of(state, {}).baselines.empty());
}

TEST(SuiteFigures, json_holds_rows_and_figures) {
  const auto json = nlohmann::json::parse(suite_results_json(mixed_state(), figures_of(mixed_state(), k_eager)));
  EXPECT_EQ(json.at("rows").size(), 5U);
  EXPECT_EQ(json.at("figures").at("counts").at("unscorable"), 1);
  EXPECT_EQ(json.at("figures").at("baselines")[1].at("fast_p").at("0.8"), 0.5);
  EXPECT_EQ(json.at("figures").at("baselines")[1].at("speedups").at("level1/1_a"), 1.5);
  EXPECT_TRUE(json.at("figures").at("median_seconds_to_first_correct").is_null());
}

TEST(SuiteReport, page_has_a_row_per_problem_that_leads_to_its_report) {
  const auto state = mixed_state();
  const auto model = build_suite_report(state, figures_of(state, k_eager), k_eager, "kw-suite");
  const std::string html = to_html(model);
  EXPECT_THAT(html, HasSubstr("<a href=\"run1_a/report.html\">level1/1_a</a>"));
  EXPECT_THAT(html, HasSubstr("<td>level1/4_d</td>"));
  EXPECT_THAT(html, HasSubstr("no &lt;class&gt; Model"));
  EXPECT_THAT(html, HasSubstr("correct (5 of 5 trials within the tolerance)"));
  EXPECT_THAT(html, HasSubstr("1 problems ran at smaller sizes than their files say and are not compared with eager."));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(to_terminal(model, false),
              HasSubstr("2 of 5 problems have a verified kernel, 1 cannot be scored, 1 failed"));
  EXPECT_THAT(to_markdown(model), HasSubstr("| level1/2\\_b | solved |"));
}

TEST(EvalResults, have_kernelbenchs_keys_and_both_verdicts) {
  const auto texts = eval_results(mixed_state());
  ASSERT_EQ(texts.size(), 1U);
  const auto json = nlohmann::json::parse(texts.at(1));
  EXPECT_EQ(json.size(), 4U) << "what was not begun has no result";
  const auto solved = json.at("1").at(0);
  for (const char* key : {"sample_id", "compiled", "correctness", "metadata", "runtime", "runtime_stats"}) {
    EXPECT_TRUE(solved.contains(key)) << key;
  }
  EXPECT_EQ(solved.at("sample_id"), 0);
  EXPECT_EQ(solved.at("correctness"), true);
  EXPECT_EQ(solved.at("runtime"), 2.0) << "milliseconds";
  const auto unscorable = json.at("3").at(0);
  EXPECT_EQ(unscorable.at("correctness"), true);
  EXPECT_EQ(unscorable.at("runtime"), 3.0);
  EXPECT_EQ(unscorable.at("metadata").at("kernelwright"), "unscorable");
  EXPECT_EQ(unscorable.at("metadata").at("correctness_trials"), "(5 / 5)");
  const auto failed = json.at("4").at(0);
  EXPECT_EQ(failed.at("compiled"), false);
  EXPECT_EQ(failed.at("runtime"), -1.0);
}

}  // namespace
}  // namespace kw
