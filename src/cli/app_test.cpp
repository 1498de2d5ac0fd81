// Commands from words to output, in this process: what lands on standard output, what on standard error, and the exit
// status. Only commands that open no device; tests/cli/ runs the program itself.

#include "cli/app.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file_system.hpp"
#include "base/testing/scratch_directory.hpp"
#include "record/bundle.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Output {
  int status = 0;
  std::string out;
  std::string err;
};

Output run(const std::vector<std::string>& words) {
  std::vector<const char*> argv{"kernelwright"};
  for (const auto& word : words) argv.push_back(word.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Output output;
  output.status = run_app(static_cast<int>(argv.size()), argv.data());
  output.out = ::testing::internal::GetCapturedStdout();
  output.err = ::testing::internal::GetCapturedStderr();
  return output;
}

void expect_error(const std::vector<std::string>& words, int status, const std::string& says) {
  const Output output = run(words);
  EXPECT_EQ(output.status, status) << output.err;
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr(says));
}

/// A bundle for several devices in a file.
class App : public ::testing::Test {
 protected:
  App() {
    const Output emitted = run({"emit", "attention/causal_f16", "--target", "cuda", "--device", "h200,a100"});
    EXPECT_EQ(emitted.status, 0) << emitted.err;
    RealFileSystem files;
    EXPECT_TRUE(files.write_atomic(bundle_, emitted.out));
  }
  ScratchDirectory scratch_;
  std::string bundle_ = (scratch_.path() / "multi.cu").string();
};

TEST_F(App, emit_prints_a_bundle_and_nothing_else) {
  const Output whole = run({"emit", "attention/alibi", "--style", "plain"});
  EXPECT_EQ(whole.status, 0);
  EXPECT_EQ(whole.err, "");
  const auto bundle = parse_bundle(whole.out, "stdout");
  ASSERT_TRUE(bundle) << bundle.error().to_string();
  const Output source = run({"emit", "attention/alibi", "--style", "plain", "--source-only"});
  EXPECT_EQ(source.out, bundle->source);
}

TEST_F(App, emit_names_what_it_does_not_know) {
  expect_error({"emit", "attention/alibo"}, 2,
               "kernelwright: there is no problem named 'attention/alibo' [base.not_found]\n  try: attention/alibi?\n");
  expect_error({"emit", "attention/alibi", "--style", "nosuch"}, 2, "nosuch");
  expect_error({"emit", "attention/alibi", "--structure", "A"}, 2, "--structure \"A\" is not NAME=INTEGER");
  expect_error({"emit", "attention/alibi", "--target", "cuda", "--device", "mi300x"}, 2, "takes target hip, not cuda");
}

TEST_F(App, explain_prints_what_is_proved) {
  const Output text = run({"explain", "attention/causal"});
  EXPECT_EQ(text.status, 0);
  EXPECT_EQ(text.err, "");
  EXPECT_THAT(text.out, StartsWith("attention/causal: "));
  EXPECT_THAT(text.out, HasSubstr("\n  proved     "));
  const Output json = run({"explain", "attention/causal", "--json"});
  const auto object = nlohmann::json::parse(json.out, nullptr, false);
  ASSERT_TRUE(object.is_object()) << json.out;
  EXPECT_EQ(object["problem"], "attention/causal");
  EXPECT_EQ(object["mods"].size(), 1U);
}

TEST_F(App, problems_lists_every_problem_once) {
  const Output text = run({"problems"});
  EXPECT_EQ(text.status, 0);
  EXPECT_EQ(text.err, "");
  EXPECT_THAT(text.out, HasSubstr("attention/alibi "));
  const auto array = nlohmann::json::parse(run({"problems", "--json"}).out, nullptr, false);
  ASSERT_TRUE(array.is_array());
  EXPECT_EQ(array.size(), static_cast<std::size_t>(std::count(text.out.begin(), text.out.end(), '\n')));
}

TEST_F(App, dispatch_show_says_which_row_a_device_takes) {
  const Output text = run({"dispatch", "show", "attention/causal_f16", bundle_, "--device", "a100"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, StartsWith("NVIDIA A100 80GB SXM (cuda, sm_80)\n"));
  EXPECT_THAT(text.out, HasSubstr("row 2 (a100)"));
  const auto json = nlohmann::json::parse(
      run({"dispatch", "show", "attention/causal_f16", bundle_, "--device", "a100", "--json"}).out, nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["rows"], 2);
  EXPECT_EQ(json["workloads"][0]["row"], 2);
  EXPECT_EQ(json["workloads"][0]["device"], "a100");
}

TEST_F(App, dispatch_add_writes_a_row_and_leaves_the_source) {
  const std::string into = (scratch_.path() / "more.cu").string();
  RealFileSystem files;
  const auto before = parse_bundle(*files.read(bundle_, 1 << 20), bundle_);
  ASSERT_TRUE(before) << before.error().to_string();
  const Tunable& tunable = before->tunables.front();
  const std::string assignment = fmt::format("{}={}", tunable.name, tunable.default_value);
  const Output text = run({"dispatch", "add", bundle_, "--device", "h2oo", "--tune", assignment, "--into", into});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.out, "row 1 of " + into + "\n");
  EXPECT_EQ(text.err, "note: \"h2oo\" names no device or architecture that is known here\n");
  const auto after = parse_bundle(*files.read(into, 1 << 20), into);
  ASSERT_TRUE(after) << after.error().to_string();
  EXPECT_EQ(after->dispatch.size(), before->dispatch.size() + 1);
  EXPECT_EQ(after->source, before->source);
}

TEST_F(App, dispatch_add_refuses_rows_that_say_nothing) {
  expect_error({"dispatch", "add", bundle_, "--tune", "BLOCK_N=64"}, 2,
               "a row without --device and --when would be taken everywhere");
  expect_error({"dispatch", "add", bundle_, "--device", "h200"}, 2, "the row assigns nothing");
  expect_error({"dispatch", "add", bundle_, "--device", "h200", "--when", "Skv >=", "--tune", "BLOCK_N=64"}, 2,
               "--when \"Skv >=\"");
}

TEST_F(App, build_says_where_opencl_kernels_are_compiled) {
  const std::string plain = (scratch_.path() / "plain.cl").string();
  RealFileSystem files;
  ASSERT_TRUE(files.write_atomic(plain, run({"emit", "attention/alibi", "--style", "plain"}).out));
  expect_error({"build", "attention/alibi", plain}, 3, "opencl is compiled on the device itself");
}

TEST_F(App, show_needs_an_archive) {
  expect_error({"show", "--out", (scratch_.path() / "none").string()}, 3, "kernelwright: ");
}

TEST_F(App, optimize_refuses_its_budget_before_it_touches_anything) {
  const std::string out = (scratch_.path() / "runs").string();
  expect_error({"optimize", "attention/alibi", "--budget", "soon", "--out", out}, 2, "soon");
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(App, answers_and_errors_leave_by_different_doors) {
  const Output help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_THAT(help.out, HasSubstr("optimize"));
  expect_error({"frobnicate"}, 2, "there is no command \"frobnicate\"");
}

}  // namespace
}  // namespace kw
