// What an answer may read of its leaves: whatever it reads is among it, and where rows are read by rows it is little.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

struct Reading {
  const char* forward;
  const char* inputs;
  std::vector<std::int64_t> elements;  ///< that may be read of each input, for two rows of eight elements
};
void PrintTo(const Reading& one, std::ostream* out) {
  *out << one.forward;
}

class LeafReads : public testing::TestWithParam<Reading> {};

std::int64_t count_of(const std::vector<ElementRange>& ranges) {
  std::int64_t count = 0;
  for (const auto& range : ranges) count += range.end - range.begin;
  return count;
}

bool are_in(const std::vector<ElementRange>& ranges, std::int64_t element) {
  return std::ranges::any_of(ranges,
                             [&](const ElementRange& range) { return range.begin <= element && element < range.end; });
}

TEST_P(LeafReads, hold_all_that_is_read) {
  const auto [forward, inputs, elements] = GetParam();
  const auto program = program_of(forward, inputs);
  std::vector<std::size_t> values;
  for (const auto& input : program.inputs) values.push_back(input.value);
  WantedElements wanted{program.outputs[0], {}};
  for (const std::int64_t row : {2, 5}) {
    for (std::int64_t column = 0; column < 8; ++column) wanted.elements.push_back(row * 8 + column);
  }
  const auto reads = leaf_reads(program.graph, std::vector{wanted}, values);
  ASSERT_TRUE(reads.has_value()) << reads.error().to_string();
  const auto leaves = leaves_of(program);
  std::map<std::size_t, LeafElements> sources;
  std::atomic<int> outside = 0;
  for (const auto& [value, leaf] : leaves) {
    const auto at = std::ranges::find(values, value);
    const std::vector<ElementRange>* ranges =
        at == values.end() ? nullptr : &(*reads)[static_cast<std::size_t>(at - values.begin())];
    sources[value] = [&leaf = leaf, ranges, &outside](std::int64_t i) {
      if (ranges != nullptr && !are_in(*ranges, i)) ++outside;
      return leaf.values[static_cast<std::size_t>(i)];
    };
  }
  ASSERT_TRUE(evaluate_elements(program.graph, sources, std::vector{wanted}).has_value());
  EXPECT_EQ(outside, 0);
  for (std::size_t i = 0; i < elements.size(); ++i) EXPECT_EQ(count_of((*reads)[i]), elements[i]) << "of input " << i;
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, LeafReads,
    testing::Values(
        Reading{"F.relu(x)", "torch.rand(9, 8)", {16}},
        Reading{"F.relu(x + y) * y", "torch.rand(9, 8), torch.rand(8)", {16, 8}},
        Reading{"torch.sigmoid(x.view(36, 2)).view(9, 8)", "torch.rand(9, 8)", {16}},
        Reading{"torch.softmax(x * 2, 1)", "torch.rand(9, 8)", {16}},
        Reading{"torch.softmax(x, 0)", "torch.rand(9, 8)", {72}},
        Reading{"torch.softmax(x, 2)", "torch.rand(3, 2, 32)", {64}},
        Reading{"F.layer_norm(x, (4, 8))", "torch.rand(5, 4, 8)", {64}},
        Reading{"F.group_norm(x, 2)", "torch.rand(3, 4, 8)", {32}},
        Reading{"F.batch_norm(x, None, None, training=True)", "torch.rand(9, 8)", {72}},
        Reading{"F.relu(x @ y)", "torch.rand(9, 5), torch.rand(5, 8)", {10, 40}},
        Reading{"F.linear(x, y)", "torch.rand(9, 5), torch.rand(8, 5)", {10, 40}},
        Reading{"torch.bmm(x, y)", "torch.rand(3, 3, 5), torch.rand(3, 5, 8)", {10, 120}},
        Reading{"x @ y", "torch.rand(3, 5), torch.rand(3, 5, 8)", {15, 120}},
        Reading{"torch.addmm(x, y, more[1])", "torch.rand(9, 8), torch.rand(9, 5), torch.rand(5, 8)", {72, 45, 40}},
        Reading{"x.T + y", "torch.rand(8, 9), torch.rand(9, 8)", {16, 16}},
        Reading{"x / x.sum()", "torch.rand(9, 8)", {72}}, Reading{"torch.cumsum(x, 1)", "torch.rand(9, 8)", {16}},
        Reading{"F.avg_pool1d(x, 3, 1, 1)", "torch.rand(1, 9, 8)", {16}},
        Reading{"F.max_pool2d(x, 2)", "torch.rand(2, 7, 2, 16)", {64}},
        Reading{"x.sum(2)", "torch.rand(9, 8, 3)", {48}}, Reading{"x.mean((0, 3))", "torch.rand(2, 9, 8, 3)", {96}},
        Reading{"F.batch_norm(x, None, None, training=True)", "torch.rand(2, 9, 8)", {32}},
        Reading{"torch.cat([x, y], 1)", "torch.rand(9, 2), torch.rand(9, 6)", {4, 12}},
        Reading{"F.conv1d(x, y, padding=1)", "torch.rand(9, 2, 8), torch.rand(1, 2, 3)", {32, 6}},
        Reading{"F.conv1d(x, y, stride=2)", "torch.rand(9, 2, 17), torch.rand(1, 2, 3)", {68, 6}},
        Reading{"F.conv2d(x, y)", "torch.rand(1, 2, 11, 10), torch.rand(1, 2, 3, 3)", {120, 18}},
        Reading{"F.conv2d(x, y, groups=9)", "torch.rand(1, 9, 2, 8), torch.rand(9, 1, 2, 1)", {32, 18}},
        Reading{"F.conv_transpose2d(x, y)", "torch.rand(1, 2, 7, 6), torch.rand(2, 1, 3, 3)", {72, 18}},
        Reading{"F.conv_transpose1d(x, y, stride=2)", "torch.rand(9, 2, 4), torch.rand(2, 1, 2)", {16, 4}},
        Reading{"F.relu(F.conv1d(x, y)).sum(2)", "torch.rand(9, 2, 10), torch.rand(8, 2, 3)", {40, 48}},
        Reading{"torch.chunk(x, 2, 1)[0]", "torch.rand(9, 16)", {16}},
        Reading{"torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), torch.cumsum(x.narrow(1, 0, 7), 1)), 1)",
                "torch.rand(9, 8)",
                {14}},
        Reading{"torch.cat((torch.cumsum(x.narrow(1, 0, 7), 1), torch.index_select(x.narrow(1, 0, 1), 1, y)), 1)",
                "torch.rand(9, 8), torch.zeros(1, dtype=torch.int64)",
                {21}},
        Reading{"x + torch.gather(x, 1, y).narrow(1, 0, 1)",
                "torch.rand(9, 8), torch.zeros(9, 8, dtype=torch.int64)",
                {72}},
        Reading{"y + torch.exp(x).sum(1, keepdim=True)", "torch.rand(9, 4), torch.rand(9, 8)", {8, 16}},
        Reading{"y - torch.exp(x).narrow(0, 0, 1) * 2", "torch.rand(9, 8), torch.rand(9, 8)", {8, 16}},
        Reading{"F.prelu(y, torch.exp(x))", "torch.rand(8), torch.rand(9, 8)", {8, 16}},
        Reading{"torch.where(y > 0, torch.exp(x).narrow(1, 0, 1), y)", "torch.rand(9, 8), torch.rand(9, 8)", {2, 16}},
        Reading{"torch.gather(x, 1, y)", "torch.rand(9, 8), torch.zeros(9, 8, dtype=torch.int64)", {72}},
        Reading{"F.kl_div(x, y, reduction='none')", "torch.rand(9, 8), torch.rand(9, 8)", {72, 72}}));

}  // namespace
}  // namespace kw::program_oracle_test
