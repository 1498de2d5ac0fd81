// A problem whose checks an answer without the work would pass is refused, for each kind of such an answer.

#include <gtest/gtest.h>

#include "verify/checking/check_suite.hpp"

namespace kw {
namespace {

Problem problem_with(const std::string& axes, const std::string& attention, const std::string& workload) {
  const std::string heads = axes.find("Hq") == std::string::npos ? "Hq = 2\n" : "";
  auto problem = parse_problem("name = \"test/probe\"\nop = \"attention\"\n[axes]\nB = 1\n" + heads + axes +
                                   "\n[attention]\ndtype = \"f32\"\n" + attention +
                                   "\n[[workload]]\nname = \"other\"\nrole = \"edge\"\n" + workload,
                               "probe.toml");
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

/// The refusal, with what to do about it; "" for a problem that can be scored.
std::string refusal(const Problem& problem, double honest_error = 1e-7) {
  auto suite = CheckSuite::make(problem, 1, serial_for);
  KW_CHECK(suite.has_value(), "{}", suite.error().to_string());
  suite->allow_errors(problem, std::vector<std::vector<double>>(
                                   suite->cases().size(), std::vector<double>(problem.outputs.size(), honest_error)));
  const auto scorable = suite->require_scorable(problem);
  if (scorable) return "";
  EXPECT_EQ(scorable.error().code, errc::unscorable);
  return scorable.error().message + "; " + scorable.error().hint;
}

const char* const k_causal = "mask_mod = \"lambda b, h, q, k: q >= k\"";

TEST(Probes, an_ordinary_problem_can_be_scored) {
  EXPECT_EQ(refusal(problem_with("Sq = 20\nSkv = 20\nD = 8", k_causal, "Sq = 7\nSkv = 9")), "");
}

TEST(CheckSuite, refuses_a_problem_whose_right_answer_is_not_a_number) {
  const auto problem =
      problem_with("Sq = 20\nSkv = 20\nD = 8",
                   "score_mod = \"lambda s, b, h, q, k: torch.where(q >= k, s, float('inf'))\"", "Sq = 7");
  const auto suite = CheckSuite::make(problem, 1, serial_for);
  ASSERT_FALSE(suite);
  EXPECT_EQ(suite.error().code, errc::unscorable);
  EXPECT_EQ(suite.error().message,
            "test/probe cannot be scored: the right answer itself is not a number in output O of workload primary");
  EXPECT_EQ(suite.error().hint, "let no score become +infinity or NaN; -infinity is how a score_mod masks a key");
}

TEST(Probes, zeros_that_pass) {
  const auto all_masked = problem_with("Sq = 20\nSkv = 20\nD = 8", "mask_mod = \"lambda b, h, q, k: q < 0\"", "Sq = 7");
  EXPECT_EQ(
      refusal(all_masked),
      "test/probe cannot be scored: all zeros as O passes every check; add a workload on which the answer depends "
      "on the inputs");
}

TEST(Probes, zeros_that_pass_because_too_much_is_allowed) {
  const auto problem = problem_with("Sq = 20\nSkv = 20\nD = 8", k_causal, "Sq = 7\nSkv = 9");
  EXPECT_EQ(refusal(problem, 1e9).substr(0, 57), "test/probe cannot be scored: all zeros as O passes every ");
}

TEST(Probes, a_copy_of_an_input_that_passes) {
  const auto diagonal =
      problem_with("Sq = 20\nSkv = 20\nD = 8", "mask_mod = \"lambda b, h, q, k: q == k\"", "Sq = 7\nSkv = 7");
  EXPECT_EQ(refusal(diagonal),
            "test/probe cannot be scored: a copy of V as O passes every check; add a workload on which the answer is "
            "not an input");
}

TEST(Probes, the_mean_of_an_input_that_passes) {
  const auto flat = problem_with("Sq = 20\nSkv = 20\nD = 8", "score_mod = \"lambda s, b, h, q, k: s * 0.0\"", "Sq = 7");
  EXPECT_EQ(refusal(flat),
            "test/probe cannot be scored: the mean of V over its rows as O passes every check; add a workload on which "
            "the rows do not count alike");
}

TEST(Probes, an_answer_that_does_not_depend_on_the_scores) {
  const auto bias_only =
      problem_with("Sq = 20\nSkv = 20\nD = 8", "score_mod = \"lambda s, b, h, q, k: k * 0.1\"", "Sq = 7");
  EXPECT_EQ(refusal(bias_only),
            "test/probe cannot be scored: the answer to Q = 0 as O passes every check; let the answer depend on Q: on "
            "more than one key, and not on the mods alone");
}

TEST(Probes, an_output_may_do_without_an_input_when_another_needs_it) {
  const auto with_lse =
      problem_with("Sq = 20\nSkv = 20\nD = 8", fmt::format("lse = true\n{}", k_causal), "Sq = 7\nSkv = 9");
  EXPECT_EQ(refusal(with_lse), "") << "LSE does not depend on V";
}

TEST(Probes, logarithms_of_a_single_head_are_no_column) {
  // Of one batch and head an LSE is one row, of which every element is its column's mean.
  for (const char* axes : {"Hq = 1\nSq = 20\nSkv = 20\nD = 8", "Hq = 1\nSq = 1\nSkv = 20\nD = 8"})
    EXPECT_EQ(refusal(problem_with(axes, "lse = true", "Skv = 9")), "") << axes;
}

TEST(Probes, logarithms_of_masking_values_hide_nothing) {
  for (const char* low : {"-1e4", "-1e9", "torch.finfo(torch.float32).min"}) {
    const auto problem = problem_with(
        "Sq = 20\nSkv = 20\nD = 8",
        fmt::format("lse = true\nscore_mod = \"lambda s, b, h, q, k: torch.where(q >= k + 5, s, {})\"", low),
        "Sq = 7\nSkv = 9");
    EXPECT_EQ(refusal(problem), "") << low;
  }
}

TEST(CheckSuite, levels_no_masking_values) {
  // Data that makes up for -1e9 would be all that the answer depends on.
  for (const char* low : {"-1e4", "-1e9", "torch.finfo(torch.float16).min", "torch.finfo(torch.float32).min"}) {
    const auto problem = problem_with(
        "Sq = 20\nSkv = 20\nD = 8",
        fmt::format("score_mod = \"lambda s, b, h, q, k: s + torch.where(q >= k, 0.0, {})\"", low), "Sq = 7\nSkv = 9");
    const auto suite = CheckSuite::make(problem, 1, serial_for);
    ASSERT_TRUE(suite);
    for (const auto& one : suite->cases()) EXPECT_NE(one.distribution.name, "level") << low;
  }
}

}  // namespace
}  // namespace kw
