#include "verify/checking/check_suite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <span>

#include "base/bfloat.hpp"
#include "base/rng.hpp"
#include "problem/operator.hpp"
#include "problem/workload_costs.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/checking/fresh_data.hpp"
#include "verify/checking/storage.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

TEST(CheckSuite, covers_every_workload_under_the_distributions_that_suit_it) {
  const auto problem = small_problem();
  const auto suite = CheckSuite::make(problem, 1, serial_for);
  ASSERT_TRUE(suite);
  // Two timing cases and four more distributions on the primary, five on each of the others; nothing to level.
  EXPECT_EQ(suite->cases().size(), 2 + 4 + 2 * 5);
  EXPECT_NE(suite->cases()[0].inputs, suite->cases()[1].inputs) << "timing data must be fresh";
}

TEST(CheckSuite, keeps_every_workload_and_spreads_the_distributions_where_not_all_cases_fit) {
  const auto problem = small_problem();
  const auto least = CheckSuite::make(problem, 1, serial_for, {std::numeric_limits<double>::infinity(), 0}).value();
  ASSERT_EQ(least.cases().size(), 3);
  EXPECT_EQ(least.cases_left_out(), 13);
  std::set<std::size_t> workloads;
  std::set<Distribution> distributions;
  for (const auto& one : least.cases()) {
    workloads.insert(one.workload);
    distributions.insert(one.distribution);
  }
  EXPECT_EQ(workloads.size(), 3);
  EXPECT_EQ(distributions.size(), 3);

  double whole = 0;
  const CheckSuite all = CheckSuite::make(problem, 1, serial_for).value();
  for (const auto& one : all.cases()) whole += cost(problem, problem.workloads[one.workload]).flops;
  EXPECT_EQ(all.cases_left_out(), 0);
  double half = 0;
  const auto part = CheckSuite::make(problem, 1, serial_for, {std::numeric_limits<double>::infinity(), whole / 2});
  for (const auto& one : part->cases()) half += cost(problem, problem.workloads[one.workload]).flops;
  EXPECT_LE(half, whole / 2);
  EXPECT_GT(part->cases().size(), 6) << "the small workloads' cases fit";
  EXPECT_EQ(part->cases().size() + part->cases_left_out(), all.cases().size());
}

TEST(CheckSuite, has_rows_of_large_workloads_answered_and_takes_the_baselines_output_for_the_rest) {
  const auto problem = small_problem();
  constexpr double k_unlimited = std::numeric_limits<double>::infinity();
  const double small = cost(problem, problem.workloads[1]).flops;
  auto suite = CheckSuite::make(problem, 1, serial_for, {k_unlimited, k_unlimited, small}).value();
  const auto whole = CheckSuite::make(problem, 1, serial_for).value();
  ASSERT_FALSE(suite.cases()[0].sampled.empty()) << "the primary is larger";
  EXPECT_TRUE(suite.cases()[0].expected.empty());
  EXPECT_GE(suite.sampled().rows, 32);
  const AnswerSample& rows = suite.cases()[0].sampled[0];
  const std::vector<double> all = whole.cases()[0].expected[0].numbers();
  for (std::size_t i = 0; i < rows.elements.size(); ++i) {
    ASSERT_EQ(rows.values[i], all[static_cast<std::size_t>(rows.elements[i])]);
  }
  EXPECT_EQ(rows.elements.front(), 0);
  EXPECT_EQ(suite.cases().back().inputs, whole.cases().back().inputs) << "choosing rows changes no data";
  for (std::size_t i = 0; i < suite.cases().size(); ++i) {
    if (!suite.cases()[i].sampled.empty()) suite.adopt(i, whole.cases()[i].expected, whole.cases()[i].scales, {0.25});
  }
  std::vector<std::vector<double>> errors(suite.cases().size(), {0.25});
  suite.allow_errors(problem, errors);
  const CheckCase& adopted = suite.cases()[0];
  EXPECT_EQ(adopted.expected, whole.cases()[0].expected);
  EXPECT_EQ(adopted.limit(0), adopted.allowed[0] + 0.25) << "what is compared with may be wrong by as much";
  EXPECT_EQ(adopted.form(problem, 0).roundings, 2);
  const auto of_oracle = std::find_if(suite.cases().begin(), suite.cases().end(),
                                      [](const CheckCase& one) { return one.sampled.empty(); });
  ASSERT_NE(of_oracle, suite.cases().end());
  EXPECT_EQ(of_oracle->limit(0), of_oracle->allowed[0]);
  EXPECT_EQ(of_oracle->form(problem, 0).roundings, 1);
}

TEST(CheckSuite, draws_large_inputs_again_and_does_not_keep_them) {
  const auto problem = small_problem();
  constexpr double k_unlimited = std::numeric_limits<double>::infinity();
  const double small = cost(problem, problem.workloads[1]).flops;
  const auto kept = CheckSuite::make(problem, 1, serial_for, {k_unlimited, k_unlimited, small}).value();
  auto drawn = CheckSuite::make(problem, 1, serial_for, {k_unlimited, k_unlimited, small, 0}).value();
  EXPECT_EQ(drawn.sampled().cases, 0) << "the oracle is asked when their turn comes";
  for (std::size_t i = 0; i < drawn.cases().size(); ++i)
    ASSERT_TRUE(drawn.answer_large(problem, i, serial_for, nullptr));
  EXPECT_EQ(drawn.sampled().cases, kept.sampled().cases);
  EXPECT_EQ(drawn.sampled().rows, kept.sampled().rows);
  ASSERT_EQ(drawn.cases().size(), kept.cases().size());
  std::size_t large = 0;
  for (std::size_t i = 0; i < drawn.cases().size(); ++i) {
    const CheckCase& one = drawn.cases()[i];
    const CheckCase& like = kept.cases()[i];
    EXPECT_FALSE(like.draw);
    EXPECT_EQ(static_cast<bool>(one.draw), !one.sampled.empty()) << "the oracle has read all of the others";
    EXPECT_EQ(*inputs_of(one), like.inputs) << one.distribution.name;
    for (std::size_t input = 0; input < one.random.size(); ++input) {
      ASSERT_EQ(one.random[input].has_value(), like.random[input].has_value());
      if (!one.random[input]) continue;
      EXPECT_EQ(one.random[input]->tensor, like.random[input]->tensor);
    }
    if (!one.draw) continue;
    ++large;
    for (std::size_t input = 0; input < problem.operand_count(); ++input) EXPECT_TRUE(one.inputs[input].empty());
    for (std::size_t output = 0; output < one.sampled.size(); ++output)
      EXPECT_EQ(one.sampled[output].values, like.sampled[output].values);
  }
  EXPECT_GE(large, k_timing_cases + 4);
}

/// A layer norm of rows far from 0 among others: what it says of them is what subtractions leave.
Problem normalising_problem() {
  auto problem = parse_problem(R"(
name = "program/norm"
op = "program"
[axes]
B = 5
N = 12
[program]
module = '''
import torch
import torch.nn as nn
B = 5
N = 12
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(N)
    def forward(self, x):
        return self.norm(x)
def get_inputs():
    return [torch.randn(B, N)]
'''
[[workload]]
name = "other"
role = "edge"
B = 3
)",
                               "norm.toml");
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

TEST(CheckSuite, allows_what_roundings_of_the_inputs_do_where_the_plain_kernel_was_lucky) {
  const Problem problem = normalising_problem();
  auto suite = CheckSuite::make(problem, 1, serial_for).value();
  suite.allow_errors(problem, std::vector<std::vector<double>>(suite.cases().size(), {0.0}));
  const auto allowed_on = [&](std::string_view distribution) {
    const auto one =
        std::ranges::find(suite.cases(), distribution, [](const CheckCase& each) { return each.distribution.name; });
    KW_CHECK(one != suite.cases().end(), "no case has {}", distribution);
    EXPECT_GE(one->limit(0), std::min(one->conditioning, distribution == "normal" ? 1e-4 : 1e-3));
    return one->limit(0);
  };
  EXPECT_GT(allowed_on("far"), 2e-5);
  EXPECT_LE(allowed_on("far"), 1e-3);
  EXPECT_LT(allowed_on("normal"), 2e-5) << "products of fewer bits must not hide in it";
}

TEST(CheckSuite, leaves_out_workloads_that_are_too_large_but_never_the_smallest) {
  const auto problem = small_problem();
  const double second = cost(problem, problem.workloads[2]).flops;
  const auto suite =
      CheckSuite::make(problem, 1, serial_for, {second, std::numeric_limits<double>::infinity()}).value();
  EXPECT_EQ(suite.left_out(), std::vector<std::size_t>{0});
  EXPECT_EQ(suite.cases_left_out(), 0) << "of the workloads that are in";
  const auto least = CheckSuite::make(problem, 1, serial_for, {1, std::numeric_limits<double>::infinity()}).value();
  EXPECT_EQ(least.left_out().size(), 2);
}

TEST(CheckSuite, data_repeats_for_a_seed_and_differs_between_seeds) {
  const auto problem = small_problem();
  const auto& workload = problem.primary();
  for (const auto& distribution : all_distributions(problem)) {
    const auto a = make_inputs(problem, workload, distribution, 5).value().values;
    EXPECT_EQ(a, make_inputs(problem, workload, distribution, 5).value().values);
    EXPECT_NE(a, make_inputs(problem, workload, distribution, 6).value().values);
  }
}

/// One channel is rectified; with the weights that are drawn, all of a small output may be.
Problem saturated_problem() {
  const std::string module =
      "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nN = 3\nclass Model(nn.Module):\n"
      "    def __init__(self):\n        super().__init__()\n        self.w = nn.Parameter(torch.randn(2))\n"
      "    def forward(self, x):\n        return F.gelu(40 * torch.abs(x) * self.w.sum())\n"
      "def get_inputs():\n    return [torch.randn(N, 4)]\n";
  const std::string file = "saturated.py";
  const auto toml = find_operator("program")->format.from_module({module, file, "", "", {}, {1e30, 1e30}});
  KW_CHECK(toml.has_value(), "{}", toml.error().to_string());
  return parse_problem(*toml, file).value();
}

TEST(CheckSuite, draws_again_what_says_nothing_of_a_kernel) {
  const Problem problem = saturated_problem();
  const auto& conditioning = operator_of(problem).checks.conditioning;
  int cases = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const CheckSuite suite = CheckSuite::make(problem, seed, serial_for).value();
    for (std::size_t i = k_timing_cases; i < suite.cases().size(); ++i) {
      const CheckCase& one = suite.cases()[i];
      EXPECT_TRUE(conditioning(problem, problem.workloads[one.workload], one.inputs, k_most_steps_asked))
          << "seed " << seed << ", " << one.distribution.name;
      ++cases;
    }
  }
  EXPECT_GT(cases, 0);
  const WorkloadCosts costs(problem);
  Rng rng(1);
  const CheckSuite suite = CheckSuite::make(problem, 1, serial_for).value();
  int nothing = 0;
  for (int i = 0; i < 100; ++i) {
    auto fresh = draw_fresh(problem, suite.cases().front(), costs, rng);
    ask_conditioning(problem, fresh);
    EXPECT_EQ(fresh.one.tells,
              conditioning(problem, problem.primary(), fresh.one.inputs, k_most_steps_asked).has_value());
    nothing += fresh.one.tells ? 0 : 1;
  }
  EXPECT_GT(nothing, 2) << "where the weights' sum is well below zero";
  EXPECT_LT(nothing, 90);
}

TEST(Accuracy, is_relative_to_the_row_so_that_small_rows_count) {
  std::vector<double> reference(32, 100.0);
  std::fill(reference.begin() + 16, reference.end(), 0.1);
  std::vector<float> values(reference.begin(), reference.end());
  values[31] = 0.2F;
  const auto error = measure_error(std::as_bytes(std::span(values)), 0xffffffffU, reference, test_form(16), 0.1);
  EXPECT_EQ(error.worst, 31);
  EXPECT_GT(error.max_error, 0.5);
  EXPECT_EQ(error.over, 1);
}

TEST(Accuracy, rows_of_one_element_are_judged_by_the_tensor_too) {
  // The second row is nearly zero because its terms cancel: an error of one rounding of the terms is no mistake.
  const std::vector<float> got = {0.5F, 1e-6F, -0.5F, 0.5F};
  const std::vector<double> reference = {0.5, 0.0, -0.5, 0.5};
  const auto error = measure_error(std::as_bytes(std::span(got)), 0xffffffffU, reference, test_form(1), 1e-5);
  EXPECT_EQ(error.over, 0);
  EXPECT_NEAR(error.max_error, 1e-6 / (0.25 * 0.433), 1e-7);
  const auto long_row = measure_error(std::as_bytes(std::span(got)), 0xffffffffU, reference, test_form(4), 1e-5);
  EXPECT_LT(long_row.max_error, error.max_error);
}

TEST(Accuracy, short_rows_may_cancel_without_the_rounding_of_weights_being_held_against_them) {
  // 4,000 rows of three elements, each the difference of two values that two keys share: as large as its values are
  // unlike, but weights are rounded by what they are.
  Rng rng(11);
  std::vector<double> reference;
  std::vector<float> got;
  for (int row = 0; row < 4000; ++row) {
    const double weight = 0.3 + 0.4 * rng.uniform();
    std::vector<float> rounded = {static_cast<float>(weight), static_cast<float>(1.0 - weight)};
    round_to(DType::bf16, rounded);
    for (int d = 0; d < 3; ++d) {
      const double first = rng.normal(), second = rng.normal();
      reference.push_back(weight * first + (1.0 - weight) * second);
      got.push_back(static_cast<float>(rounded[0] * first + rounded[1] * second));
    }
  }
  round_to(DType::bf16, got);
  const OutputForm form = test_form(3, DType::bf16);
  const double allowed = allowed_error(form, reference.size(), 0.0);
  EXPECT_EQ(measure_error(stored(DType::bf16, got), 0xffffffffU, reference, form, allowed).over, 0);
}

TEST(Accuracy, logarithms_near_zero_are_judged_by_their_absolute_error) {
  const std::vector<float> got = {1e-3F, -2e-3F};
  const std::vector<double> reference = {1.001e-3, -2e-3};
  const auto as_is = measure_error(std::as_bytes(std::span(got)), 0xffffffffU, reference, test_form(2), 1.0);
  const auto as_logarithm =
      measure_error(std::as_bytes(std::span(got)), 0xffffffffU, reference, test_form(2, DType::f32, 1.0), 1.0);
  EXPECT_GT(as_is.max_error, 1e-4);
  EXPECT_NEAR(as_logarithm.max_error, 1e-6, 1e-8);
}

TEST(Accuracy, logarithms_of_masking_values_do_not_excuse_the_others) {
  // A row of keys with -1e9 has a logarithm of -1e9; the rows beside it are as exact as ever.
  const std::vector<double> reference = {-1e9, 3.0, 4.0, -3.4e38};
  OutputForm form = test_form(4);
  form.unit = 1;
  const std::vector<float> right = {-1e9F, 3.0F, 4.0F, -3.4e38F};
  EXPECT_LT(measure_error(std::as_bytes(std::span(right)), 0xffffffffU, reference, form, 1e-6).max_error, 1e-6);
  const std::vector<float> wrong = {-1e9F, 3.1F, 4.0F, -3.4e38F};
  const auto beside = measure_error(std::as_bytes(std::span(wrong)), 0xffffffffU, reference, form, 1e-2);
  EXPECT_EQ(beside.worst, 1);
  EXPECT_EQ(beside.over, 1);
  const std::vector<float> other = {-2e9F, 3.0F, 4.0F, -3.4e38F};
  EXPECT_EQ(measure_error(std::as_bytes(std::span(other)), 0xffffffffU, reference, form, 1e-2).worst, 0);
}

TEST(Accuracy, judges_a_single_number_as_a_row_of_one) {
  const TensorSpec loss{"loss", DType::f32, {}};
  const OutputForm form = output_form(small_problem(), loss, {});
  EXPECT_EQ(form.row_length, 1);
  const std::vector<float> got = {2.002F};
  const std::vector<double> reference = {2.0};
  const auto error = measure_error(std::as_bytes(std::span(got)), 0xffffffffU, reference, form, 1e-6);
  EXPECT_EQ(error.over, 1);
  EXPECT_NEAR(error.max_error, 0.002 / 2.5, 1e-5);
}

TEST(Accuracy, counts_poison_and_what_is_not_finite) {
  const std::vector<double> reference = {1, 1, 1};
  std::vector<float> values = {1, std::numeric_limits<float>::infinity(), 1};
  const std::uint32_t poison = 0x7f7fabcdU;
  std::memcpy(&values[2], &poison, sizeof poison);
  const auto error = measure_error(std::as_bytes(std::span(values)), poison, reference, test_form(3), 1e-6);
  EXPECT_EQ(error.unwritten, 1);
  EXPECT_EQ(error.not_finite, 1);
  EXPECT_EQ(error.over, 2);
}

TEST(Accuracy, storing_the_exact_answer_as_a_half_is_no_error) {
  Rng rng(7);
  std::vector<double> reference(64);
  for (double& r : reference) r = rng.normal();
  std::vector<float> values(reference.begin(), reference.end());
  round_to(DType::f16, values);
  auto bytes = stored(DType::f16, values);
  const auto measure = [&] { return measure_error(bytes, 0xffffffffU, reference, test_form(8, DType::f16), 1e-6); };
  EXPECT_EQ(measure().over, 0);
  EXPECT_LT(measure().max_error, 1e-7) << "what the conversion from double to float costs at most";
  // One unit of the last place further is one: about 2^-11 of a typical element.
  bytes[0] ^= std::byte{1};
  EXPECT_EQ(measure().over, 1);
  EXPECT_GT(measure().max_error, 1e-5);
  EXPECT_LT(measure().max_error, 4 * least_allowed_error(DType::f16));
}

TEST(Accuracy, storing_the_exact_answer_as_a_bfloat_is_no_error) {
  Rng rng(8);
  std::vector<double> reference(64);
  for (double& r : reference) r = rng.normal();
  reference[1] = 0x1.3p-130;  // a subnormal, whose unit is that of the smallest normal number
  std::vector<float> values(reference.begin(), reference.end());
  round_to(DType::bf16, values);
  auto bytes = stored(DType::bf16, values);
  const auto measure = [&] { return measure_error(bytes, 0xffffffffU, reference, test_form(8, DType::bf16), 1e-6); };
  EXPECT_EQ(measure().over, 0);
  EXPECT_LT(measure().max_error, 1e-7) << "what the conversion from double to float costs at most";
  // One unit of the last place further is one, and not as small as one of f16.
  bytes[0] ^= std::byte{1};
  EXPECT_EQ(measure().over, 1);
  EXPECT_GT(measure().max_error, 1e-4);
  EXPECT_LT(measure().max_error, 4 * least_allowed_error(DType::bf16));
}

/// What the allowance of three units rests on: weights rounded to the type move the worst of many elements by less.
TEST(Accuracy, lets_weights_be_rounded_to_the_type_and_no_further) {
  constexpr std::uint64_t k_seed = 9;
  Rng rng(k_seed);
  constexpr std::size_t k_rows = 64;
  constexpr std::size_t k_keys = 48;
  constexpr std::size_t k_columns = 64;
  std::vector<double> exact, as_bf16, as_four_bits;
  for (std::size_t row = 0; row < k_rows; ++row) {
    std::vector<double> weights(k_keys);
    for (double& weight : weights) weight = std::exp(rng.normal() - 2.0);
    for (std::size_t d = 0; d < k_columns; ++d) {
      double sums[3] = {0, 0, 0};
      for (const double weight : weights) {
        const auto as_float = static_cast<float>(weight);
        const double value = rng.normal();
        const double coarse =
            std::ldexp(std::nearbyint(std::ldexp(weight, 3 - std::ilogb(weight))), std::ilogb(weight) - 3);
        sums[0] += static_cast<double>(as_float) * value;
        sums[1] += static_cast<double>(rounded_to_bfloat(as_float)) * value;
        sums[2] += coarse * value;
      }
      exact.push_back(sums[0]);
      as_bf16.push_back(sums[1]);
      as_four_bits.push_back(sums[2]);
    }
  }
  const OutputForm form = test_form(k_columns, DType::bf16);
  const auto worst = [&](const std::vector<double>& values) {
    const auto errors = element_errors(values, exact, form);
    return *std::max_element(errors.begin(), errors.end());
  };
  const double allowed = allowed_error(form, exact.size(), 0.0);
  EXPECT_EQ(least_allowed_error(DType::bf16), 3 * 0x1p-8);
  EXPECT_LT(worst(as_bf16), least_allowed_error(DType::bf16)) << "seed " << k_seed;
  EXPECT_GT(worst(as_four_bits), allowed) << "seed " << k_seed;
}

TEST(Accuracy, demands_minus_infinity_exactly_where_the_answer_is) {
  const double minus_infinity = -std::numeric_limits<double>::infinity();
  const std::vector<double> reference = {1.0, minus_infinity, 2.0};
  const auto judge = [&](float first, float second) {
    const std::vector<float> values = {first, second, 2.0F};
    return measure_error(std::as_bytes(std::span(values)), 0xffffffffU, reference, test_form(3), 1e-6);
  };
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(judge(1.0F, -infinity).over, 0);
  EXPECT_EQ(judge(1.0F, -infinity).not_finite, 0);
  EXPECT_EQ(judge(1.0F, -1e30F).over, 1) << "finite where it must not be";
  EXPECT_EQ(judge(1.0F, -1e30F).not_finite, 0) << "a wrong number, but a number";
  EXPECT_EQ(judge(1.0F, infinity).over, 1);
  EXPECT_EQ(judge(-infinity, -infinity).not_finite, 1) << "infinite where it must not be";
  EXPECT_EQ(judge(1.0F, std::nanf("")).not_finite, 1);
  // The infinity takes no part in the row's rms: an error of 1e-3 is still one.
  EXPECT_NEAR(judge(1.001F, -infinity).max_error, 1e-3 / std::sqrt(2.5), 3e-5);
}

TEST(Storage, holds_every_type_as_kernels_read_it) {
  const std::vector<float> values = {0.0F, 1.0F, -2.0F};
  EXPECT_EQ(stored(DType::f32, values).size(), 12U);
  EXPECT_EQ(stored(DType::f16, values),
            (std::vector{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0x3c}, std::byte{0}, std::byte{0xc0}}));
  const auto integers = stored(DType::i32, values);
  ASSERT_EQ(integers.size(), 12U);
  EXPECT_EQ(stored_element(DType::i32, integers, 2), -2.0);
  EXPECT_EQ(stored(DType::boolean, values), (std::vector{std::byte{0}, std::byte{1}, std::byte{1}}));
  std::vector<float> rounded = {1.0F / 3.0F};
  round_to(DType::f16, rounded);
  EXPECT_EQ(rounded[0], 0.333251953125F);
  EXPECT_EQ(stored(DType::bf16, values),
            (std::vector{std::byte{0}, std::byte{0}, std::byte{0x80}, std::byte{0x3f}, std::byte{0}, std::byte{0xc0}}));
  EXPECT_EQ(stored_element(DType::bf16, stored(DType::bf16, values), 2), -2.0);
  round_to(DType::bf16, rounded);
  EXPECT_EQ(rounded[0], 0.333984375F);
}

TEST(Storage, poison_is_known_again_in_elements_of_any_size) {
  std::vector<std::byte> bytes(7);
  fill_poison(bytes, 0x7bff7bffU);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(is_poison(DType::f16, bytes, 0x7bff7bffU, i)) << i;
    EXPECT_EQ(stored_element(DType::f16, bytes, i), 65504.0);
    EXPECT_TRUE(is_poison(DType::bf16, bytes, 0x7bff7bffU, i)) << i;
    EXPECT_EQ(stored_element(DType::bf16, bytes, i), 0x1.fep120) << "finite and huge as bf16 too";
  }
  EXPECT_EQ(bytes[6], std::byte{0xff}) << "a last piece shorter than the pattern is filled too";
  bytes[2] = std::byte{0};
  EXPECT_TRUE(is_poison(DType::f16, bytes, 0x7bff7bffU, 0));
  EXPECT_FALSE(is_poison(DType::f16, bytes, 0x7bff7bffU, 1));
}

}  // namespace
}  // namespace kw
