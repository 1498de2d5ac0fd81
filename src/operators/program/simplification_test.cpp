// The proof of each rule of simplification: random shapes and data, the oracle's answer to the module as it was written
// against that to what the rule made of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/rng.hpp"
#include "operators/program/oracle/oracle.hpp"
#include "program/reader/program_reader.hpp"
#include "program/simplify/simplify.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

struct ProvedRule {
  const char* rule;
  const char* forward;  ///< lines; A, B, C and D stand for random extents
  const char* inputs = "torch.rand(A, B, C)";
  const char* init = "pass";
  friend void PrintTo(const ProvedRule& one, std::ostream* out) { *out << one.rule << ": " << one.forward; }
};

const std::vector<ProvedRule> k_proved = {
    {"times_one", "return torch.sin(x * 1) + 1.0 * x - x / 1"},
    {"plus_zero", "return torch.sin(x + 0) - (x - 0.0) + (0 + x)"},
    {"one_scale", "return x * 3 * 2.5, x / 4 * 0.5, -0.5 * (x / 3), x / 3 / 0.7"},
    {"one_transpose", "return x.transpose(0, 2).permute(1, 2, 0), x.permute(2, 0, 1).permute(1, 2, 0) * 2"},
    {"one_transpose", "return x.T.t() + x.permute(0, 1), x.transpose(-1, 0).permute(1, 0)", "torch.rand(A, B)"},
    {"single_elements",
     "y = x.mean(-1, keepdim=True)\nreturn y.max(2)[0], y.sum(2, keepdim=True), y.amin(-1), y.logsumexp(2), y.prod(2)"},
    {"single_elements", "return x.sum(), x.mean((0, 1)), x.max()", "torch.rand(1, 1)"},
    {"softmax_of_one", "y = x.sum(1, keepdim=True)\nreturn torch.softmax(y, 1), F.log_softmax(y, dim=1) + x"},
    {"mish", "y = x * 9\nreturn x * torch.tanh(F.softplus(x)), torch.tanh(F.softplus(y, threshold=25.0)) * y"},
    {"minus_itself", "y = x.amax(1, keepdim=True)\nreturn torch.cos(y - y.mean(1, keepdim=True))"},
    {"one_range", "return F.relu(F.relu(x)), F.relu6(F.relu(x)), torch.clamp(F.hardtanh(x), -0.5, 3)"},
    {"one_range", "return torch.clamp(torch.clamp(x, -2, -1), 0, 1), torch.clamp(torch.clamp(x, 1, 2), max=-1)"},
    {"one_range", "return torch.clamp(torch.clamp_min(x, -0.5), max=0.5), F.hardtanh(x, -3, 1).clamp(-1, 0.25)"},
    {"sum_of_scaled", "return (self.c(x) / 3).sum(-1), (self.c(x) * 0.25).sum(2, keepdim=True)", "torch.rand(A, B, C)",
     "self.c = nn.Linear(C, D)"},
    {"sum_of_linear", "return self.c(x).sum(-1), self.c(x).sum(dim=2, keepdim=True)", "torch.rand(A, B, C)",
     "self.c = nn.Linear(C, D)"},
    {"sum_of_linear", "return self.c(x).sum(0), self.c(x * 2).sum()", "torch.rand(C)",
     "self.c = nn.Linear(C, D, bias=False)"},
    {"sum_of_product", "return (x @ more[0]).sum(-1), torch.matmul(x, more[0]).sum(2, keepdim=True)",
     "torch.rand(A, B, C), torch.rand(C, D)"},
    {"sum_of_product", "return torch.mm(x, more[0].T).sum(1)", "torch.rand(A, C), torch.rand(D, C)"},
};

std::string with_extents(std::string text, Rng& rng) {
  constexpr std::int64_t k_most = 7;
  std::map<char, std::int64_t> extents;
  for (const char name : {'A', 'B', 'C', 'D'}) extents[name] = 2 + rng.below(k_most - 1);
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool alone = i + 1 < text.size() && (text[i + 1] == ',' || text[i + 1] == ')');
    result += alone && extents.count(text[i]) > 0 ? std::to_string(extents[text[i]]) : std::string(1, text[i]);
  }
  return result;
}

/// Normal, half of the time a hundred times as large.
std::map<std::size_t, DenseTensor> random_leaves(const Program& program, Rng& rng) {
  const double scale = rng.below(2) == 0 ? 1.0 : 100.0;
  std::map<std::size_t, DenseTensor> leaves;
  for (std::size_t i = 0; i < program.graph.values.size(); ++i) {
    const auto& value = program.graph.values[i];
    if (value.node) continue;
    DenseTensor leaf{value.type.dtype, values_of(value.type.shape), {}};
    leaf.values.resize(static_cast<std::size_t>(element_count(value.type.shape).value().value()));
    for (auto& element : leaf.values) element = rng.normal() * scale;
    leaves[i] = std::move(leaf);
  }
  return leaves;
}

void expect_same_answers(const ProvedRule& one, Rng& rng) {
  const auto module = with_extents(program_test::module_text(one.forward, one.inputs, one.init), rng);
  const auto program = read_program(module, "m.py");
  ASSERT_TRUE(program) << module << program.error().to_string();
  const auto simple = simplified(program->graph, program->outputs);
  const bool applied = std::any_of(simple.applied.begin(), simple.applied.end(),
                                   [&](const AppliedRule& rule) { return rule.rule.name == one.rule; });
  EXPECT_TRUE(applied) << module;
  const auto leaves = random_leaves(*program, rng);
  const auto expected = evaluate_graph(program->graph, leaves, program->outputs);
  const auto got = evaluate_graph(simple.graph, leaves, simple.outputs);
  ASSERT_TRUE(expected && got) << module << (expected ? got.error() : expected.error()).to_string();
  for (std::size_t i = 0; i < expected->size(); ++i) {
    const auto& right = (*expected)[i].values;
    ASSERT_EQ((*got)[i].values.size(), right.size()) << module;
    double largest = 1.0;
    for (const double element : right) largest = std::max(largest, std::fabs(element));
    for (std::size_t k = 0; k < right.size(); ++k) {
      ASSERT_NEAR((*got)[i].values[k], right[k], 1e-11 * largest) << module << "output " << i << ", element " << k;
    }
  }
}

class SimplificationProof : public testing::TestWithParam<ProvedRule> {};

TEST_P(SimplificationProof, gives_the_answers_of_the_module_as_it_was_written) {
  const char* chosen = std::getenv("KW_TEST_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 20261123;
  Rng rng(seed);
  for (int round = 0; round < 25; ++round) {
    SCOPED_TRACE(fmt::format("KW_TEST_SEED={}, round {}", seed, round));
    expect_same_answers(GetParam(), rng);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, SimplificationProof, testing::ValuesIn(k_proved));

TEST(SimplificationProofs, are_there_for_every_rule) {
  for (const auto& rule : simplification_rules()) {
    const bool proved =
        std::any_of(k_proved.begin(), k_proved.end(), [&](const ProvedRule& one) { return one.rule == rule.name; });
    EXPECT_TRUE(proved) << rule.name;
  }
}

}  // namespace
}  // namespace kw
