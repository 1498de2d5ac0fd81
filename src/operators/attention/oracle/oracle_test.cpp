#include "problem/oracle.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <thread>

#include "base/rng.hpp"
#include "mod/analysis/analysis.hpp"
#include "mod/expression/expr_builder.hpp"
#include "operators/attention/attention.hpp"

namespace kw {
namespace {

struct Case {
  std::string label;
  std::string axes;
  std::string mods;
  std::string tensors = {};
};

Problem problem_of(const Case& test) {
  auto problem = parse_problem("name = \"t\"\nop = \"attention\"\n[axes]\n" + test.axes + "\n" + test.tensors +
                                   "\n[attention]\ndtype = \"f32\"\n" + test.mods +
                                   "\n[[workload]]\nname = \"w\"\nrole = \"edge\"\n",
                               test.label);
  EXPECT_TRUE(problem.has_value()) << (problem ? "" : problem.error().to_string());
  return *std::move(problem);
}

InputValues random_inputs(const Problem& problem, std::uint64_t seed) {
  Rng rng(seed);
  InputValues inputs;
  for (const auto& tensor : problem.inputs) {
    std::vector<float> values(static_cast<std::size_t>(element_count(tensor, problem.primary().axes).value()));
    for (auto& value : values) value = static_cast<float>(rng.normal());
    inputs.push_back(std::move(values));
  }
  auto captures = draw_captures(problem.captures, problem.primary().axes, seed).value();
  for (std::size_t i = 0; i < problem.captures.size(); ++i) {
    inputs[problem.operand_count() + i] = std::move(captures.at(problem.captures[i].declared.name).values);
  }
  return inputs;
}

struct Element {
  double value = 0.0;
  double lse = 0.0;
};

/// The definition again, one output element at a time, with nothing shared: no blocks, no row evaluator.
Element element_by_definition(const Problem& problem, const CaptureData& captures, const InputValues& in,
                              std::int64_t b, std::int64_t h, std::int64_t q, std::int64_t dv) {
  const auto& axes = problem.primary().axes;
  const auto extent = [&](const char* name) { return axes.at(name); };
  const auto g = h / (extent("Hq") / extent("Hkv"));
  const auto at = [](const std::vector<float>& tensor, std::int64_t index) {
    return static_cast<double>(tensor[static_cast<std::size_t>(index)]);
  };
  const auto& spec = *attention_of(problem);
  double sum = 0.0;
  double weights = 0.0;
  for (std::int64_t k = 0; k < extent("Skv"); ++k) {
    double score = 0.0;
    for (std::int64_t d = 0; d < extent("D"); ++d) {
      score += at(in[0], ((b * extent("Hq") + h) * extent("Sq") + q) * extent("D") + d) *
               at(in[1], ((b * extent("Hkv") + g) * extent("Skv") + k) * extent("D") + d);
    }
    const ModPoint point{score * spec.scale_for(axes), b, h, q, k};
    const double modified = spec.score_mod ? evaluate(*spec.score_mod, axes, point, captures) : point.score;
    if (spec.mask_mod && evaluate(*spec.mask_mod, axes, point, captures) == 0.0) continue;
    const double weight = std::exp(modified);
    weights += weight;
    sum += weight * at(in[2], ((b * extent("Hkv") + g) * extent("Skv") + k) * extent("Dv") + dv);
  }
  return {weights == 0.0 ? 0.0 : sum / weights, std::log(weights)};
}

const std::vector<Case> k_cases = {
    {"plain", "B = 1\nHq = 2\nSq = 35\nD = 8", ""},
    {"batches", "B = 3\nHq = 2\nSq = 5\nD = 4", ""},
    {"grouped heads", "B = 2\nHq = 6\nHkv = 2\nSq = 7\nD = 4", ""},
    {"more keys than a block", "B = 1\nHq = 1\nSq = 3\nSkv = 600\nD = 5", ""},
    {"more queries than keys", "B = 1\nHq = 2\nSq = 70\nSkv = 9\nD = 4", "mask_mod = \"lambda b,h,q,k: q >= k\""},
    {"other value size", "B = 1\nHq = 2\nSq = 6\nSkv = 11\nD = 4\nDv = 37", ""},
    {"scale", "B = 1\nHq = 1\nSq = 6\nD = 4", "scale = 0.125"},
    {"masked rows", "B = 1\nHq = 2\nSq = 20\nSkv = 8\nD = 4", "mask_mod = \"lambda b,h,q,k: (q >= k) & (q - k < 4)\""},
    {"all masked", "B = 1\nHq = 1\nSq = 4\nD = 4", "mask_mod = \"lambda b,h,q,k: k < 0\""},
    {"alibi with grouped heads", "B = 1\nHq = 4\nHkv = 2\nSq = 9\nSkv = 70\nD = 4",
     "score_mod = \"lambda s,b,h,q,k: s + torch.exp2(-((h + 1) * 8.0 / Hq)) * (k - q)\""},
    {"softcap", "B = 1\nHq = 1\nSq = 9\nD = 4", "score_mod = \"lambda s,b,h,q,k: 2 * torch.tanh(s / 2)\""},
    {"minus infinity from a score mod", "B = 1\nHq = 1\nSq = 9\nD = 4",
     "score_mod = \"lambda s,b,h,q,k: torch.where((q >= k) & (q != 5), s, -torch.inf)\""},
    {"lse", "B = 2\nHq = 2\nHkv = 1\nSq = 35\nSkv = 20\nD = 4\nDv = 3",
     "lse = true\nmask_mod = \"lambda b,h,q,k: (q >= k) & (q - k < 4 + b)\"\n"
     "score_mod = \"lambda s,b,h,q,k: s + 40 * h\""},
    {"masks per batch and head", "B = 2\nHq = 3\nSq = 9\nD = 4", "mask_mod = \"lambda b,h,q,k: k <= h + 2 * b\""},
};

void expect_the_definition(const Problem& problem, const std::string& label) {
  constexpr std::uint64_t k_seed = 7;
  const auto inputs = random_inputs(problem, k_seed);
  const auto outputs = evaluate_oracle(problem, problem.primary(), inputs).value();
  ASSERT_EQ(outputs.size(), problem.outputs.size());
  const auto captures = draw_captures(problem.captures, problem.primary().axes, k_seed).value();
  const auto& axes = problem.primary().axes;
  std::size_t index = 0;
  for (std::int64_t b = 0; b < axes.at("B"); ++b) {
    for (std::int64_t h = 0; h < axes.at("Hq"); ++h) {
      for (std::int64_t q = 0; q < axes.at("Sq"); ++q) {
        for (std::int64_t dv = 0; dv < axes.at("Dv"); ++dv, ++index) {
          const auto expected = element_by_definition(problem, captures, inputs, b, h, q, dv);
          const auto place = fmt::format("{} at {},{},{},{}", label, b, h, q, dv);
          ASSERT_NEAR(outputs[0][index], expected.value, 1e-12) << place;
          if (outputs.size() == 1) continue;
          const double lse = outputs[1][index / static_cast<std::size_t>(axes.at("Dv"))];
          if (std::isinf(expected.lse)) {
            ASSERT_EQ(lse, expected.lse) << place;
          } else {
            ASSERT_NEAR(lse, expected.lse, 1e-12) << place;
          }
        }
      }
    }
  }
  ASSERT_EQ(index, outputs[0].size()) << label;
}

TEST(AttentionOracle, agrees_with_the_definition_element_by_element) {
  for (const auto& test : k_cases) expect_the_definition(problem_of(test), test.label);
}

/// The captured tensors come as inputs, after Q, K and V. The expressions are made by hand, to stand without the
/// parser.
TEST(AttentionOracle, reads_captured_tensors_of_each_batch) {
  auto problem = problem_of({"documents", "B = 2\nHq = 2\nSq = 20\nD = 4\nParts = 4", "lse = true",
                             "[tensors.slope]\ndtype = \"f32\"\naxes = [\"Hq\"]\ngenerator = \"normal\"\n"
                             "[tensors.offset]\ndtype = \"i32\"\naxes = [\"B\", \"Parts\"]\n"
                             "generator = \"offsets\"\ntotal = \"Skv\"\n"
                             "[tensors.document]\ndtype = \"i32\"\naxes = [\"B\", \"Skv\"]\n"
                             "generator = \"documents\"\nfrom = \"offset\"\n"});
  auto spec = *attention_of(problem);
  ModFunction mask;
  ExprBuilder masks(mask);
  const auto& document = problem.captures[2].declared;
  const auto batch = masks.leaf(ExprOp::batch);
  mask.root = masks.binary(ExprOp::equal, masks.gather(document, {batch, masks.leaf(ExprOp::query)}),
                           masks.gather(document, {batch, masks.leaf(ExprOp::key)}));
  spec.mask_mod = mask;
  ModFunction bias;
  ExprBuilder biases(bias);
  const auto slope = biases.gather(problem.captures[0].declared, {biases.leaf(ExprOp::head)});
  const auto key = biases.convert(biases.leaf(ExprOp::key), ScalarType::real);
  bias.root = biases.binary(ExprOp::add, biases.leaf(ExprOp::score), biases.binary(ExprOp::multiply, slope, key));
  spec.score_mod = bias;
  set_attention(problem, std::move(spec));
  expect_the_definition(problem, "documents");
}

TEST(AttentionOracle, gives_exactly_zero_where_every_key_is_masked) {
  const auto problem = problem_of(k_cases[7]);
  const auto output = evaluate_oracle(problem, problem.primary(), random_inputs(problem, 1)).value()[0];
  for (std::size_t i = 11 * 4; i < 20 * 4; ++i) EXPECT_EQ(output[i], 0.0) << i;  // rows 11 to 19 of head 0
  EXPECT_NE(output[10 * 4], 0.0);
}

TEST(AttentionOracle, gives_the_logarithm_of_the_sum_of_exponentials) {
  const auto problem = problem_of(
      {"lse", "B = 1\nHq = 1\nSq = 2\nSkv = 3\nD = 1", "lse = true\nscale = 1\nmask_mod = \"lambda b,h,q,k: q > 0\""});
  const auto lse = evaluate_oracle(problem, problem.primary(), {{1, 1}, {900, 900, 898}, {1, 2, 3}}).value()[1];
  EXPECT_EQ(lse[0], -INFINITY);
  EXPECT_DOUBLE_EQ(lse[1], 900.0 + std::log(2.0 + std::exp(-2.0)));
}

TEST(AttentionOracle, does_not_round_to_the_type_of_the_output) {
  auto problem = problem_of({"f16", "B = 1\nHq = 1\nSq = 1\nSkv = 3\nD = 1", "scale = 1"});
  for (const DType dtype : {DType::f16, DType::bf16}) {
    auto spec = *attention_of(problem);
    spec.dtype = dtype;
    set_attention(problem, std::move(spec));
    const auto output = evaluate_oracle(problem, problem.primary(), {{1}, {0, 0, 0}, {0, 0, 1}}).value()[0];
    EXPECT_DOUBLE_EQ(output[0], 1.0 / 3.0) << to_string(dtype);
  }
}

TEST(AttentionOracle, survives_scores_that_overflow_exp) {
  const auto problem = problem_of(
      {"large", "B = 1\nHq = 1\nSq = 2\nSkv = 3\nD = 1", "score_mod = \"lambda s,b,h,q,k: s + k * 5000.0\""});
  const auto output = evaluate_oracle(problem, problem.primary(), {{1, 1}, {0, 0, 0}, {1, 2, 3}}).value()[0];
  EXPECT_EQ(output, (std::vector<double>{3, 3}));
}

/// As torch does in f32: -1e9 + score is -1e9, and a row of nothing else is the mean of V.
TEST(AttentionOracle, keys_that_all_lose_count_alike) {
  for (const char* low : {"-1e9", "-1e20", "-1e30", "torch.finfo(torch.float32).min"}) {
    for (const std::string form : {"torch.where(k > 9, s, {})", "s + torch.where(k > 9, 0.0, {})"}) {
      std::string mod = form;
      mod.replace(mod.find("{}"), 2, low);
      const auto problem = problem_of(
          {mod, "B = 1\nHq = 1\nSq = 1\nSkv = 3\nD = 1", "lse = true\nscore_mod = \"lambda s,b,h,q,k: " + mod + "\""});
      const auto outputs = evaluate_oracle(problem, problem.primary(), {{1}, {-2, 0, 2}, {1, 2, 6}}).value();
      EXPECT_DOUBLE_EQ(outputs[0][0], 3.0) << mod;
      EXPECT_LT(outputs[1][0], -9e8) << mod;
      EXPECT_TRUE(std::isfinite(outputs[1][0])) << mod;
    }
  }
  // Twice the smallest float is minus infinity, and masks.
  const auto twice = problem_of({"twice", "B = 1\nHq = 1\nSq = 1\nSkv = 3\nD = 1",
                                 "score_mod = \"lambda s,b,h,q,k: s + 2 * torch.finfo(torch.float32).min\""});
  EXPECT_EQ(evaluate_oracle(twice, twice.primary(), {{1}, {0, 0, 0}, {1, 2, 6}}).value()[0][0], 0.0);
}

TEST(AttentionOracle, does_not_hide_nan_inputs) {
  const auto problem = problem_of({"nan", "B = 1\nHq = 1\nSq = 1\nSkv = 2\nD = 1", ""});
  const auto output = evaluate_oracle(problem, problem.primary(), {{1}, {1, NAN}, {1, 2}}).value()[0];
  EXPECT_TRUE(std::isnan(output[0]));
}

TEST(AttentionOracle, gives_the_same_bits_in_parallel) {
  const auto problem = problem_of(k_cases[9]);
  const auto inputs = random_inputs(problem, 3);
  const ParallelFor backwards_in_threads = [](std::int64_t count, const std::function<void(std::int64_t)>& body) {
    std::vector<std::thread> threads;
    for (std::int64_t i = count - 1; i >= 0; --i) threads.emplace_back([&body, i] { body(i); });
    for (auto& thread : threads) thread.join();
  };
  EXPECT_EQ(evaluate_oracle(problem, problem.primary(), inputs).value(),
            evaluate_oracle(problem, problem.primary(), inputs, backwards_in_threads).value());
}

TEST(OracleDeathTest, is_not_asked_for_an_operator_that_no_program_has) {
  auto problem = problem_of(k_cases[0]);
  const auto inputs = random_inputs(problem, 1);
  problem.op = "nonesuch";
  EXPECT_DEATH(static_cast<void>(evaluate_oracle(problem, problem.primary(), inputs)), "operator nonesuch");
}

}  // namespace
}  // namespace kw
