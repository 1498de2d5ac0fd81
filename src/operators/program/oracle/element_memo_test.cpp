// What threads share of elements that were computed.

#include "operators/program/oracle/element_memo.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

namespace kw::program_oracle {
namespace {

TEST(ElementMemo, knows_what_was_kept) {
  ElementMemo memo(2000);
  EXPECT_EQ(memo.find(1999), std::nullopt);
  memo.keep(1999, -1.5);
  memo.keep(3, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(memo.find(1999), -1.5);
  EXPECT_TRUE(std::isnan(memo.find(3).value()));
  EXPECT_EQ(memo.find(4), std::nullopt);
}

/// A group may be a whole tensor: who asks for it while it is computed waits.
TEST(GroupStatistics, group_that_several_threads_ask_for_is_computed_once) {
  constexpr int k_threads = 4;
  std::atomic<int> asking = 0;
  std::atomic<int> computed = 0;
  GroupStatistics statistics(3, [&](std::int64_t group) {
    ++computed;
    while (asking < k_threads) std::this_thread::yield();
    return GroupStatistics::Pair{static_cast<double>(group), 0.5};
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < k_threads; ++i) {
    threads.emplace_back([&] {
      ++asking;
      EXPECT_EQ(statistics.of(2).first, 2.0);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(computed, 1);
}

}  // namespace
}  // namespace kw::program_oracle
