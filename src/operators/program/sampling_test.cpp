// What the oracle says of the cost of rows: by it a check decides how many of them are answered.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "operators/program/parts.hpp"
#include "operators/program/testing/image_problem.hpp"
#include "problem/operator.hpp"

namespace kw {
namespace {

using program_test::image_problem;

/// Times what the whole answer costs, in elements.
double times_apart(const std::string& forward) {
  const Problem problem = image_problem(forward);
  const auto elements = static_cast<double>(element_count(problem.outputs[0], problem.primary().axes).value());
  const AnswerWork apart = program_sampling().rows(problem, problem.primary().axes, {1e9, elements}).apart;
  EXPECT_EQ(apart.flops, 1e9);
  return apart.elements / elements;
}

TEST(ProgramSampling, counts_rows_that_follow_from_little_as_the_whole_answer) {
  EXPECT_EQ(times_apart("F.relu(x)"), 1);
  EXPECT_LT(times_apart("F.avg_pool2d(x, 2)"), 1.1);
}

/// The row of one channel reads those of all.
TEST(ProgramSampling, counts_what_each_row_follows_from) {
  EXPECT_NEAR(times_apart("torch.softmax(F.max_pool2d(x, 2), 1)"), 16 + 1, 1);
}

/// Of a few rows there is nothing to choose.
TEST(ProgramSampling, counts_nothing_where_all_rows_are_answered) {
  EXPECT_EQ(times_apart("torch.softmax(F.max_pool2d(x, 2), 1).sum((1, 2, 3))"), 1);
}

/// All rows that it has, of an output of any rank, and of two that have different ones.
TEST(ProgramSampling, answers_the_rows_that_are_asked_for) {
  for (const char* forward : {"x.mean()", "x.sum((1, 2, 3))", "torch.softmax(x, 1)", "(x.sum(3), x.mean())",
                              "F.batch_norm(x, None, None, training=True)"}) {
    SCOPED_TRACE(forward);
    const Problem problem = image_problem(forward);
    const Axes& axes = problem.primary().axes;
    InputValues inputs = {std::vector<float>(static_cast<std::size_t>(element_count(problem.inputs[0], axes).value()))};
    for (std::size_t i = 0; i < inputs[0].size(); ++i) inputs[0][i] = static_cast<float>(i * 37 % 101) / 64.0F;
    const auto whole = program_answer(problem, axes, inputs, serial_for);
    const OracleSampling sampling = program_sampling();
    const std::int64_t rows = sampling.rows(problem, axes, {}).rows;
    const std::vector<std::int64_t> some =
        rows > 1 ? std::vector<std::int64_t>{0, rows - 1} : std::vector<std::int64_t>{0};
    const auto samples = sampling.answer(problem, axes, inputs, some, serial_for);
    ASSERT_EQ(samples.size(), whole.size());
    for (std::size_t output = 0; output < samples.size(); ++output) {
      ASSERT_FALSE(samples[output].elements.empty());
      EXPECT_EQ(samples[output].elements.front(), 0);
      EXPECT_EQ(samples[output].elements.back() + 1, std::ssize(whole[output]));
      for (std::size_t i = 0; i < samples[output].elements.size(); ++i) {
        const auto element = static_cast<std::size_t>(samples[output].elements[i]);
        EXPECT_NEAR(samples[output].values[i], whole[output][element],
                    1e-12 * std::abs(whole[output][element]) + 1e-13);
      }
    }
  }
}

}  // namespace
}  // namespace kw
