// Large tensors on a processor, whose stores pass by the caches, whose loads are asked for ahead, and whose long rows
// are read in several places in turn, through the whole verifier.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_processor.hpp"

namespace kw {
namespace {

constexpr const char* k_at_a_line = ", 1);";
constexpr const char* k_if_at_a_line = " % 16 == 0) {";
/// Of which parts of a row are read in turn, whatever this machine has.
constexpr std::int64_t k_l1_bytes = 48 << 10;

enum class Stored : std::uint8_t { past_the_caches, if_at_a_line, into_the_caches };

struct StreamCase {
  ModuleCase module;
  Stored stored;
  int fetched;  ///< loads that are asked for ahead, in loops that are there once or twice
  bool in_turns = false;
};

const std::vector<StreamCase> k_streams = {
    {{"map", "torch.relu(x) * 2 + 1", "", "torch.rand(1100, 1021)"}, Stored::past_the_caches, 1},
    {{"layer_norm", "self.n(x)", "self.n = nn.LayerNorm(1024)", "torch.randn(1100, 1024)"}, Stored::past_the_caches, 1},
    {{"softmax_of_channels", "torch.softmax(x, 1)", "", "torch.randn(20, 40, 2048)"}, Stored::past_the_caches, 0},
    {{"columns_by_axes", "x / torch.norm(x, dim=-1, keepdim=True)", "", "torch.randn(1100, H * W * 4)"},
     Stored::if_at_a_line,
     2},
    {{"columns_of_half_lines", "self.n(x)", "self.n = nn.LayerNorm(1032)", "torch.randn(1100, 1032)"},
     Stored::into_the_caches,
     1},
    {{"small", "torch.relu(x) * 2 + 1", "", "torch.rand(1000, 1021)"}, Stored::into_the_caches, 0},
    {{"f16", "torch.relu(x) * 2 + 1", "", "torch.rand(2200, 1024).half()"}, Stored::into_the_caches, 0},
    {{"kept_by_its_kernel", "torch.softmax(x, -1)", "", "torch.randn(1100, 1024)"}, Stored::past_the_caches, 1},
    {{"read_again_by_another", "self.both(self.n(x), more[0])",
      "self.n = nn.LayerNorm(1024)\n    def both(self, y, w):\n        return y, y @ w",
      "torch.randn(1100, 1024), torch.rand(1024, 64)"},
     Stored::into_the_caches,
     1},
    {{"two_tensors", "x * more[0] + more[1]", "", "torch.rand(1100, 1024), torch.rand(1100, 1024), torch.rand(1024)"},
     Stored::past_the_caches,
     2},
    {{"transposed", "x.t() * 2", "", "torch.rand(1100, 1024)"}, Stored::into_the_caches, 0},
    {{"softmax_in_turns", "torch.softmax(x, -1)", "", "torch.randn(500, 2640)"}, Stored::past_the_caches, 1, true},
    {{"layer_norm_in_turns", "self.n(x + more[0])", "self.n = nn.LayerNorm(2048)",
      "torch.randn(550, 2048), torch.randn(550, 2048)"},
     Stored::past_the_caches,
     2,
     true},
    {{"unit_rows_in_turns", "x / torch.norm(x, dim=-1, keepdim=True)", "", "torch.randn(500, H * W * 10)"},
     Stored::if_at_a_line,
     2,
     true},
    {{"map_of_long_rows", "torch.relu(x) * 2 + 1", "", "torch.rand(500, 2640)"}, Stored::past_the_caches, 1},
};

int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class Streams : public ModulesOnProcessor<StreamCase> {};

TEST_P(Streams, are_accepted) {
  const Problem read = problem(GetParam().module);
  const Bundle bundle = emitted(read, 0, k_l1_bytes);
  EXPECT_EQ(occurrences(bundle.source, "  fetch_ahead("), GetParam().fetched) << bundle.source;
  EXPECT_EQ(bundle.source.find("column_of_turn(") != std::string::npos, GetParam().in_turns) << bundle.source;
  const bool asks = bundle.source.find(k_if_at_a_line) != std::string::npos;
  EXPECT_EQ(asks, GetParam().stored == Stored::if_at_a_line) << bundle.source;
  const auto at = bundle.source.rfind("stream16(");
  ASSERT_EQ(at != std::string::npos, GetParam().stored != Stored::into_the_caches) << bundle.source;
  if (at == std::string::npos) return;
  const auto statement = bundle.source.substr(at, bundle.source.find(';', at) + 1 - at);
  EXPECT_TRUE(statement.ends_with(k_at_a_line)) << statement;
  expect_accepted(read, bundle);
  expect_accepted(read, with_defaults(bundle, {{"STREAM_STORES", 0}}));
  if (GetParam().fetched > 0) expect_accepted(read, with_defaults(bundle, {{"PREFETCH_BYTES", 0}}));
  if (GetParam().in_turns) {
    for (const std::int64_t parts : {1, 2, 4}) expect_accepted(read, with_defaults(bundle, {{"ROW_STREAMS", parts}}));
  }
}

INSTANTIATE_TEST_SUITE_P(Outputs, Streams, testing::ValuesIn(k_streams),
                         [](const auto& one) { return one.param.module.name; });

/// Of a row of 165 turns and 13 columns: each of four parts has 41 turns.
TEST_F(Streams, are_rejected_where_columns_are_left_out) {
  const Problem read = problem({"softmax", "torch.softmax(x, -1)", "", "torch.randn(500, 2653)"});
  const Bundle honest = with_defaults(emitted(read, 0, k_l1_bytes), {{"ROW_STREAMS", 4}});
  expect_accepted(read, honest);
  expect_rejected(read, honest,
                  {{"turns / ROW_STREAMS;", "turns / ROW_STREAMS + 1;"},
                   {"% ROW_STREAMS * of_part : turn)", "% ROW_STREAMS * of_part : turn - 1)"},
                   {"j = 16 * turns", "j = 16 * turns + 1"}});
}

/// Whose rows do not all begin at a line.
TEST_F(Streams, are_rejected_where_the_condition_is_left_out) {
  const Problem read = problem(k_streams[3].module);
  expect_rejected(read, emitted(read), {{k_if_at_a_line, " > 0) {"}});
}

}  // namespace
}  // namespace kw
