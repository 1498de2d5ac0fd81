#include "verify/checking/plain_answers.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "verify/checking/storage.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

constexpr std::size_t k_output = 0;
constexpr double k_plain_error = 1e-5;

class PlainAnswers : public ::testing::Test {
 protected:
  PlainAnswers() {
    suite_.allow_errors(problem_, std::vector<std::vector<double>>(suite_.cases().size(), {k_plain_error}));
  }

  [[nodiscard]] const CheckCase& like() const { return suite_.cases().front(); }
  [[nodiscard]] std::span<const CheckCase> alike() const { return {&like(), 1}; }
  [[nodiscard]] double allowed() const { return like().allowed[k_output]; }
  /// For a device that draws operands itself, where they are large.
  [[nodiscard]] FreshCase draw() {
    return draw_fresh(problem_, like(), costs_, rng_, serial_for, nullptr, {true, 0, Answerer::plain});
  }
  /// What a right kernel leaves in its buffers but for an element, which is off by that share of its row.
  [[nodiscard]] OutputBytes answer_off_by(double share, const FreshCase& fresh) const {
    constexpr std::size_t k_element = 42, k_row_length = 8;
    auto values = evaluate_oracle(problem_, problem_.primary(), fresh.one.inputs).value()[k_output];
    const auto scales = output_scales(values, test_form(k_row_length));
    values[k_element] += share * scales.rows[k_element / k_row_length];
    return {stored(DType::f32, std::vector<float>(values.begin(), values.end()))};
  }
  [[nodiscard]] bool passes(const FreshCase& fresh, const OutputBytes& outputs) const {
    return !judge_fresh(problem_, alike(), fresh, CaseRun{{}, outputs}, k_nan_poison);
  }
  [[nodiscard]] bool is_right(FreshCase& fresh, const OutputBytes& outputs, const OutputBytes& plain) const {
    return is_right_after_all(problem_, alike(), fresh, outputs, plain, serial_for);
  }

  Problem problem_ = small_problem();
  CheckSuite suite_ = CheckSuite::make(problem_, 3, serial_for).value();
  WorkloadCosts costs_{problem_};
  Rng rng_{5};
};

TEST_F(PlainAnswers, say_what_is_right_of_fresh_data) {
  FreshCase fresh = draw();
  ASSERT_TRUE(fresh.answers.at(k_output).values.empty()) << "nobody has answered yet";
  ASSERT_EQ(fresh.answers[k_output].elements.size(), like().expected[k_output].size()) << "all of a small output";
  take_answers(problem_, answer_off_by(0, fresh), fresh);
  EXPECT_TRUE(passes(fresh, answer_off_by(0, fresh)));
  EXPECT_TRUE(passes(fresh, answer_off_by(allowed() + 0.5 * k_plain_error, fresh))) << "the plain kernel errs too";
  EXPECT_FALSE(passes(fresh, answer_off_by(1.1 * (allowed() + k_plain_error), fresh)));
}

TEST_F(PlainAnswers, are_doubted_where_a_kernel_has_missed_them) {
  FreshCase fresh = draw();
  const double far = 1.5 * (allowed() + k_plain_error);
  const OutputBytes right = answer_off_by(0, fresh);
  const OutputBytes wrong = answer_off_by(far, fresh);
  take_answers(problem_, right, fresh);
  EXPECT_FALSE(passes(fresh, wrong));
  EXPECT_FALSE(is_right(fresh, wrong, right)) << "the plain kernel is right";
  take_answers(problem_, wrong, fresh);
  EXPECT_FALSE(passes(fresh, right));
  EXPECT_TRUE(is_right(fresh, right, wrong)) << "the plain kernel errs";
  EXPECT_TRUE(is_right(fresh, answer_off_by(-far, fresh), wrong)) << "as much may others";
}

TEST_F(PlainAnswers, are_not_doubted_where_no_two_right_kernels_differ_as_much) {
  FreshCase fresh = draw();
  const OutputBytes right = answer_off_by(0, fresh);
  const OutputBytes absurd = answer_off_by(1e3, fresh);
  take_answers(problem_, absurd, fresh);
  EXPECT_FALSE(is_right(fresh, right, absurd)) << "nobody asks";
}

TEST_F(PlainAnswers, to_operands_that_a_device_draws_leave_none_to_the_host_until_somebody_doubts) {
  const auto large = with_axes(small_problem(), {"Sq=4100", "Skv=4", "D=256", "Dv=8"});
  ASSERT_TRUE(large) << large.error().to_string();
  const auto suite = CheckSuite::make(*large, 3, serial_for);
  ASSERT_TRUE(suite) << suite.error().to_string();
  const WorkloadCosts costs(*large);
  const CheckCase& like = suite->cases().front();
  Rng same = rng_;
  FreshCase fresh = draw_fresh(*large, like, costs, rng_, serial_for, nullptr, {true, 0, Answerer::plain});
  ASSERT_FALSE(fresh.one.random[0]->all_drawn) << "8 MB of queries";
  EXPECT_TRUE(fresh.one.random[1]->all_drawn) << "keys are few";
  const float* const memory = fresh.one.inputs[0].data();
  const FreshCase whole = draw_fresh(*large, like, costs, same, serial_for, nullptr, {false, 0, Answerer::plain});
  EXPECT_NE(fresh.one.inputs, whole.one.inputs);
  draw_again(*large, like, fresh, serial_for);
  EXPECT_EQ(fresh.one.inputs, whole.one.inputs);
  EXPECT_EQ(fresh.one.inputs[0].data(), memory) << "whoever looks at them still does";
}

TEST_F(PlainAnswers, are_compared_in_blocks_with_the_first_and_the_last) {
  for (const std::int64_t length : {8, 1000, 4096, 100000}) {
    auto large = with_axes(small_problem(), {"Sq=" + std::to_string(length), "D=4", "Skv=4", "Dv=1"});
    ASSERT_TRUE(large) << large.error().to_string();
    large->workloads.front().axes["B"] = 1 + 3000000 / length;
    large->outputs.front().axes = {"B", "Sq"};
    const Axes& axes = large->primary().axes;
    const auto places = places_to_compare(*large, axes, rng_);
    const auto& elements = places.at(k_output).elements;
    EXPECT_EQ(elements.front(), 0) << length;
    EXPECT_EQ(elements.back(), element_count(large->outputs[k_output], axes).value() - 1) << length;
    EXPECT_TRUE(std::ranges::is_sorted(elements)) << length;
    EXPECT_GT(elements.size(), 240000U) << length;
    EXPECT_LE(elements.size(), 262144U) << length;
    EXPECT_NE(elements, places_to_compare(*large, axes, rng_).at(k_output).elements) << "no kernel may know which";
    std::int64_t runs = 1;
    for (std::size_t i = 1; i < elements.size(); ++i) runs += elements[i] == elements[i - 1] + 1 ? 0 : 1;
    EXPECT_GE(runs, 50) << length << ": of 64 blocks at least, some beside each other";
  }
}

}  // namespace
}  // namespace kw
