#include "problem/captures/captures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "problem/problem.hpp"

namespace kw {
namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();

std::string file_with(const std::string& tensors, const std::string& more = "") {
  return "name = \"t\"\nop = \"attention\"\n[axes]\nB = 2\nHq = 4\nHkv = 2\nSq = 40\nD = 8\nN = 5\n" + tensors +
         "\n[attention]\ndtype = \"f32\"\nmask_mod = \"lambda b, h, q, k: q + N >= k\"\n" + more +
         "[[workload]]\nname = \"w\"\nrole = \"edge\"\nB = 3\nSq = 17\nN = 4\n";
}

Problem problem_with(const std::string& tensors, const std::string& more = "") {
  auto problem = parse_problem(file_with(tensors, more), "t.toml");
  EXPECT_TRUE(problem.has_value()) << tensors << (problem ? "" : problem.error().to_string());
  return problem ? *std::move(problem) : Problem{};
}

CapturedTensor drawn(const Problem& problem, const std::string& name, std::uint64_t seed = 1,
                     std::size_t workload = 0) {
  auto data = draw_captures(problem.captures, problem.workloads[workload].axes, seed);
  EXPECT_TRUE(data.has_value()) << (data ? "" : data.error().to_string());
  return data->at(name);
}

TEST(Captures, hold_what_is_written) {
  const auto problem = problem_with(
      "[tensors.table]\ndtype = \"f32\"\naxes = [\"Hq\", \"Two\"]\n"
      "values = [[1, 2.5], [3, \"-inf\"], [-1, 0], [0, 0.1]]\n"
      "[tensors.flag]\ndtype = \"bool\"\naxes = []\nvalues = true\n");
  const auto table = drawn(problem, "table");
  EXPECT_EQ(table.extents, (std::vector<std::int64_t>{4, 2}));
  EXPECT_EQ(table.values, (std::vector<float>{1, 2.5F, 3, -INFINITY, -1, 0, 0, 0.1F}));
  EXPECT_EQ(drawn(problem, "flag").values, (std::vector<float>{1}));
  EXPECT_EQ(problem.own_axes, (std::vector<std::string>{"N", "Two"}));
  EXPECT_EQ(problem.primary().axes.at("Two"), 2);
  EXPECT_EQ(problem.captures[0].declared.low, -k_infinity);
  EXPECT_EQ(problem.captures[0].declared.high, 3.0);
  ASSERT_EQ(problem.inputs.size(), 5U);
  EXPECT_EQ(problem.operand_count(), 3U);
  EXPECT_EQ(problem.inputs[3].name, "table");
  EXPECT_EQ(problem.inputs[4].dtype, DType::boolean);
}

TEST(Captures, round_to_the_precision_of_their_type) {
  const auto problem = problem_with(
      "[tensors.x]\ndtype = \"f16\"\naxes = [\"Two\"]\nvalues = [0.1, 2049]\n"
      "[tensors.y]\ndtype = \"f16\"\naxes = [\"N\"]\nformula = \"lambda i: i * 0.1\"\n"
      "[tensors.z]\ndtype = \"bf16\"\naxes = [\"Two\"]\nvalues = [0.1, 257]\n"
      "[tensors.w]\ndtype = \"bf16\"\naxes = [\"N\"]\ngenerator = \"normal\"\n");
  EXPECT_EQ(drawn(problem, "x").values, (std::vector<float>{0x1.998p-4F, 2048.0F}));
  EXPECT_EQ(drawn(problem, "y").values[1], 0x1.998p-4F);
  EXPECT_EQ(drawn(problem, "z").values, (std::vector<float>{0x1.9ap-4F, 256.0F}));
  for (const float value : drawn(problem, "w").values) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(value) & 0xffffU, 0U) << value;
  }
}

TEST(Captures, follow_a_formula_of_indices_axes_and_constants) {
  const auto problem = problem_with(
      "[constants]\nC = 100\n"
      "[tensors.limit]\ndtype = \"i32\"\naxes = [\"B\"]\nformula = \"lambda b: Sq - b\"\n"
      "[tensors.one]\ndtype = \"f32\"\naxes = []\nformula = \"lambda: 1 / N\"\n"
      "[tensors.grid]\ndtype = \"i32\"\naxes = [\"B\", \"Hq\", \"N\"]\nformula = \"lambda i, j, k: C * i + 10 * j + "
      "k\"\n"
      "[tensors.lower]\ndtype = \"bool\"\naxes = [\"N\", \"N\"]\nformula = \"lambda i, j: i >= j\"\n"
      "[tensors.four]\ndtype = \"f32\"\naxes = [\"B\", \"N\", \"Hq\", \"Skv\"]\n"
      "formula = \"lambda b, z, h, i: b * 100000 + z * 1000 + h * 100 + i\"\n");
  for (const std::size_t workload : {0U, 1U}) {
    const auto& axes = problem.workloads[workload].axes;
    EXPECT_EQ(drawn(problem, "limit", 1, workload).values[1], static_cast<float>(axes.at("Sq") - 1));
    EXPECT_EQ(drawn(problem, "one", 1, workload).values, std::vector<float>{1.0F / static_cast<float>(axes.at("N"))});
    std::size_t at = 0;
    const auto grid = drawn(problem, "grid", 1, workload);
    const auto lower = drawn(problem, "lower", 1, workload);
    for (std::int64_t i = 0; i < axes.at("B"); ++i) {
      for (std::int64_t j = 0; j < axes.at("Hq"); ++j) {
        for (std::int64_t k = 0; k < axes.at("N"); ++k, ++at) {
          ASSERT_EQ(grid.values[at], static_cast<float>(100 * i + 10 * j + k));
        }
      }
    }
    ASSERT_EQ(at, grid.values.size());
    for (std::int64_t i = 0; i < axes.at("N"); ++i) {
      for (std::int64_t j = 0; j < axes.at("N"); ++j) {
        const std::vector<double> index = {static_cast<double>(i), static_cast<double>(j)};
        ASSERT_EQ(lower.element(index), i >= j ? 1.0 : 0.0);
      }
    }
    const std::vector<double> index = {1, 3, 2, 39};
    if (workload == 0) {
      EXPECT_EQ(drawn(problem, "four").element(index), 103239.0);
    }
  }
}

TEST(Captures, depend_on_the_seed_and_on_nothing_else) {
  const auto problem = problem_with("[tensors.x]\ndtype = \"f32\"\naxes = [\"N\"]\ngenerator = \"normal\"\n");
  EXPECT_EQ(drawn(problem, "x", 7).values, drawn(problem, "x", 7).values);
  EXPECT_NE(drawn(problem, "x", 7).values, drawn(problem, "x", 8).values);
}

TEST(Captures, are_found_among_the_inputs) {
  const auto problem = problem_with(
      "[tensors.x]\ndtype = \"f32\"\naxes = [\"N\"]\ngenerator = \"normal\"\n"
      "[tensors.y]\ndtype = \"i32\"\naxes = [\"Three\", \"Two\"]\nvalues = [[1, 2], [3, 4], [5, 6]]\n");
  const std::vector<std::vector<float>> inputs = {{}, {}, {}, {9, 8, 7, 6, 5}, {1, 2, 3, 4, 5, 6}};
  const auto found =
      captures_among(problem.captures, problem.primary().axes, std::span(inputs).subspan(problem.operand_count()));
  EXPECT_EQ(found.at("x").values, inputs[3]);
  EXPECT_EQ(found.at("y").values, inputs[4]);
  EXPECT_EQ(found.at("y").extents, (std::vector<std::int64_t>{3, 2}));
}

TEST(Captures, belong_to_the_identity_of_a_problem) {
  const auto id = [](const std::string& source) {
    return problem_with("[tensors.x]\ndtype = \"f32\"\naxes = [\"N\"]\n" + source + "\n").id();
  };
  const auto uniform = id("generator = \"uniform\"");
  EXPECT_EQ(uniform, id("# a comment\ngenerator = 'uniform'"));
  EXPECT_NE(uniform, id("generator = \"normal\""));
  EXPECT_NE(uniform, id("generator = \"uniform\"\nhigh = 2"));
  EXPECT_NE(id("formula = \"lambda i: i\""), id("formula = \"lambda i: i + 1\""));
  EXPECT_EQ(id("formula = \"lambda i: i\""), id("formula = \"lambda row: row + 0\""));
  const auto same = [](const std::string& order) {
    auto text = file_with("");
    text.replace(text.find("N = 5"), 5, order);
    return parse_problem(text.replace(text.find("q + N"), 5, "q + N + P"), "t").value().id();
  };
  EXPECT_EQ(same("N = 5\nP = 6"), same("P = 6\nN = 5"));
  EXPECT_NE(same("N = 5\nP = 6"), same("N = 6\nP = 5"));
}

TEST(Captures, that_break_what_is_declared_are_refused_when_they_are_drawn) {
  // Holds for every workload of the file, and not for a longer one.
  const auto problem = problem_with(
      "[tensors.x]\ndtype = \"i32\"\naxes = [\"Skv\"]\nhigh = 39\nsorted = true\nformula = \"lambda i: i\"\n");
  EXPECT_EQ(with_axes(problem, {"Skv=41"}).error().to_string(),
            "tensor x holds 40 at [40], which is not within its bounds -16777216 to 39 [problem.set]\n  while setting "
            "Skv=41\n"
            "  try: fix the values, or what the file declares about them");
}

TEST(WithAxes, knows_the_axes_of_captures) {
  const auto problem = problem_with(
      "[tensors.x]\ndtype = \"f32\"\naxes = [\"N\"]\ngenerator = \"normal\"\n"
      "[tensors.y]\ndtype = \"f32\"\naxes = [\"Two\"]\nvalues = [1, 2]\n");
  const auto longer = with_axes(problem, {"N=9"}).value();
  EXPECT_EQ(drawn(longer, "x").values.size(), 9U);
  EXPECT_EQ(with_axes(problem, {"M=9"}).error().to_string(),
            "the problem has no axis 'M' [problem.set]\n  try: its axes are B, Hq, Hkv, Sq, Skv, D, Dv, N, Two");
  EXPECT_EQ(with_axes(problem, {"Two=3"}).error().to_string(),
            "tensor y has 2 values along Two, but Two = 3 [problem.set]\n  while setting Two=3\n  try: leave that axis "
            "alone, or give the tensor a formula or a generator, which fit any size");
}

/// Each row of offsets starts at 0, ends at the total, and no part is shorter than asked for.
TEST(Generators, cut_a_length_into_parts) {
  const auto problem = problem_with(
      "[tensors.offset]\ndtype = \"i32\"\naxes = [\"B\", \"N\"]\ngenerator = \"offsets\"\ntotal = \"Skv - 1\"\nleast = "
      "3\n"
      "[tensors.document]\ndtype = \"i32\"\naxes = [\"B\", \"Skv\"]\ngenerator = \"documents\"\nfrom = \"offset\"\n");
  EXPECT_TRUE(problem.captures[0].declared.sorted);
  EXPECT_TRUE(problem.captures[1].declared.sorted);
  std::set<std::vector<float>> different;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto offset = drawn(problem, "offset", seed);
    const auto document = drawn(problem, "document", seed);
    different.insert(offset.values);
    for (std::size_t b = 0; b < 2; ++b) {
      const auto* row = &offset.values[b * 5];
      ASSERT_EQ(row[0], 0.0F) << "seed " << seed;
      ASSERT_EQ(row[4], 39.0F) << "seed " << seed;
      for (std::size_t i = 0; i < 4; ++i) ASSERT_GE(row[i + 1] - row[i], 3.0F) << "seed " << seed;
      for (std::size_t position = 0; position < 40; ++position) {
        const auto id = static_cast<std::size_t>(document.values[b * 40 + position]);
        const auto at = static_cast<float>(position);
        if (position == 39) {
          ASSERT_EQ(id, 4U) << "past the last offset";
        } else {
          ASSERT_TRUE(row[id] <= at && at < row[id + 1]) << "seed " << seed << " position " << position;
        }
      }
    }
  }
  EXPECT_GT(different.size(), 40U);
}

TEST(Generators, keep_within_their_bounds) {
  const auto problem = problem_with(
      "[tensors.count]\ndtype = \"i32\"\naxes = [\"Skv\", \"Skv\"]\ngenerator = \"integers\"\nlow = -2\nhigh = \"N\"\n"
      "[tensors.weight]\ndtype = \"f32\"\naxes = [\"Skv\", \"Skv\"]\ngenerator = \"uniform\"\nlow = 2\nhigh = 3\n"
      "[tensors.noise]\ndtype = \"f32\"\naxes = [\"Skv\", \"Skv\"]\ngenerator = \"normal\"\nmean = 10\nscale = 0.5\n"
      "[tensors.flag]\ndtype = \"bool\"\naxes = [\"Skv\", \"Skv\"]\ngenerator = \"coin\"\nprobability = 0.25\n");
  const auto mean = [](const std::vector<float>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const auto count = drawn(problem, "count").values;
  EXPECT_EQ(std::set<float>(count.begin(), count.end()), (std::set<float>{-2, -1, 0, 1, 2, 3, 4, 5}));
  const auto weight = drawn(problem, "weight").values;
  EXPECT_GE(*std::min_element(weight.begin(), weight.end()), 2.0F);
  EXPECT_LE(*std::max_element(weight.begin(), weight.end()), 3.0F);
  EXPECT_NEAR(mean(weight), 2.5, 0.05);
  EXPECT_NEAR(mean(drawn(problem, "noise").values), 10.0, 0.05);
  EXPECT_NEAR(mean(drawn(problem, "flag").values), 0.25, 0.05);
}

/// The rows of a tree: every node sees itself and the root, and what its ancestors see.
TEST(Generators, grow_trees) {
  const auto problem =
      problem_with("[tensors.ancestor]\ndtype = \"bool\"\naxes = [\"B\", \"Sq\", \"Sq\"]\ngenerator = \"tree\"\n");
  const auto tree = drawn(problem, "ancestor");
  const auto sees = [&](std::size_t b, std::size_t i, std::size_t j) {
    return tree.values[(b * 40 + i) * 40 + j] == 1;
  };
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_TRUE(sees(b, i, i) && sees(b, i, 0));
      std::size_t parent = 0;
      for (std::size_t j = 0; j < 40; ++j) {
        ASSERT_TRUE(j <= i || !sees(b, i, j));
        if (j < i && sees(b, i, j)) parent = j;
      }
      for (std::size_t j = 0; j < i; ++j) ASSERT_EQ(sees(b, i, j), sees(b, parent, j)) << b << " " << i << " " << j;
    }
  }
  EXPECT_NE(std::vector<float>(tree.values.begin(), tree.values.begin() + 1600),
            std::vector<float>(tree.values.begin() + 1600, tree.values.end()));
}

TEST(Generators, shuffle) {
  const auto problem =
      problem_with("[tensors.order]\ndtype = \"i32\"\naxes = [\"B\", \"Sq\"]\ngenerator = \"permutation\"\n");
  auto order = drawn(problem, "order").values;
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  for (auto row = order.begin(); row != order.end(); row += 40) {
    std::sort(row, row + 40);
    for (std::ptrdiff_t i = 0; i < 40; ++i) ASSERT_EQ(row[i], static_cast<float>(i));
  }
}

}  // namespace
}  // namespace kw
