// Sets of elements against the same in a std::set.

#include "operators/program/oracle/ranges.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/rng.hpp"

namespace kw::program_oracle {
namespace {

std::set<std::int64_t> elements_in(const Ranges& ranges) {
  std::set<std::int64_t> elements;
  for (const auto& range : ranges) {
    for (auto i = range.begin; i < range.end; ++i) elements.insert(i);
  }
  return elements;
}

/// Ascending, none empty, and with a gap between two.
void expect_apart(const Ranges& ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_LT(ranges[i].begin, ranges[i].end);
    if (i > 0) {
      EXPECT_GT(ranges[i].begin, ranges[i - 1].end);
    }
  }
}

Ranges drawn(Rng& rng, std::int64_t count, std::int64_t longest) {
  Ranges ranges;
  for (int i = 0; i < 40; ++i) {
    const auto begin = rng.below(count);
    ranges.push_back({begin, std::min(count, begin + 1 + rng.below(longest))});
  }
  return ranges;
}

TEST(Ranges, are_joined_where_they_touch) {
  Rng rng(1);
  for (const std::int64_t longest : {1, 5, 300}) {
    const Ranges ranges = drawn(rng, 5000, longest);
    const Ranges all = joined(ranges);
    expect_apart(all);
    EXPECT_EQ(elements_in(all), elements_in(ranges));
    EXPECT_EQ(count_of(all), std::ssize(elements_in(ranges)));
  }
}

TEST(Ranges, are_cut_and_are_parts_of_rows) {
  const Ranges ranges = {{3, 4}, {7, 25}};
  const Ranges parts = cut(ranges, 8);
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(elements_in(parts), elements_in(ranges));
  EXPECT_EQ(parts.back().end - parts.back().begin, 2);
  const auto rows = parts_of_rows(ranges, 10);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].row * 10 + rows[1].first, 7);
  EXPECT_EQ(rows[1].count, 3);
  EXPECT_EQ(rows[2].count, 10);
  EXPECT_EQ(rows[3].row, 2);
  EXPECT_EQ(rows[3].count, 5);
}

TEST(ElementSets, hold_what_was_added) {
  Rng rng(2);
  for (const std::int64_t longest : {1, 60, 64, 65, 9000}) {
    const std::int64_t count = 20000;
    const Ranges ranges = drawn(rng, count, longest);
    ElementSet set(count);
    std::thread other([&] {
      for (const auto& range : ranges) set.add(range);
    });
    for (const auto& range : ranges) set.add(range);
    set.add(count - 1);
    other.join();
    auto expected = elements_in(ranges);
    expected.insert(count - 1);
    expect_apart(set.ranges());
    EXPECT_EQ(elements_in(set.ranges()), expected) << "ranges of up to " << longest;
  }
}

}  // namespace
}  // namespace kw::program_oracle
