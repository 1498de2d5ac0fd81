// malloc in a process that has given up the calls by which it would get memory, as a run worker has when kernels run.

#include "sandbox/heap_reserve.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "sandbox/sandbox.hpp"

#ifndef KW_SANITIZED  // whose malloc is their own

namespace kw {
namespace {

/// The blocks of `bytes` that this process gets, at most 64; they are written to, and then given back.
int blocks_of(std::size_t bytes) {
  std::array<void*, 64> blocks{};
  int got = 0;
  for (void*& block : blocks) {
    block = std::malloc(bytes);
    if (block == nullptr) break;
    std::memset(block, 1, bytes);
    ++got;
  }
  for (void* block : blocks) std::free(block);
  return got;
}

/// The exit status of a child that does `act` on a thread that is older than its lock-down; 100 and more: it failed.
template <typename Act>
int after_lock_down(const Act& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    keep_one_heap();
    std::atomic<bool> runs = false;
    std::atomic<bool> locked = false;
    std::thread older([&] {
      runs = true;
      runs.notify_all();
      locked.wait(false);
      ::_exit(act());
    });
    runs.wait(false);
    if (!lock_down_for_kernels({0, {}})) ::_exit(100);
    locked = true;
    locked.notify_all();
    older.join();
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

TEST(heap_reserve, has_what_launches_need) {
  EXPECT_EQ(after_lock_down([] { return blocks_of(100); }), 64);
  EXPECT_EQ(after_lock_down([] { return blocks_of(std::size_t{256} << 10); }), 64);
  EXPECT_EQ(after_lock_down([] { return blocks_of(std::size_t{256} << 10) - blocks_of(std::size_t{256} << 10); }), 0);
}

TEST(heap_reserve, is_all_there_is) {
  EXPECT_EQ(after_lock_down([] { return blocks_of(2 * k_heap_reserve_bytes); }), 0);
  const int quarters = after_lock_down([] { return blocks_of(k_heap_reserve_bytes / 4); });
  EXPECT_TRUE(quarters == 3 || quarters == 4) << quarters;
}
}  // namespace
}  // namespace kw

#endif
