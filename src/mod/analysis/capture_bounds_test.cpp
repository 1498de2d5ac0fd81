#include "mod/analysis/capture_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/rng.hpp"

namespace kw {
namespace {

CapturedTensor random_tensor(Rng& rng, std::size_t rank) {
  CapturedTensor tensor;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    tensor.extents.push_back(1 + rng.below(i + 1 == rank ? 300 : 5));
    count *= tensor.extents.back();
  }
  for (std::int64_t i = 0; i < count; ++i) tensor.values.push_back(static_cast<float>(rng.below(1000)));
  return tensor;
}

/// Extremes over every index in the box, one by one.
ValueRange brute_force(const CapturedTensor& tensor, const std::vector<ValueRange>& box) {
  ValueRange found{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  std::vector<double> index;
  for (const auto& range : box) index.push_back(range.low);
  while (true) {
    const double value = tensor.element(index);
    found = {std::min(found.low, value), std::max(found.high, value)};
    std::size_t at = index.size();
    while (at > 0 && index[at - 1] == box[at - 1].high) {
      --at;
      index[at] = box[at].low;
    }
    if (at == 0) return found;
    ++index[at - 1];
  }
}

TEST(CaptureBounds, are_exact_on_random_boxes) {
  const std::uint64_t seed = 7;
  Rng rng(seed);
  for (int round = 0; round < 300; ++round) {
    const auto rank = static_cast<std::size_t>(rng.below(4));
    const CaptureData data = {{"t", random_tensor(rng, rank)}};
    const CaptureBounds bounds(data);
    std::vector<ValueRange> box;
    for (const auto extent : data.at("t").extents) {
      // Some boxes lie past the end, where indices are clamped.
      const auto low = static_cast<double>(rng.below(extent));
      box.push_back({low, low + static_cast<double>(rng.below(extent + 20))});
    }
    const auto expected = brute_force(data.at("t"), box);
    const auto found = bounds.range("t", box);
    ASSERT_EQ(found.low, expected.low) << "seed " << seed << ", round " << round;
    ASSERT_EQ(found.high, expected.high) << "seed " << seed << ", round " << round;
  }
}

TEST(CaptureBounds, negative_indices_count_from_the_end) {
  const CaptureData data = {{"t", {{5}, {10, 11, 12, 13, 14}}}};
  const CaptureBounds bounds(data);
  const ValueRange from_end[] = {{-2, -1}};
  EXPECT_EQ(bounds.range("t", from_end).low, 13);
  const ValueRange across[] = {{-1, 0}};
  EXPECT_EQ(bounds.range("t", across).low, 10);
  EXPECT_EQ(bounds.range("t", across).high, 14);
}

TEST(CaptureBounds, boxes_of_many_rows_get_the_whole_tensors_bounds) {
  CapturedTensor tensor{{100, 2}, std::vector<float>(200, 1.0F)};
  tensor.values[199] = 9.0F;  // in the last row, outside the box below
  const CaptureData data = {{"t", tensor}};
  const ValueRange box[] = {{0, 90}, {0, 1}};
  EXPECT_EQ(CaptureBounds(data).range("t", box).high, 9.0);
}

TEST(CapturedTensor, reads_as_pytorch_indexes_and_stays_inside) {
  const CapturedTensor tensor{{2, 3}, {0, 1, 2, 3, 4, 5}};
  const auto at = [&](double i, double j) {
    const double index[] = {i, j};
    return tensor.element(index);
  };
  EXPECT_EQ(at(1, 2), 5);
  EXPECT_EQ(at(-1, -3), 3);
  EXPECT_EQ(at(7, 1), 4) << "past the end: the nearest";
  EXPECT_EQ(at(-7, 0), 0);
}

TEST(CapturedTensor, searches_sorted_rows) {
  const CapturedTensor tensor{{2, 4}, {0, 0, 1, 3, 5, 5, 5, 9}};
  const double row[] = {1};
  EXPECT_EQ(tensor.bound(ExprOp::lower_bound, row, 5), 0);
  EXPECT_EQ(tensor.bound(ExprOp::upper_bound, row, 5), 3);
  EXPECT_EQ(tensor.bound(ExprOp::lower_bound, row, 10), 4);
}

}  // namespace
}  // namespace kw
