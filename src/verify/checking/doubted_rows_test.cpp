// An answer that is a kernel's own output, and wrong in a row: whoever is right there must pass, and nobody else.

#include "verify/checking/doubted_rows.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "verify/checking/case_runner.hpp"
#include "verify/checking/storage.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

constexpr std::size_t k_row_length = 8;
constexpr std::size_t k_wrong_row = 21;

class DoubtedRowsTest : public ::testing::Test {
 protected:
  DoubtedRowsTest() {
    SuiteLimits limits;
    limits.whole_flops = 1;
    suite_ = CheckSuite::make(problem_, 3, serial_for, limits).value();
    truth_ = evaluate_oracle(problem_, problem_.primary(), suite_.cases().front().inputs).value();
    adopt(truth_);
  }
  /// Takes these values as the plain kernel's, with what they are off by in the rows that the oracle has answered.
  void adopt(const OutputValues& values) {
    one_ = suite_.cases().front();
    one_.expected.assign(values.begin(), values.end());
    one_.scales = {output_scales(values.front(), test_form(k_row_length))};
    one_.baseline_error = {1e-6};
    one_.allowed = {1e-5};
  }
  [[nodiscard]] CaseRun run_of(const OutputValues& values) const {
    return {{}, {stored(DType::f32, std::vector<float>(values.front().begin(), values.front().end()))}};
  }
  [[nodiscard]] std::optional<CaseFailure> judge(const OutputValues& values) {
    accuracy_.clear();
    return judge_case(problem_, one_, run_of(values), CaseMode{}, &accuracy_);
  }
  static OutputValues wrong_in_a_row(OutputValues values, std::size_t row = k_wrong_row, double by = 5e-3) {
    for (std::size_t i = 0; i < k_row_length; ++i) values.front()[row * k_row_length + i] *= 1 + by;
    return values;
  }
  /// The oracle can be asked about `rows` rows.
  void afford(double rows) {
    const double all = static_cast<double>(truth_.front().size()) / k_row_length;
    one_.whole = {4e9 * all / rows, 1};
  }

  Problem problem_ = small_problem();
  CheckSuite suite_;
  CheckCase one_;
  OutputValues truth_;
  AccuracyTable accuracy_;
};

TEST_F(DoubtedRowsTest, a_kernel_that_is_right_where_the_plain_one_errs_passes) {
  adopt(wrong_in_a_row(truth_));
  EXPECT_FALSE(judge(truth_)) << judge(truth_)->sentence;
  ASSERT_EQ(accuracy_.size(), 1U);
  EXPECT_LT(accuracy_.front().max_error, 1e-6) << "against the oracle, in the row that was in doubt";
}

TEST_F(DoubtedRowsTest, a_kernel_that_errs_as_the_plain_one_does_not_fails) {
  ASSERT_TRUE(judge(wrong_in_a_row(truth_)));
  EXPECT_EQ(judge(wrong_in_a_row(truth_))->reason, Reason::wrong_result);
  adopt(wrong_in_a_row(truth_, k_wrong_row, 1e-4));
  const auto other_row = judge(wrong_in_a_row(truth_, k_wrong_row - 2));
  ASSERT_TRUE(other_row);
  EXPECT_EQ(other_row->reason, Reason::wrong_result);
}

TEST_F(DoubtedRowsTest, a_kernel_may_err_a_few_times_as_much_as_the_plain_one_does_there) {
  adopt(wrong_in_a_row(truth_, k_wrong_row, 1e-3));
  EXPECT_FALSE(judge(wrong_in_a_row(truth_, k_wrong_row, -1e-3)));
  ASSERT_EQ(accuracy_.size(), 1U);
  EXPECT_GT(accuracy_.front().max_error, 1e-4);
  EXPECT_GT(accuracy_.front().allowed, accuracy_.front().max_error) << "the limit that it was held to";
  EXPECT_LT(accuracy_.front().allowed, 0.05);
  EXPECT_TRUE(judge(wrong_in_a_row(truth_, k_wrong_row, -0.05)));
}

TEST_F(DoubtedRowsTest, a_plain_kernel_that_is_wrong_there_is_no_measure_of_others) {
  adopt(wrong_in_a_row(truth_, k_wrong_row, 0.1));
  EXPECT_TRUE(judge(truth_));
}

TEST_F(DoubtedRowsTest, nobody_is_asked_about_what_no_answer_could_excuse) {
  int asked = 0;
  const auto inputs = std::make_shared<DrawnInputs>(DrawnInputs{one_.inputs, {}});
  one_.draw = [&](const OperandReads*) {
    ++asked;
    return std::shared_ptr<const DrawnInputs>(inputs);
  };
  EXPECT_TRUE(judge(wrong_in_a_row(truth_, k_wrong_row, 0.05)));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(judge(wrong_in_a_row(truth_, k_wrong_row, 1)));
  EXPECT_EQ(asked, 1);
}

TEST_F(DoubtedRowsTest, the_worst_rows_tell_of_others_that_are_too_many) {
  OutputValues values = truth_;
  for (std::size_t row = 0; row < 10; ++row)
    values = wrong_in_a_row(values, row, 1e-4 * (1.0 + static_cast<double>(row)));
  adopt(values);
  afford(2);
  EXPECT_FALSE(judge(truth_)) << judge(truth_)->sentence;
  EXPECT_TRUE(judge(wrong_in_a_row(truth_, k_wrong_row, 0.05)));
  EXPECT_TRUE(judge(wrong_in_a_row(truth_, 3, -0.05))) << "it differs most in a row where both err";
  afford(0.5);
  EXPECT_TRUE(judge(truth_)) << "not one row can be answered";
}

TEST_F(DoubtedRowsTest, an_element_that_was_not_written_is_found_in_a_row_in_doubt) {
  adopt(wrong_in_a_row(truth_));
  CaseRun run = run_of(truth_);
  fill_poison(std::span(run.outputs.front()).subspan(k_wrong_row * k_row_length * sizeof(float), sizeof(float)),
              k_nan_poison.outputs);
  const auto failure = judge_case(problem_, one_, run, CaseMode{}, nullptr);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reason, Reason::output_unwritten);
}

TEST_F(DoubtedRowsTest, the_oracle_is_not_asked_for_more_than_it_answers_in_a_second) {
  adopt(wrong_in_a_row(truth_));
  one_.whole = {1e12, 1e9};
  ASSERT_TRUE(judge(truth_));
  one_.whole = {1e9, 1e6};
  EXPECT_FALSE(judge(truth_));
}

TEST_F(DoubtedRowsTest, an_answer_of_the_oracle_is_beyond_doubt) {
  adopt(wrong_in_a_row(truth_));
  one_.sampled.clear();
  EXPECT_TRUE(judge(truth_));
}

}  // namespace
}  // namespace kw
