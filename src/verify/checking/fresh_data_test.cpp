#include "verify/checking/fresh_data.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "verify/checking/storage.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

constexpr std::size_t k_output = 0;

class FreshData : public ::testing::Test {
 protected:
  FreshData() { suite_.allow_errors(problem_, std::vector<std::vector<double>>(suite_.cases().size(), {1e-6})); }

  [[nodiscard]] const CheckCase& like() const { return suite_.cases().front(); }
  [[nodiscard]] FreshCase draw() { return draw_fresh(problem_, like(), costs_, rng_); }

  /// The outputs of a kernel that is right, as its buffers hold them.
  [[nodiscard]] CaseRun right_answer(const FreshCase& fresh) const {
    CaseRun run;
    const auto outputs = evaluate_oracle(problem_, problem_.primary(), fresh.one.inputs).value();
    for (const auto& values : outputs) {
      run.outputs.push_back(stored(DType::f32, std::vector<float>(values.begin(), values.end())));
    }
    return run;
  }
  static void set(CaseRun& run, std::size_t element, float value) {
    std::memcpy(run.outputs[k_output].data() + element * sizeof value, &value, sizeof value);
  }
  /// The right answer but for its first element, which is off by that share of its row.
  [[nodiscard]] CaseRun answer_off_by(double share, const FreshCase& fresh) const {
    CaseRun run = right_answer(fresh);
    const double off = share * like().scales[k_output].rows.front();
    set(run, 0, static_cast<float>(fresh.answers[k_output].values.front() + off));
    return run;
  }
  [[nodiscard]] std::optional<CaseFailure> judge(const FreshCase& fresh, const CaseRun& run) const {
    return judge_fresh(problem_, {&like(), 1}, fresh, run, k_nan_poison);
  }

  Problem problem_ = small_problem();
  CheckSuite suite_ = CheckSuite::make(problem_, 3, serial_for).value();
  WorkloadCosts costs_{problem_};
  Rng rng_{5};
};

TEST_F(FreshData, is_answered_by_the_oracle) {
  const FreshCase fresh = draw();
  const auto answer = evaluate_oracle(problem_, problem_.primary(), fresh.one.inputs).value();
  const AnswerSample& sample = fresh.answers.at(k_output);
  ASSERT_EQ(sample.elements.size(), answer[k_output].size()) << "a small answer is known whole";
  for (std::size_t i = 0; i < sample.elements.size(); ++i) {
    ASSERT_NEAR(sample.values[i], answer[k_output][static_cast<std::size_t>(sample.elements[i])], 1e-12) << i;
  }
}

TEST_F(FreshData, takes_the_memory_of_data_that_were_used_and_nothing_of_what_they_held) {
  FreshCase used = draw();
  const float* const memory = used.one.inputs.front().data();
  Rng alike = rng_;
  const FreshCase anew = draw();
  const FreshCase again =
      draw_fresh(problem_, like(), costs_, alike, serial_for, nullptr, {}, std::move(used.one.inputs));
  EXPECT_EQ(again.one.inputs.front().data(), memory);
  EXPECT_EQ(again.one.inputs, anew.one.inputs);
  EXPECT_EQ(again.answers.at(k_output).values, anew.answers.at(k_output).values);
  EXPECT_EQ(draw_fresh(problem_, like(), costs_, rng_, serial_for, nullptr, {}, {{1.0F}, {2.0F}}).one.inputs.size(),
            anew.one.inputs.size())
      << "of another size: of no use, and no harm";
}

TEST_F(FreshData, of_a_large_problem_is_answered_in_some_rows_with_the_first_and_the_last) {
  const auto large = with_axes(small_problem(), {"Sq=400", "Skv=2000", "D=32", "Dv=32"});
  ASSERT_TRUE(large) << large.error().to_string();
  const auto suite = CheckSuite::make(*large, 3, serial_for);
  ASSERT_TRUE(suite) << suite.error().to_string();
  const WorkloadCosts costs(*large);
  const FreshCase fresh = draw_fresh(*large, suite->cases().front(), costs, rng_);
  const FreshCase again = draw_fresh(*large, suite->cases().front(), costs, rng_);
  const AnswerSample& sample = fresh.answers.at(k_output);
  EXPECT_EQ(sample.elements.front(), 0);
  EXPECT_EQ(sample.elements.back(), 2 * 400 * 32 - 1);
  EXPECT_GE(sample.elements.size(), 32U * 32U);
  EXPECT_LT(sample.elements.size(), 2U * 400U * 32U);
  EXPECT_NE(sample.elements, again.answers.at(k_output).elements) << "no kernel may know which";
  const auto answer = evaluate_oracle(*large, large->primary(), fresh.one.inputs).value();
  for (std::size_t i = 0; i < sample.elements.size(); ++i) {
    ASSERT_NEAR(sample.values[i], answer[k_output][static_cast<std::size_t>(sample.elements[i])], 1e-12) << i;
  }
}

TEST_F(FreshData, finds_out_in_ten_launches_who_leaves_out_a_twentieth_of_the_rows) {
  constexpr std::int64_t k_share = 20;
  const auto large = with_axes(small_problem(), {"Sq=2000", "Skv=200", "D=32", "Dv=32"});
  ASSERT_TRUE(large) << large.error().to_string();
  auto suite = CheckSuite::make(*large, 3, serial_for).value();
  suite.allow_errors(*large, std::vector<std::vector<double>>(suite.cases().size(), {1e-6}));
  const CheckCase& one = suite.cases().front();
  const WorkloadCosts costs(*large);
  const std::size_t elements = one.expected[k_output].size();
  const std::int64_t row = row_length_of(large->outputs[k_output], large->primary().axes);
  for (const std::int64_t group : {3, 9, 14}) {  // neither the first row nor the last
    int found = 0;
    for (int launch = 0; launch < 10; ++launch) {
      const FreshCase fresh = draw_fresh(*large, one, costs, rng_);
      const AnswerSample& sample = fresh.answers[k_output];
      std::vector<float> outputs(elements, 0.0F);
      for (std::size_t i = 0; i < sample.elements.size(); ++i) {
        if (sample.elements[i] / row % k_share == group) continue;
        outputs[static_cast<std::size_t>(sample.elements[i])] = static_cast<float>(sample.values[i]);
      }
      const CaseRun run{{}, {stored(DType::f32, outputs)}};
      if (judge_fresh(*large, {&one, 1}, fresh, run, k_nan_poison)) ++found;
    }
    EXPECT_GT(found, 0) << "rows " << group << ", " << group + k_share << " and so on";
  }
}

TEST_F(FreshData, that_roundings_move_more_may_be_missed_by_more) {
  CheckCase like = suite_.cases().front();
  FreshCase fresh = draw();
  const CaseRun run = answer_off_by(3 * like.allowed[k_output], fresh);
  EXPECT_TRUE(judge_fresh(problem_, {&like, 1}, fresh, run, k_nan_poison)) << "three times what is allowed";
  like.conditioning = 1e-6;
  fresh.one.conditioning = 2e-6;
  EXPECT_TRUE(judge_fresh(problem_, {&like, 1}, fresh, run, k_nan_poison)) << "twice as much is allowed";
  fresh.one.conditioning = 2e-5;
  EXPECT_FALSE(judge_fresh(problem_, {&like, 1}, fresh, run, k_nan_poison)) << "ten times as much would be allowed";
  fresh.one.conditioning = 0;
  EXPECT_TRUE(judge_fresh(problem_, {&like, 1}, fresh, run, k_nan_poison));
}

TEST_F(FreshData, may_be_missed_by_what_roundings_do_to_them_where_nothing_is_known_of_the_others) {
  CheckCase like = suite_.cases().front();
  FreshCase fresh = draw();
  like.conditioning = 0;
  fresh.one.conditioning = 8e-5;
  EXPECT_FALSE(judge_fresh(problem_, {&like, 1}, fresh, answer_off_by(5e-5, fresh), k_nan_poison));
  fresh.one.conditioning = 1e-3;
  EXPECT_TRUE(judge_fresh(problem_, {&like, 1}, fresh, answer_off_by(5e-4, fresh), k_nan_poison))
      << "no more than a type of 11 bits errs by";
}

// Of a clamped output a row may be zero but for one element: the largest error of a draw is then much chance.
TEST_F(FreshData, may_be_missed_by_as_much_as_any_case_like_them) {
  std::vector<CheckCase> alike = {suite_.cases()[0], suite_.cases()[1]};
  const FreshCase fresh = draw();
  const CaseRun run = answer_off_by(3 * alike.front().allowed[k_output], fresh);
  EXPECT_TRUE(judge_fresh(problem_, alike, fresh, run, k_nan_poison));
  alike[1].allowed[k_output] *= 5;
  EXPECT_FALSE(judge_fresh(problem_, alike, fresh, run, k_nan_poison));
}

TEST_F(FreshData, shares_nothing_with_data_that_were_seen) {
  const auto product = [](const InputValues& inputs, std::size_t query, std::size_t key, std::size_t length) {
    double sum = 0;
    for (std::size_t i = 0; i < length; ++i) {
      sum += static_cast<double>(inputs[0][query * length + i]) * static_cast<double>(inputs[1][key * length + i]);
    }
    return sum;
  };
  const FreshCase first = draw();
  const FreshCase second = draw();
  for (const InputValues* seen : {&like().inputs, &second.one.inputs}) {
    for (std::size_t row = 0; row < 20; ++row) {
      EXPECT_GT(std::abs(product(first.one.inputs, row, row, 8) - product(*seen, row, row, 8)), 1e-6) << row;
    }
    for (std::size_t input = 0; input < 3; ++input) EXPECT_NE(first.one.inputs[input], (*seen)[input]);
  }
}

TEST_F(FreshData, is_judged_right_when_it_is) {
  const FreshCase fresh = draw();
  const auto failure = judge(fresh, right_answer(fresh));
  EXPECT_FALSE(failure) << failure->sentence << ": " << failure->detail;
}

// A row of one element may be near zero in the timing case and large in the new data, where the same relative error is
// many times the old row.
TEST_F(FreshData, is_judged_by_the_size_of_its_own_rows) {
  const auto narrow = with_axes(small_problem(), {"Dv=1"});
  ASSERT_TRUE(narrow) << narrow.error().to_string();
  problem_ = *narrow;
  suite_ = CheckSuite::make(problem_, 3, serial_for).value();
  suite_.allow_errors(problem_, std::vector<std::vector<double>>(suite_.cases().size(), {1e-3}));
  const double allowed = like().allowed.at(k_output);
  for (int draws = 0; draws < 20; ++draws) {
    const FreshCase fresh = draw();
    const auto off_by = [&](double share) {
      CaseRun run = right_answer(fresh);
      const AnswerSample& sample = fresh.answers.at(k_output);
      for (std::size_t i = 0; i < sample.elements.size(); ++i) {
        const double value = sample.values[i] * (1.0 + share * allowed);
        set(run, static_cast<std::size_t>(sample.elements[i]), static_cast<float>(value));
      }
      return judge(fresh, run);
    };
    const auto failure = off_by(0.9);
    EXPECT_FALSE(failure) << failure->sentence << ": " << failure->detail;
    EXPECT_TRUE(off_by(2.0));
  }
}

TEST_F(FreshData, shows_what_is_wrong) {
  const FreshCase fresh = draw();
  CaseRun wrong = right_answer(fresh);
  set(wrong, 42, 3.0F);
  const auto failure = judge(fresh, wrong);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reason, Reason::wrong_result);
  EXPECT_EQ(failure->sentence, "O is wrong");
  EXPECT_EQ(failure->detail.substr(0, failure->detail.find(": expected")),
            "new data: 1 of 320 sampled elements are over the limit; O[B=0, Hq=0, Sq=5, Dv=2]");
}

// The other may turn out to be right, when the oracle is asked about it.
TEST_F(FreshData, shows_an_output_that_was_not_written_before_one_that_is_wrong) {
  auto two = parse_problem(R"(
name = "test/two_outputs"
op = "attention"
description = "results and logarithms"
[axes]
B = 1
Hq = 2
Sq = 20
Skv = 20
D = 8
[attention]
dtype = "f32"
lse = true
[[workload]]
name = "odd"
role = "edge"
Sq = 7
)",
                           "two.toml");
  ASSERT_TRUE(two) << two.error().to_string();
  problem_ = *std::move(two);
  suite_ = CheckSuite::make(problem_, 3, serial_for).value();
  suite_.allow_errors(problem_, std::vector<std::vector<double>>(suite_.cases().size(), {1e-6, 1e-6}));
  const FreshCase fresh = draw();
  CaseRun run = right_answer(fresh);
  ASSERT_EQ(run.outputs.size(), 2U);
  set(run, 42, 3.0F);
  EXPECT_EQ(judge(fresh, run)->reason, Reason::wrong_result);
  std::memset(run.outputs[1].data(), 0xff, sizeof(float));
  EXPECT_EQ(judge(fresh, run)->reason, Reason::not_finite);
  std::memcpy(run.outputs[1].data(), &k_nan_poison.outputs, sizeof(float));
  EXPECT_EQ(judge(fresh, run)->reason, Reason::output_unwritten);
}

TEST_F(FreshData, counts_what_is_unwritten_or_nan_wherever_it_is) {
  FreshCase fresh = draw();
  fresh.answers.at(k_output) = {{0}, {fresh.answers.at(k_output).values.front()}};
  CaseRun run = right_answer(fresh);
  set(run, 100, std::numeric_limits<float>::quiet_NaN());
  ASSERT_TRUE(judge(fresh, run));
  EXPECT_EQ(judge(fresh, run)->reason, Reason::not_finite);
  set(run, 101, std::bit_cast<float>(k_nan_poison.outputs));
  EXPECT_EQ(judge(fresh, run)->reason, Reason::output_unwritten);
}

/// Of large operands that a device draws, the oracle's rows have the same numbers as if all had been drawn.
TEST(FreshDataForADevice, is_drawn_where_the_oracle_reads_and_answered_alike) {
  auto large = parse_problem(R"(
name = "test/large"
op = "attention"
description = "queries, keys and values that a device draws"
[axes]
B = 2
Hq = 4
Hkv = 2
Sq = 4096
Skv = 8192
D = 64
[attention]
dtype = "bf16"
[[workload]]
name = "odd"
role = "edge"
Sq = 7
)",
                             "large.toml");
  ASSERT_TRUE(large) << large.error().to_string();
  const WorkloadCosts costs(*large);
  Rng rng(9);
  Rng alike = rng;
  CheckCase like;
  like.inputs.resize(3);
  const FreshCase whole = draw_fresh(*large, like, costs, rng);
  const FreshCase parts = draw_fresh(*large, like, costs, alike, serial_for, nullptr, {.on_device = true});
  ASSERT_EQ(parts.answers.at(k_output).elements, whole.answers.at(k_output).elements);
  EXPECT_EQ(parts.answers.at(k_output).values, whole.answers.at(k_output).values);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(parts.one.random.at(i)) << i;
    EXPECT_EQ(parts.one.random[i]->tensor, whole.one.random.at(i).value().tensor) << i;
    EXPECT_FALSE(parts.one.random[i]->all_drawn) << i;
    EXPECT_TRUE(whole.one.random[i]->all_drawn) << i;
  }
  EXPECT_NE(parts.one.inputs[0], whole.one.inputs[0]) << "most queries nobody asks for";
}

}  // namespace
}  // namespace kw
