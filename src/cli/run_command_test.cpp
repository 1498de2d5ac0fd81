// How a run is set up from a command line, and what is printed of it.

#include "cli/run_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "archive/testing/test_support.hpp"
#include "cli/environment.hpp"
#include "cli/version.hpp"

namespace kw {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Pair;
using ::testing::StartsWith;

TEST(SetupOf, keeps_how_the_problem_was_named_for_a_shell) {
  const auto setup = setup_of({"attention/causal", {"Sq=64"}, {}}, "90s,5c");
  ASSERT_TRUE(setup) << setup.error().to_string();
  EXPECT_EQ(setup->problem_input, "attention/causal --set Sq=64");
  EXPECT_EQ(setup->problem.primary().axes.at("Sq"), 64);
  EXPECT_EQ(setup->limits.wall_seconds, 90);
  EXPECT_EQ(setup->limits.candidates, 5);
  EXPECT_EQ(setup->version, k_version);
  EXPECT_THAT(setup->started_utc, MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
}

TEST(SetupOf, refuses_a_budget_before_it_reads_the_problem) {
  const auto setup = setup_of({"no/such/problem", {}, {}}, "soon");
  ASSERT_FALSE(setup);
  EXPECT_THAT(setup.error().message, HasSubstr("soon"));
}

TEST(Environment, holds_what_a_reader_of_numbers_needs) {
  ::setenv("OMP_NUM_THREADS", "3", 1);
  const auto facts = describe_environment();
  ::unsetenv("OMP_NUM_THREADS");
  EXPECT_THAT(facts, Contains(Pair("cpu", HasSubstr(" x "))));
  EXPECT_THAT(facts, Contains(Pair("kernel", StartsWith("Linux "))));
  EXPECT_THAT(facts, Contains(Pair("memory", HasSubstr("GiB"))));
  EXPECT_THAT(facts, Contains(Pair("scrubbed OMP_NUM_THREADS", "3")));
  EXPECT_THAT(facts, ::testing::Not(Contains(Pair("scrubbed HOME", ::testing::_)))) << "nothing of the user's own";
}

class PrintOutcome : public ArchiveTest {
 protected:
  void SetUp() override {
    ArchiveTest::SetUp();
    archive_ = open();
    EXPECT_TRUE(archive_->begin_run(run_.run));
    for (const auto& attempt : run_.attempts) EXPECT_TRUE(archive_->append(run_.run.id, attempt));
  }
  std::string printed(bool json) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(print_outcome(run_.run, *archive_, directory_, json));
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    return ::testing::internal::GetCapturedStdout();
  }

  SyntheticRun run_ = synthetic_run(3, 12);
  std::unique_ptr<Archive> archive_;
};

TEST_F(PrintOutcome, ends_with_where_everything_is) {
  const std::string text = printed(false);
  EXPECT_THAT(text, HasSubstr("attention/alibi"));
  EXPECT_THAT(text, HasSubstr("\nkernel   out/attention-alibi.cl\nreport   "));
  run_.run.best_path = "";
  EXPECT_THAT(printed(false), HasSubstr("\nkernel   none: no candidate passed every gate\n"));
}

TEST_F(PrintOutcome, as_json_is_one_object_on_one_line) {
  const std::string text = printed(true);
  EXPECT_EQ(text.front(), '{');
  EXPECT_THAT(text, HasSubstr("\"attention/alibi\""));
  EXPECT_EQ(text.substr(text.size() - 2), "}\n");
}

TEST_F(PrintOutcome, shows_control_characters_of_a_path_instead_of_obeying_them) {
  const auto made = std::exchange(directory_, directory_.string() + "\x1b[31mred");
  run_.run.best_path = "\x1b]0;title\x07";
  const std::string text = printed(false);
  directory_ = made;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(text.find('\x07'), std::string::npos) << text;
  EXPECT_THAT(text, HasSubstr("\xef\xbf\xbd[31mred/archive.db"));
}

}  // namespace
}  // namespace kw
