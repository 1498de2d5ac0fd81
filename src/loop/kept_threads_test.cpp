#include "loop/kept_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <set>
#include <thread>

#include "loop/threads.hpp"

namespace kw {
namespace {

/// The threads that were at work at the same time: none goes on before all `count` are there.
std::set<std::thread::id> together(KeptThreads& threads, std::ptrdiff_t count) {
  std::latch all(count);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  threads.run(static_cast<std::size_t>(count) - 1, [&] {
    {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    }
    all.arrive_and_wait();
  });
  return ids;
}

TEST(KeptThreads, work_at_the_same_time_and_are_the_same_the_next_time) {
  static KeptThreads threads;
  const auto first = together(threads, 4);
  EXPECT_EQ(first.size(), 4U);
  EXPECT_TRUE(first.contains(std::this_thread::get_id()));
  EXPECT_EQ(together(threads, 4), first);
  EXPECT_EQ(together(threads, 1), std::set{std::this_thread::get_id()});
}

TEST(KeptThreads, call_for_others_where_all_are_at_work) {
  static KeptThreads threads;
  std::set<std::thread::id> beside;
  std::set<std::thread::id> here;
  threads.run_beside([&] { here = together(threads, 3); }, [&] { beside = together(threads, 3); });
  EXPECT_EQ(here.size(), 3U);
  EXPECT_EQ(beside.size(), 3U);
}

TEST(KeptThreads, are_not_waited_for_where_they_have_not_begun) {
  std::atomic<int> begun = 0;
  std::atomic<int> ended = 0;
  for (int i = 0; i < 2000; ++i) {
    KeptThreads::all().run(3, [&] {
      ++begun;
      ++ended;
    });
    ASSERT_EQ(begun, ended) << "nobody is in it any more";
  }
  EXPECT_GE(begun, 2000);
  EXPECT_LE(begun, 8000);
}

TEST(ParallelFor, hands_out_each_index_once_also_from_within_another) {
  const auto parallel = parallel_for(4);
  std::vector<std::atomic<int>> calls(100);
  parallel(10, [&](std::int64_t outer) {
    parallel(10, [&](std::int64_t inner) { ++calls[static_cast<std::size_t>(10 * outer + inner)]; });
  });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  parallel(0, [](std::int64_t) { FAIL() << "there is none"; });
}

}  // namespace
}  // namespace kw
