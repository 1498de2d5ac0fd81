#include "cli/suite_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/scratch_directory.hpp"
#include "cli/suite_progress.hpp"

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SuiteProblemTest : public testing::Test {
 protected:
  SuiteRow row(const std::string& forward) {
    SuiteRow row;
    row.item = {"nets/m", (scratch_.path() / "m.py").string(), std::nullopt, std::nullopt};
    std::ofstream(row.item.input) << "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
                                     "    def forward(self, x):\n        return "
                                  << forward
                                  << "\nN = 4096\nM = 48\ndef get_inputs():\n    return [torch.rand(N, M)]\n";
    return row;
  }
  ScratchDirectory scratch_;
};

TEST_F(SuiteProblemTest, says_which_precision_is_not_strict) {
  SuiteSettings settings;
  EXPECT_THAT(read_suite_problem(row("x @ x.T"), settings)->remarks, ElementsAre());
  settings.precision = "tf32";
  const auto read = read_suite_problem(row("x @ x.T"), settings);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_THAT(read->remarks, ElementsAre("precision tf32"));
  EXPECT_THAT(read->problem_input, HasSubstr("m.py --mode train --precision tf32"));
}

TEST_F(SuiteProblemTest, says_what_was_changed) {
  SuiteSettings settings;
  settings.most_steps = 1e5;
  const auto read = read_suite_problem(row("nn.functional.dropout(torch.tanh(x))"), settings);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_TRUE(read->is_smaller);
  ASSERT_EQ(read->remarks.size(), 2U);
  EXPECT_EQ(read->remarks[0], "dropout taken as the identity");
  EXPECT_THAT(read->remarks[1], HasSubstr("made smaller: N = "));
  EXPECT_THAT(read->remarks[1], HasSubstr(" instead of 4096"));
  EXPECT_THAT(read->problem_input, HasSubstr("m.py --fit 100000 --mode train_no_dropout")) << "for `optimize`";
}

TEST_F(SuiteProblemTest, leaves_other_modules_as_they_are) {
  const auto read = read_suite_problem(row("torch.tanh(x)"), {});
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_FALSE(read->is_smaller);
  EXPECT_THAT(read->remarks, ElementsAre());
  SuiteSettings eval;
  eval.mode = "eval";
  EXPECT_THAT(read_suite_problem(row("nn.functional.dropout(x, training=self.training)"), eval)->remarks,
              ElementsAre());
  EXPECT_FALSE(read_suite_problem(row("torch.nothing(x)"), {}));
}

TEST(SuiteProgress, a_row_fits_its_line) {
  SuiteRow row;
  row.item.name = "level1/" + std::string(60, 'a') + "\x1b[2J";
  row.status = SuiteStatus::solved;
  row.best_ns = 1.5e6;
  row.speedup = 3.456;
  row.first_correct_seconds = 2.25;
  row.remarks = {"dropout taken as the identity"};
  const std::string whole = suite_row_line(row, 0);
  EXPECT_THAT(whole, HasSubstr("solved       1.500 ms  3.46x plain  first after 2.2 s  (dropout taken"));
  EXPECT_EQ(whole.find('\x1b'), std::string::npos);
  EXPECT_EQ(suite_row_line(row, 70).size(), 70U);
}

TEST(SuiteProgress, without_a_terminal_only_rows_that_are_over_are_printed) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  SuiteState state;
  state.rows.resize(2);
  state.rows[0].item.name = "one";
  state.rows[0].status = SuiteStatus::failed;
  state.rows[0].message = "why";
  SuiteProgress progress(file, 0);
  progress.begun(state, state.rows[0]);
  progress.phase(state.rows[0], "searching");
  progress.ended(state, state.rows[0]);
  progress.clear();
  std::rewind(file);
  char text[512] = {};
  const std::size_t length = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  EXPECT_EQ(std::string(text, length), "  1/2  one" + std::string(37, ' ') + "  failed       why\n");
}

}  // namespace
}  // namespace kw
