// Rows on a processor whose next ones are read while this one is written, and values that a later stage reads again,
// through the whole verifier.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_processor.hpp"

namespace kw {
namespace {

constexpr const char* k_ahead = "_of_next_row";
constexpr const char* k_two_ahead = "_of_later_row";
constexpr const char* k_kept = "kept_value";
constexpr std::int64_t k_units = 2;

struct RowCase {
  ModuleCase module;
  int ahead;
  bool keeps;
};

/// 131 rows are more than 16 for each of four work-items of two units. Lengths that sixteen does not divide.
const std::vector<RowCase> k_rows = {
    {{"softmax", "torch.softmax(x * 9, -1)", "", "torch.randn(131, 403)"}, 2, true},
    {{"softmax_of_f16", "torch.softmax(x, -1)", "", "torch.randn(131, 403).half()"}, 2, true},
    {{"softmax_of_short_rows", "torch.softmax(x, -1)", "", "torch.randn(5, 31, 17)"}, 2, true},
    {{"softmin", "F.softmin(x, -1) * more[0]", "", "torch.randn(3, 7, 11, 70), torch.rand(70)"}, 2, true},
    {{"log_softmax", "F.log_softmax(x, -1)", "", "torch.randn(131, 90)"}, 2, false},
    {{"layer_norm", "torch.relu(self.n(x))", "self.n = nn.LayerNorm(303)", "torch.randn(131, 303)"}, 2, false},
    {{"layer_norm_in_parts", "self.n(x)", "self.n = nn.LayerNorm(1203)", "torch.randn(131, 1203)"}, 2, false},
    {{"instance_norm", "self.n(x)", "self.n = nn.InstanceNorm2d(19)", "torch.randn(7, 19, 13, 22)"}, 2, false},
    {{"unit_rows", "x / torch.norm(x, dim=-1, keepdim=True)", "", "torch.randn(131, 211)"}, 1, false},
    {{"root_mean_square", "x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * more[0]", "",
      "torch.randn(2, 66, 128), torch.rand(128)"},
     1,
     false},
    {{"range_of_rows", "(x - x.amin(-1, keepdim=True)) / (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True))", "",
      "torch.randn(131, 90)"},
     1,
     false},
    {{"exponentials_without_a_maximum", "torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)", "",
      "torch.randn(131, 90)"},
     1,
     true},
    {{"three_reductions", "x / x.norm(dim=-1, keepdim=True) + (x - x.amax(-1, keepdim=True)) / x.sum(-1, keepdim=True)",
      "", "torch.randn(131, 303)"},
     1,
     false},
    {{"few_rows", "torch.softmax(x, -1)", "", "torch.randn(9, 1203)"}, 0, true},
    {{"sums_of_sixteen_rows_in_parts", "x.sum(1)", "", "torch.randn(3, 1203, 37)"}, 0, false},
    {{"long_rows", "torch.softmax(x, -1)", "", "torch.randn(128, 65537)"}, 0, false},
    {{"parts_of_rows", "torch.softmax(x, -1)", "", "torch.randn(1, 262147)"}, 0, false},
    {{"columns_that_are_too_short", "torch.softmax(x, -1)", "", "torch.randn(300, 9)"}, 0, false},
};

class RowsAhead : public ModulesOnProcessor<RowCase> {};

TEST_P(RowsAhead, are_accepted) {
  const Problem read = problem(GetParam().module);
  const Bundle bundle = emitted(read, k_units);
  EXPECT_EQ(bundle.source.find(k_ahead) != std::string::npos, GetParam().ahead > 0) << bundle.source;
  EXPECT_EQ(bundle.source.find(k_two_ahead) != std::string::npos, GetParam().ahead > 1) << bundle.source;
  EXPECT_EQ(bundle.source.find(k_kept) != std::string::npos, GetParam().keeps) << bundle.source;
  expect_accepted(read, bundle);
}

INSTANTIATE_TEST_SUITE_P(Rows, RowsAhead, testing::ValuesIn(k_rows),
                         [](const auto& one) { return one.param.module.name; });

/// What the kernels of a softmax may not leave out.
TEST_F(RowsAhead, are_rejected_where_rows_or_values_are_others) {
  const Problem read = problem(k_rows[0].module);
  expect_rejected(read, emitted(read, k_units),
                  {{"min(row + 1, last - 1)", "row"},
                   {"min(row + 2, last - 1)", "row"},
                   {"store_own16(kept_value, ", "store_own16(kept_value * 0.5f, "},
                   {"over16(load_own16(kept_row + j), ", "over16(kept_value, "},
                   {"over16(load_own16(kept_row + j), ", "over16(load_own16(kept_row), "},
                   {"max_of_next_row = softmax_1_max_of_later_row;", "max_of_next_row += 0.0f;"},
                   {"for (long row = first;", "for (long row = first + 1;"}});
}

}  // namespace
}  // namespace kw
