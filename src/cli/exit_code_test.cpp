// The exit status is the part of an answer that scripts read.

#include "cli/exit_code.hpp"

#include <gtest/gtest.h>

#include "archive/archive.hpp"
#include "cli/command_line.hpp"
#include "cli/inputs.hpp"
#include "cli/run_command.hpp"
#include "sandbox/sandbox.hpp"

namespace kw {
namespace {

int status_of(ErrorCode code) {
  return static_cast<int>(exit_code_of(Error{code, "it went wrong"}));
}

TEST(ExitCode, says_who_can_do_something_about_an_error) {
  EXPECT_EQ(status_of(errc::command_line), 2);
  EXPECT_EQ(status_of(errc::not_found), 2);
  EXPECT_EQ(status_of(errc::io), 3);
  EXPECT_EQ(status_of(errc::disk_full), 3);
  EXPECT_EQ(status_of(errc::sandbox_tier), 3);
  EXPECT_EQ(status_of(errc::archive_corrupt), 4);
}

TEST(ExitCode, of_a_run_says_whether_there_is_a_kernel) {
  RunRecord run;
  run.status = RunStatus::finished;
  EXPECT_EQ(exit_code_of_run(run), ExitCode::rejected);
  run.best_ordinal = 3;
  EXPECT_EQ(exit_code_of_run(run), ExitCode::success);
  run.status = RunStatus::exhausted;
  EXPECT_EQ(exit_code_of_run(run), ExitCode::success);
  run.status = RunStatus::interrupted;
  EXPECT_EQ(static_cast<int>(exit_code_of_run(run)), 130);
}

TEST(ErrorText, names_the_program_the_code_and_what_to_try) {
  Error error{errc::command_line, "there is no such thing", "another thing"};
  error.context = {"reading the command line"};
  EXPECT_EQ(
      error_text(error),
      "kernelwright: there is no such thing [cli.usage]\n  while reading the command line\n  try: another thing\n");
}

TEST(ErrorText, shows_control_characters_of_names_instead_of_obeying_them) {
  const Error error{errc::not_found,
                    "\x1b]0;title\x07/\x1b[2J does not exist",
                    "try\r\xc2\x9b"
                    "1A",
                    {"a\x1b"
                     "b",
                     1, 0}};
  const std::string text = error_text(error);
  for (const char c : {'\x1b', '\x07', '\r'}) EXPECT_EQ(text.find(c), std::string::npos) << static_cast<int>(c);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
  EXPECT_NE(text.find("\xef\xbf\xbd[2J does not exist [base.not_found]\n  try: try"), std::string::npos) << text;
}

TEST(ExitCode, a_run_that_another_process_has_is_not_damage) {
  EXPECT_EQ(status_of(errc::run_in_progress), 2);
}

}  // namespace
}  // namespace kw
