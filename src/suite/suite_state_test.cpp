#include "suite/suite_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace kw {
namespace {

using testing::HasSubstr;

SuiteRow row_named(const std::string& name) {
  SuiteRow row;
  row.item = {name, name + ".py", std::nullopt, std::nullopt};
  return row;
}

SuiteState full_state() {
  SuiteState state;
  state.settings = {"train", "strict", 1e6, "opencl", "plain", 7, {"opencl:0", ""}, "5s", "2h"};
  state.elapsed_seconds = 12.5;
  SuiteRow row = row_named("level1/23_Softmax");
  row.item.level = 1;
  row.item.id = 23;
  row.file_hash = "ab";
  row.status = SuiteStatus::solved;
  row.message = "with \"quotes\" and \xff";
  row.remarks = {"dropout taken as the identity"};
  row.is_smaller = true;
  row.device = "opencl:0";
  row.run_id = "4f1c0a9be27d3356";
  row.first_correct_seconds = 2.25;
  row.best_ns = 1e6;
  row.best_ci_ns = Interval{0.9e6, 1.1e6, 0.95};
  row.best_samples = 36;
  row.plain_ns = 4e6;
  row.speedup = 4;
  row.best_path = "out/best.cl";
  row.used = {5, 31, 1.5, 0, 0};
  row.as_kernelbench = KernelBenchVerdict{5, 4, std::numeric_limits<double>::infinity(), 2e6, "why not"};
  row.exported = "x_kernel.py";
  state.rows = {row, row_named("b")};
  return state;
}

TEST(SuiteState, comes_back_as_it_was_written) {
  const std::string text = encode_suite(full_state());
  const auto read = decode_suite(text, "suite.json");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(encode_suite(*read), text);
  EXPECT_EQ(read->rows[0].item.id, 23);
  EXPECT_EQ(read->rows[0].best_ci_ns->high, 1.1e6);
  EXPECT_EQ(read->rows[0].as_kernelbench->passed, 4);
  EXPECT_EQ(read->rows[1].status, SuiteStatus::waiting);
  EXPECT_FALSE(read->rows[1].speedup);
}

TEST(SuiteState, other_text_is_refused_with_its_name) {
  for (const char* text : {"", "[]", "{\"format\": 1}", "{\"format\": 2, \"record\": \"suite\"}",
                           R"({"format":1,"record":"suite","settings":{},"elapsed_seconds":1,"rows":[]})"}) {
    const auto refused = decode_suite(text, "some/suite.json");
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, errc::suite_state);
    EXPECT_THAT(refused.error().message, HasSubstr("some/suite.json is no suite of this program"));
  }
}

TEST(SuiteState, counts_what_its_rows_used) {
  SuiteState state = full_state();
  state.rows[1].used = {100, 4, 0.5, 10, 0.25};
  const BudgetUse used = state.used();
  EXPECT_EQ(used.candidates, 35);
  EXPECT_EQ(used.device_seconds, 2.0);
  EXPECT_EQ(used.wall_seconds, 12.5) << "problems on several devices run beside each other";
}

TEST(SuiteState, goes_on_with_what_was_done_and_what_is_new) {
  SuiteState asked = full_state();
  asked.rows = {row_named("b"), row_named("c")};
  asked.rows[0].item.input = "elsewhere/b.py";
  asked.settings.budget = "3h";
  const auto state = continued(full_state(), asked);
  ASSERT_TRUE(state) << state.error().to_string();
  ASSERT_EQ(state->rows.size(), 3U) << "what was listed before stays";
  EXPECT_EQ(state->rows[0].status, SuiteStatus::solved);
  EXPECT_EQ(state->rows[1].item.input, "elsewhere/b.py");
  EXPECT_EQ(state->rows[2].item.name, "c");
  EXPECT_EQ(state->settings.budget, "3h") << "a suite may be given more time";
}

TEST(SuiteState, does_not_mix_settings) {
  const auto refused_with = [](auto change) {
    SuiteState asked = full_state();
    change(asked.settings);
    const auto refused = continued(full_state(), asked);
    if (refused) return std::string("accepted");
    EXPECT_EQ(refused.error().code, errc::suite_mismatch);
    return refused.error().message;
  };
  EXPECT_EQ(refused_with([](SuiteSettings& s) { s.precision = "tf32"; }),
            "the folder holds a suite with --precision strict, not tf32");
  EXPECT_EQ(refused_with([](SuiteSettings& s) { s.mode = "eval"; }),
            "the folder holds a suite with --mode train, not eval");
  EXPECT_EQ(refused_with([](SuiteSettings& s) { s.style.clear(); }),
            "the folder holds a suite with --style plain, not left out");
  EXPECT_EQ(refused_with([](SuiteSettings& s) { s.devices = {"cuda:0"}; }),
            "the folder holds a suite with --device opencl:0,the first, not cuda:0");
  EXPECT_EQ(refused_with([](SuiteSettings& s) { s.budget_per_problem = "9s"; }),
            "the folder holds a suite with --budget-per-problem 5s, not 9s");
  EXPECT_EQ(refused_with([](SuiteSettings& s) { s.most_steps = 0; }),
            "the folder holds a suite with --fit 1e+06, not 0");
}

}  // namespace
}  // namespace kw
