// Which elements of an answer follow from the same ones.

#include "operators/program/shared_axes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "operators/program/testing/image_problem.hpp"

namespace kw {
namespace {

using program_test::image_problem;

using Sharing = std::vector<std::size_t>;

Sharing sharing_in(const std::string& forward, bool by_element = false,
                   const std::string& inputs = "torch.rand(N, C, H, W)") {
  return shared_axes(image_problem(forward, inputs), by_element);
}

TEST(SharedAxes, of_rows_are_those_that_a_statistic_is_taken_for) {
  EXPECT_EQ(sharing_in("F.batch_norm(F.avg_pool2d(x, 3, 1, 1), None, None, training=True)"), Sharing{1});
  EXPECT_EQ(sharing_in("F.layer_norm(F.avg_pool2d(x, 3, 1, 1), (C, H, W))"), Sharing{0});
  EXPECT_EQ(sharing_in("F.instance_norm(F.avg_pool2d(x, 3, 1, 1))"), (Sharing{0, 1}));
  EXPECT_EQ(sharing_in("torch.softmax(F.avg_pool2d(x, 3, 1, 1), 1)"), (Sharing{0, 2}));
}

TEST(SharedAxes, of_elements_are_found_where_a_row_follows_from_everything) {
  const std::string forward = "F.batch_norm(x @ w, None, None, training=True)";
  const std::string inputs = "torch.rand(N, H), torch.rand(H, W)";
  EXPECT_EQ(sharing_in(forward, false, inputs), Sharing{});
  EXPECT_EQ(sharing_in(forward, true, inputs), Sharing{1});
}

TEST(SharedAxes, are_none_where_elements_share_nothing_or_everything) {
  for (const bool by_element : {false, true}) {
    EXPECT_EQ(sharing_in("F.relu(x)", by_element), Sharing{});
    EXPECT_EQ(sharing_in("F.avg_pool2d(x, 2)", by_element), Sharing{});
    EXPECT_EQ(sharing_in("F.avg_pool2d(x, 2) / F.avg_pool2d(x, 2).sum()", by_element), Sharing{});
  }
}

std::set<std::int64_t> rows_of_slice(const AxisSlices& slices, std::int64_t slice, std::int64_t places) {
  std::set<std::int64_t> rows;
  for (std::int64_t place = 0; place < places; ++place) rows.insert(slices.row_of(slice, place));
  return rows;
}

TEST(AxisSlices, have_each_row_once) {
  const Problem problem = image_problem("F.relu(x)", "torch.rand(2, 3, 4, 5)");
  const TensorSpec& output = problem.outputs.front();
  const Axes& axes = problem.primary().axes;
  const AxisSlices channels(output, axes, {1}, false);
  EXPECT_EQ(channels.count(), 3);
  EXPECT_THAT(rows_of_slice(channels, 1, 8), testing::ElementsAre(4, 5, 6, 7, 16, 17, 18, 19));
  const AxisSlices columns(output, axes, {0, 3}, true);
  EXPECT_EQ(columns.count(), 10);
  std::set<std::int64_t> all;
  for (std::int64_t slice = 0; slice < 10; ++slice) {
    const auto rows = rows_of_slice(columns, slice, 12);
    EXPECT_EQ(rows.size(), 12U);
    all.insert(rows.begin(), rows.end());
  }
  EXPECT_EQ(all.size(), 120U);
  EXPECT_EQ(*all.rbegin(), 119);
}

}  // namespace
}  // namespace kw
