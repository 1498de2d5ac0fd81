// Softmaxes of rows that are done in parts on a processor, each with its own maximum, through the whole verifier.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_processor.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_units = 2;
/// Of a first cache in which rows are done in parts, whatever this machine has.
constexpr std::int64_t k_l1_bytes = 32 << 10;
constexpr const char* k_in_parts = "PART_COLUMNS";

struct PartsCase {
  ModuleCase module;
  bool in_parts = true;
};

/// 131 rows are enough for two units to be done ahead. Of 1203 columns, 179 are in the second part and 3 in no lanes.
const std::vector<PartsCase> k_parts = {
    {{"softmax", "torch.softmax(x * 9, -1)", "", "torch.randn(131, 1203)"}},
    {{"one_part", "torch.softmax(x, -1)", "", "torch.randn(131, 520)"}},
    {{"softmax_of_f16", "torch.softmax(x, -1)", "", "torch.randn(131, 2051).half()"}},
    {{"softmin_of_many_axes", "F.softmin(x, -1) * more[0]", "", "torch.randn(3, 5, 11, 1100), torch.rand(1100)"}},
    {{"rows_at_lines", "torch.softmax(x, -1)", "", "torch.randn(520, 2048)"}},
    {{"first_part_masked", "torch.softmax(x + torch.where(torch.arange(1203) < 1100, -torch.inf, 0.0), -1)", "",
      "torch.randn(131, 1203)"}},
    {{"last_part_masked", "torch.softmax(x + torch.where(torch.arange(1203) > 900, -torch.inf, 0.0), -1)", "",
      "torch.randn(131, 1203)"}},
    {{"parts_far_apart", "torch.softmax(x + torch.where(torch.arange(1203) < 1024, 0.0, 200.0), -1)", "",
      "torch.randn(131, 1203)"}},
    {{"map_of_softmax", "F.relu(torch.softmax(x, -1) - 0.001)", "", "torch.randn(131, 1203)"}},
    {{"log_softmax", "F.log_softmax(x, -1)", "", "torch.randn(131, 1203)"}},
    {{"log_softmax_of_parts_far_apart", "F.log_softmax(x - torch.where(torch.arange(1203) < 1100, 300.0, 0.0), -1)", "",
      "torch.randn(131, 1203)"}},
    {{"log_softmax_of_masked", "F.log_softmax(x + torch.where(torch.arange(1203) < 1100, -torch.inf, 0.0), -1) / 2", "",
      "torch.randn(131, 1203)"}},
    {{"log_softmax_of_rows_at_lines", "F.log_softmax(x * 3, -1)", "", "torch.randn(520, 2048)"}},
    {{"differences_used_twice", "F.log_softmax(x, -1) + (x - x.amax(-1, keepdim=True))", "", "torch.randn(131, 1203)"},
     false},
    {{"short_rows", "torch.softmax(x, -1)", "", "torch.randn(131, 403)"}, false},
    {{"few_rows", "torch.softmax(x, -1)", "", "torch.randn(9, 1203)"}, false},
    {{"exponentials_used_twice", "torch.softmax(x, -1) + torch.exp(x - x.amax(-1, keepdim=True))", "",
      "torch.randn(131, 1203)"},
     false},
    {{"what_could_hide_a_nan", "torch.where(x > 0, torch.softmax(x, -1), 0.0)", "", "torch.randn(131, 1203)"}, false},
    {{"sums_of_other_exponentials", "torch.exp(x - x.amax(-1, keepdim=True)) / torch.exp(x).sum(-1, keepdim=True)", "",
      "torch.randn(131, 1203)"},
     false},
};

class RowParts : public ModulesOnProcessor<PartsCase> {};

TEST_P(RowParts, are_accepted) {
  const Problem read = problem(GetParam().module);
  const Bundle bundle = emitted(read, k_units, k_l1_bytes);
  EXPECT_EQ(bundle.source.find(k_in_parts) != std::string::npos, GetParam().in_parts) << bundle.source;
  if (GetParam().in_parts) expect_accepted(read, with_defaults(bundle, {{k_in_parts, 256}}));
  expect_accepted(read, bundle);
}

INSTANTIATE_TEST_SUITE_P(Rows, RowParts, testing::ValuesIn(k_parts),
                         [](const auto& one) { return one.param.module.name; });

/// What a softmax in parts may not leave out.
TEST_F(RowParts, are_rejected_where_parts_are_not_put_together) {
  const Problem read = problem(k_parts[0].module);
  expect_rejected(read, emitted(read, k_units, k_l1_bytes),
                  {{"part_factor = part_factors[part];", "part_factor = part_factors[0];"},
                   {"shares[part] = exp(maxima[part] - best);", "shares[part] = 1.0f;"},
                   {"sum += sums[part] * shares[part];", "sum += sums[part];"},
                   {"factors[part] /= sum;", "factors[part] *= 1.0f;"},
                   {"part < parts;", "part < parts - 1;"},
                   {"const int start = part * PART_COLUMNS;", "const int start = part * PART_COLUMNS + 1;"},
                   {"min(row + 1, last - 1)", "row"},
                   {"part_sums[part] = part_sum;", "part_sums[part] = 1.0f;"}});
}

TEST_F(RowParts, are_rejected_where_logarithms_lack_a_part_s_maximum) {
  const Problem read = problem({"log_softmax", "F.log_softmax(x, -1)", "", "torch.randn(131, 1203)"});
  expect_rejected(read, emitted(read, k_units, k_l1_bytes),
                  {{"part_term = part_terms[part];", "part_term = part_terms[0];"},
                   {"maxima[part] - row.x - log(row.y)", "maxima[part] - log(row.y)"}});
}

}  // namespace
}  // namespace kw
