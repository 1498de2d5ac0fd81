// What the oracle refuses, what it computes and when, and integers as PyTorch has them.

#include "operators/program/oracle/oracle.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

#include "operators/program/oracle/evaluation.hpp"
#include "operators/program/testing/oracle_case.hpp"
#include "program/reader/program_reader.hpp"
#include "program/testing/module_text.hpp"

namespace kw::program_oracle_test {
namespace {

/// Calls from two threads.
void on_two_threads(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  std::thread other([&] {
    for (std::int64_t i = 1; i < count; i += 2) body(i);
  });
  for (std::int64_t i = 0; i < count; i += 2) body(i);
  other.join();
}

/// Gives the elements of these leaves and counts those of `counted`.
std::map<std::size_t, LeafElements> sources_of(const std::map<std::size_t, DenseTensor>& leaves, std::size_t counted,
                                               std::atomic<int>& reads) {
  std::map<std::size_t, LeafElements> sources;
  for (const auto& [value, leaf] : leaves) {
    sources[value] = [&leaf = leaf, &reads, counts = value == counted](std::int64_t i) {
      if (counts) ++reads;
      return leaf.values[static_cast<std::size_t>(i)];
    };
  }
  return sources;
}

TEST(Oracle, random_node_is_an_error_with_its_place) {
  const auto program = program_of("F.dropout(x, 0.3)", "torch.rand(4)");
  const auto answer = evaluate_graph(program.graph, leaves_of(program), program.outputs);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, errc::oracle_random);
  EXPECT_EQ(answer.error().message, "dropout gives another result each time");
  EXPECT_GT(answer.error().where.line, 0);
}

TEST(Oracle, random_node_may_be_given_as_a_leaf) {
  const auto program = program_of("F.dropout(x, 0.3) + 1", "torch.rand(2)");
  auto leaves = leaves_of(program);
  leaves.emplace(program.graph.nodes.front().outputs.front(), DenseTensor{ElementType::float32, {2}, {4.0, 0.0}});
  const auto answer = evaluate_graph(program.graph, leaves, program.outputs);
  ASSERT_TRUE(answer.has_value());
  EXPECT_THAT(answer->front().values, testing::ElementsAre(5.0, 1.0));
}

TEST(Oracle, operator_without_an_answer_is_an_error_with_its_name) {
  auto program = program_of("torch.exp(x)", "torch.rand(2)");
  program.graph.nodes.front().op = "sort";
  const auto answer = evaluate_graph(program.graph, leaves_of(program), program.outputs);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, errc::oracle_unanswered);
  EXPECT_EQ(answer.error().message, "the oracle has no answer for sort");
}

TEST(Oracle, norm_of_singular_values_is_an_error) {
  const auto program = program_of("torch.norm(x, p='nuc')", "torch.rand(2, 2)");
  const auto answer = evaluate_graph(program.graph, leaves_of(program), program.outputs);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, errc::oracle_unanswered);
  EXPECT_EQ(answer.error().message, "norm of order 'nuc' has no answer");
}

TEST(Oracle, leaf_that_is_missing_or_of_another_size_is_an_error) {
  const auto program = program_of("x + 1", "torch.rand(3)");
  const auto missing = evaluate_graph(program.graph, {}, program.outputs);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, errc::oracle_leaf);
  EXPECT_EQ(missing.error().message, "no elements are given for 'x'");
  const auto value = program.inputs.front().value;
  const auto short_one = evaluate_graph(program.graph, {{value, {ElementType::float32, {2}, {1, 2}}}}, program.outputs);
  ASSERT_FALSE(short_one.has_value());
  EXPECT_EQ(short_one.error().code, errc::oracle_leaf);
  EXPECT_EQ(short_one.error().message, "'x' has 2 elements instead of 3");
  const auto on_demand = evaluate_elements(program.graph, {}, std::vector{WantedElements{program.outputs[0], {0}}});
  ASSERT_FALSE(on_demand.has_value());
  EXPECT_EQ(on_demand.error().code, errc::oracle_leaf);
}

TEST(Oracle, same_value_may_be_wanted_twice_and_a_leaf_too) {
  const auto program = program_of("x * 2", "torch.rand(2)");
  const auto value = program.inputs.front().value;
  const std::vector<std::size_t> wanted = {program.outputs[0], value, program.outputs[0]};
  const auto answer = evaluate_graph(program.graph, {{value, {ElementType::float32, {2}, {1, 2}}}}, wanted);
  ASSERT_TRUE(answer.has_value());
  EXPECT_THAT((*answer)[0].values, testing::ElementsAre(2.0, 4.0));
  EXPECT_THAT((*answer)[1].values, testing::ElementsAre(1.0, 2.0));
  EXPECT_THAT((*answer)[2].values, testing::ElementsAre(2.0, 4.0));
}

TEST(Oracle, threads_share_the_work) {
  const auto program = program_of("torch.softmax(F.conv2d(x, y).flatten(1), 1).cumsum(0)",
                                  "torch.rand(3, 2, 60, 50), torch.rand(2, 2, 3, 3)");
  const auto leaves = leaves_of(program);
  const auto alone = evaluate_graph(program.graph, leaves, program.outputs);
  const auto together = evaluate_graph(program.graph, leaves, program.outputs, on_two_threads);
  ASSERT_TRUE(alone.has_value() && together.has_value());
  EXPECT_EQ(alone->front().values, together->front().values);
  std::map<std::size_t, LeafElements> sources;
  for (const auto& [value, leaf] : leaves)
    sources[value] = [&leaf = leaf](std::int64_t i) { return leaf.values[static_cast<std::size_t>(i)]; };
  const std::vector<WantedElements> wanted = {{program.outputs[0], {0, 17, 5000, 5567, 10000, 16703}}};
  const auto some = evaluate_elements(program.graph, sources, wanted, on_two_threads);
  ASSERT_TRUE(some.has_value());
  for (std::size_t i = 0; i < wanted[0].elements.size(); ++i)
    EXPECT_NEAR((*some)[0][i], alone->front().values[static_cast<std::size_t>(wanted[0].elements[i])], 1e-15);
}

TEST(Oracle, element_on_demand_reads_its_cone_only) {
  const auto program = program_of("torch.relu(F.conv2d(x, y))", "torch.rand(1, 1, 1000, 1000), torch.rand(1, 1, 3, 3)");
  std::atomic<int> reads = 0;
  std::map<std::size_t, LeafElements> sources;
  for (const auto& input : program.inputs)
    sources[input.value] = [&](std::int64_t i) {
      ++reads;
      return static_cast<double>(i % 7);
    };
  const auto answer =
      evaluate_elements(program.graph, sources, std::vector{WantedElements{program.outputs[0], {5000, 5001, 900'000}}});
  ASSERT_TRUE(answer.has_value());
  EXPECT_LE(reads, 3 * 2 * 9);
}

/// Rows of `length` elements of a value.
TwoRows two_rows(std::size_t value, std::int64_t length, std::int64_t first, std::int64_t other) {
  TwoRows two;
  for (std::size_t i = 0; i < two.size(); ++i) {
    WantedElements row{value, {}};
    for (std::int64_t k = 0; k < length; ++k) row.elements.push_back((i == 0 ? first : other) * length + k);
    two[i].push_back(std::move(row));
  }
  return two;
}

/// How a thousandth of the first result's elements would be answered, as rows of one.
OnTheWay way_of(const std::string& forward, const std::string& inputs) {
  const auto program = program_of(forward, inputs);
  const auto leaves = leaves_of(program);
  std::map<std::size_t, LeafElements> sources;
  for (const auto& [value, leaf] : leaves)
    sources[value] = [&leaf = leaf](std::int64_t i) { return leaf.values[static_cast<std::size_t>(i)]; };
  const auto value = program.outputs[0];
  const auto all = program_oracle::elements_of(program.graph.values[value].type);
  const auto one_step_each = [](const Node&) { return 0.0; };
  return faster_on_the_way(program.graph, sources, two_rows(value, 1, all / 3, all / 2), all / 1000, one_step_each)
      .value();
}

TEST(Oracle, takes_whole_tensors_where_few_elements_follow_from_all) {
  const auto by_index = [](const std::string& read) {
    return "F.batch_norm(torch.index_select(" + read + ", 2, y), None, None, training=True)";
  };
  const std::string indices = ", torch.randint(0, 100, (100,))";
  EXPECT_EQ(way_of(by_index("F.relu(x)"), "torch.rand(4, 3, 100, 100)" + indices), OnTheWay::tensors);
  EXPECT_EQ(way_of("F.batch_norm(F.relu(x), None, None, training=True)", "torch.rand(4, 3, 100, 100)"),
            OnTheWay::elements)
      << "one channel of three, and known which";
  EXPECT_EQ(way_of("F.relu(F.avg_pool2d(torch.exp(x), 2))", "torch.rand(4, 3, 200, 200)"), OnTheWay::elements);
  EXPECT_EQ(way_of("F.batch_norm(F.relu(x), None, None, training=True)", "torch.rand(4, 3, 10, 10)"),
            OnTheWay::elements)
      << "too few to matter";
}

/// One row in forty of a product: as many elements as of what is cheap would be computed among all others.
TEST(Oracle, asks_for_rows_of_long_sums_one_by_one) {
  const auto program = program_of("F.layer_norm(torch.index_select(x @ y, 0, more[1]), (300,))",
                                  "torch.rand(240, 500), torch.rand(500, 300), torch.randint(0, 240, (240,))");
  const auto leaves = leaves_of(program);
  std::map<std::size_t, LeafElements> sources;
  for (const auto& [value, leaf] : leaves)
    sources[value] = [&leaf = leaf](std::int64_t i) { return leaf.values[static_cast<std::size_t>(i)]; };
  const auto way_of_rows = [&](std::int64_t rows) {
    const auto steps_of = [](const Node& node) { return node.op == "matmul" ? 2.0 * 240 * 500 * 300 : 0.0; };
    return faster_on_the_way(program.graph, sources, two_rows(program.outputs[0], 300, 5, 9), rows, steps_of).value();
  };
  EXPECT_EQ(way_of_rows(10), OnTheWay::elements);
  EXPECT_EQ(way_of_rows(230), OnTheWay::tensors);
}

/// Of the tensors on the way all is computed, but not of a product of which a row is wanted.
TEST(Oracle, computes_wanted_rows_alone_behind_whole_tensors) {
  constexpr std::int64_t k_columns = 40, k_steps = 50;
  const auto program = program_of("x @ y.T", "torch.rand(64, 50), torch.rand(40, 50)");
  const auto leaves = leaves_of(program);
  std::atomic<int> reads = 0;
  const auto sources = sources_of(leaves, program.inputs[0].value, reads);
  WantedElements row{program.outputs[0], {}};
  for (std::int64_t i = 0; i < k_columns; ++i) row.elements.push_back(3 * k_columns + i);
  const auto answer = evaluate_elements(program.graph, sources, std::vector{row}, serial_for, OnTheWay::tensors);
  ASSERT_TRUE(answer.has_value());
  EXPECT_LE(reads, 5 * k_steps);
  const auto whole = evaluate_graph(program.graph, leaves, program.outputs);
  ASSERT_TRUE(whole.has_value());
  for (std::size_t i = 0; i < row.elements.size(); ++i)
    EXPECT_NEAR((*answer)[0][i], whole->front().values[static_cast<std::size_t>(row.elements[i])], 1e-13);
}

/// A norm reads the row of a product that it stands in: each weight is read once for all rows that are wanted.
TEST(Oracle, reads_the_second_matrix_of_a_product_once_for_some_rows) {
  constexpr std::int64_t k_rows = 6, k_columns = 40, k_steps = 50;
  const auto program = program_of("F.layer_norm(F.relu(x @ y), (40,)) * 2", "torch.rand(64, 50), torch.rand(50, 40)");
  const auto leaves = leaves_of(program);
  std::atomic<int> reads = 0;
  const auto sources = sources_of(leaves, program.inputs[1].value, reads);
  WantedElements rows{program.outputs[0], {}};
  for (std::int64_t i = 0; i < k_rows * k_columns; ++i) rows.elements.push_back(i / k_columns * 400 + i % k_columns);
  const auto answer = evaluate_elements(program.graph, sources, std::vector{rows});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(reads, k_steps * k_columns);
}

/// How often elements of the second input are read for 6 of 64 rows.
int reads_of_second(const std::string& forward, const std::string& inputs) {
  const auto program = program_of(forward, inputs);
  const auto leaves = leaves_of(program);
  std::atomic<int> reads = 0;
  const auto sources = sources_of(leaves, program.inputs[1].value, reads);
  const auto length = program_oracle::elements_of(program.graph.values[program.outputs[0]].type) / 64;
  WantedElements rows{program.outputs[0], {}};
  for (std::int64_t i = 0; i < 6 * length; ++i) rows.elements.push_back(i / length * 10 * length + i % length);
  const auto answer = evaluate_elements(program.graph, sources, std::vector{rows}, on_two_threads);
  EXPECT_TRUE(answer.has_value());
  const auto whole = evaluate_graph(program.graph, leaves, program.outputs);
  for (std::size_t i = 0; i < rows.elements.size(); ++i)
    EXPECT_NEAR((*answer)[0][i], whole->front().values[static_cast<std::size_t>(rows.elements[i])], 1e-12);
  return reads;
}

TEST(Oracle, computes_the_rows_that_elements_follow_from_together) {
  const std::string inputs = "torch.rand(64, 50), torch.rand(50, 40)";
  for (const auto* forward :
       {"(x @ y).sum(1)", "F.avg_pool1d(F.relu(x @ y), 4)", "torch.softmax((x @ y) / 2, 1).mean(1)",
        "F.normalize(x @ y, dim=1)", "torch.cat([x @ y, x], 1).amax(1)", "torch.cumsum(x @ y, 1)",
        "F.linear(F.relu(x @ y), more[1])", "(x @ y).flip(1).sum(1)", "F.conv1d((x @ y).view(64, 2, 20), more[2])"}) {
    EXPECT_EQ(reads_of_second(forward, inputs + ", torch.rand(7, 40), torch.rand(3, 2, 5)"), 50 * 40) << forward;
  }
}

/// What is computed on the way is what is read of it: where memory held no numbers before, none come from it.
TEST(Oracle, computes_all_that_some_elements_follow_from) {
  const std::string image = "torch.randn(2, 4, 9, 8), torch.randn(6, 4, 3, 3)";
  const std::string matrix = "torch.randn(12, 10), torch.randn(10, 14)";
  const std::string convolution = "F.conv2d(torch.exp(x), y, stride=2, padding=1, dilation=2)";
  const std::pair<std::string, std::string> cases[] = {
      {convolution, image},
      {"F.conv2d(" + convolution + ", more[0].transpose(0, 1).contiguous(), padding=2)", image},
      {"F.conv_transpose2d(torch.exp(x).repeat(1, 2, 1, 1)[:, 1:7], y, stride=2, padding=1)", image},
      {"F.max_pool2d(F.conv2d(x, y), 2, 1, padding=1)", image},
      {"F.adaptive_avg_pool2d(F.conv2d(x, y), (3, 2))", image},
      {"F.batch_norm(F.conv2d(x, y), None, None, training=True)", image},
      {"F.group_norm(F.conv2d(x, y), 3)", image},
      {"F.instance_norm(F.conv2d(x, y)) * 2", image},
      {"F.local_response_norm(F.conv2d(x, y), 3)", image},
      {"F.interpolate(F.conv2d(x, y), scale_factor=2, mode='bilinear')", image},
      {"torch.var_mean(F.conv2d(x, y), (0, 2))", image},
      {"torch.max(F.conv2d(x, y), 1)", image},
      {"F.pixel_shuffle(torch.exp(x), 2)", image},
      {"torch.softmax(x @ y, 0)", matrix},
      {"F.normalize(x @ y, dim=1)", matrix},
      {"F.layer_norm(F.gelu(x @ y), (14,))", matrix},
      {"torch.logsumexp(x @ y, 0)", matrix},
      {"torch.cat([torch.exp(x), torch.sin(x)], 1).t()", matrix},
      {"torch.cumsum(x @ y, 0) + torch.flip(x @ y, (1,))", matrix},
      {"torch.topk(x @ y, 3, 1)", matrix},
      {"F.relu(x @ y) @ y.t()", matrix},
      {"(x.exp() @ y.exp()).mean()", matrix},
      {"torch.gather(x @ y, 1, torch.argmax(x, 1, keepdim=True))", matrix},
      {"F.scaled_dot_product_attention((x @ y).view(1, 2, 6, 14), (x @ y).view(1, 2, 6, 14), (x @ y).view(1, 2, 6, "
       "14))",
       matrix},
      {"torch.where(x > 0, torch.exp(x), torch.sin(x)).sum(1)", matrix},
      {"torch.tril(x @ y)", matrix},
      {"F.conv2d(x, y) - F.conv2d(x, y).mean((2, 3), keepdim=True)", image},
      {"torch.clamp_min(x @ y, (x @ y).mean(0))", matrix},
      {"F.prelu(F.conv2d(x, y), torch.exp(more[0][:, 0, 0, 0]))", image},
  };
  for (const auto& [forward, inputs] : cases) {
    SCOPED_TRACE(forward);
    const auto program = program_of(forward, inputs);
    expect_elements_are_those_of_the_whole(program, leaves_of(program));
  }
}

TEST(Oracle, computes_what_a_convolution_reads_once) {
  const auto program = program_of("F.relu(F.conv2d(F.relu(x).transpose(2, 3), y, padding=1))",
                                  "torch.randn(2, 4, 9, 8), torch.randn(6, 4, 3, 3)");
  const auto leaves = leaves_of(program);
  std::atomic<int> reads = 0;
  const auto sources = sources_of(leaves, program.inputs[0].value, reads);
  const auto whole = evaluate_graph(program.graph, leaves, program.outputs);
  ASSERT_TRUE(whole.has_value());
  WantedElements all{program.outputs[0], std::vector<std::int64_t>(whole->front().values.size())};
  std::iota(all.elements.begin(), all.elements.end(), 0);
  const auto answer = evaluate_elements(program.graph, sources, std::vector{all}, on_two_threads, OnTheWay::tensors);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(reads, 2 * 4 * 9 * 8);
  EXPECT_EQ(answer->front(), whole->front().values);
}

double asked_for(const std::string& forward, const std::string& inputs, std::int64_t length, double most = 1e6) {
  const auto program = program_of(forward, inputs);
  return elements_asked_for(program.graph, two_rows(program.outputs[0], length, 1, 5), most).value();
}

/// Rows of 32 elements: what is kept counts as one, what is computed again as an eighth, and what is read hardly.
TEST(Oracle, counts_what_a_row_follows_from) {
  const std::string image = "torch.rand(2, 16, 32, 32)";
  const double plain = asked_for("F.relu(x)", image, 32);
  EXPECT_NEAR(plain, 32.0 / 8, 1);
  EXPECT_NEAR(asked_for("F.avg_pool2d(x, 3, 1, 1)", image, 32), 32, 2);
  EXPECT_NEAR(asked_for("torch.softmax(F.avg_pool2d(x, 3, 1, 1), 1)", image, 32), 16 * 32, 64)
      << "all channels of the row, of which one is wanted";
  EXPECT_LT(asked_for("F.relu(x) / torch.exp(x).mean()", image, 32), 3 * plain) << "the mean is known by then";
}

TEST(Oracle, ends_counting_where_a_row_follows_from_too_much) {
  EXPECT_EQ(asked_for("torch.softmax(F.avg_pool2d(x, 3, 1, 1), 1)", "torch.rand(2, 16, 32, 32)", 32, 100), 100);
  EXPECT_EQ(asked_for("x / torch.norm(x, dim=(1, 2, 3), keepdim=True)", "torch.rand(2, 16, 32, 32)", 32, 20), 20);
}

TEST(Oracle, value_that_is_read_twice_is_computed_once) {
  // Without a memo these would be 2^60 additions.
  std::string doubled = "x";
  for (int i = 0; i < 60; ++i) doubled = "(lambda z: z + z)(" + doubled + ")";
  const auto program = program_of(doubled, "torch.rand(1)");
  const auto answer = evaluate_elements(program.graph, {{program.inputs[0].value, [](std::int64_t) { return 1.0; }}},
                                        std::vector{WantedElements{program.outputs[0], {0}}});
  ASSERT_TRUE(answer.has_value()) << answer.error().to_string();
  EXPECT_EQ((*answer)[0][0], std::ldexp(1.0, 60));
}

TEST(Oracle, deep_graph_does_not_exhaust_the_stack) {
  const auto text = program_test::module_text("for i in range(6000):\n    x = x + 1\nreturn x", "torch.rand(2)");
  const auto program = read_program(text, "m.py");
  ASSERT_TRUE(program.has_value()) << program.error().to_string();
  const auto answer = evaluate_elements(program->graph, {{program->inputs[0].value, [](std::int64_t) { return 0.5; }}},
                                        std::vector{WantedElements{program->outputs[0], {1}}});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ((*answer)[0][0], 6000.5);
}

TEST(Oracle, index_outside_of_its_axis_gives_nan) {
  const auto program = program_of("torch.index_select(x, 0, y + 2)", "torch.rand(3), torch.randint(0, 3, (2,))");
  const auto answer = evaluate_graph(program.graph, leaves_of(program), program.outputs);
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(std::isnan(answer->front().values[0]));
}

TEST(Oracle, integers_wrap_around_and_booleans_are_truths) {
  EXPECT_EQ(held_as(ElementType::uint8, -1.0), 255.0);
  EXPECT_EQ(held_as(ElementType::uint8, 256.0), 0.0);
  EXPECT_EQ(held_as(ElementType::int8, 128.0), -128.0);
  EXPECT_EQ(held_as(ElementType::int8, -129.0), 127.0);
  EXPECT_EQ(held_as(ElementType::int16, 32768.0), -32768.0);
  EXPECT_EQ(held_as(ElementType::int32, 2147483648.0), -2147483648.0);
  EXPECT_EQ(held_as(ElementType::int64, -2.7), -2.0);
  EXPECT_EQ(held_as(ElementType::boolean, 0.25), 1.0);
  EXPECT_EQ(held_as(ElementType::float16, 0.1), 0.1);
}

}  // namespace
}  // namespace kw::program_oracle_test
