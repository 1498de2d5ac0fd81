#include "loop/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>

#include "loop/kept_threads.hpp"

namespace kw {

ParallelFor parallel_for(int threads) {
  return [threads](std::int64_t count, const std::function<void(std::int64_t)>& body) {
    std::atomic<std::int64_t> next{0};
    const auto work = [&] {
      for (std::int64_t i = next++; i < count; i = next++) body(i);
    };
    const auto helpers = std::min<std::int64_t>(threads, count) - 1;
    if (helpers <= 0) return work();
    KeptThreads::all().run(static_cast<std::size_t>(helpers), work);
  };
}

void run_beside(const std::function<void()>& here, const std::function<void()>& beside) {
  KeptThreads::all().run_beside(here, beside);
}

std::future<void> start_now(std::function<void()> work) {
  return std::async(std::launch::async, std::move(work));
}

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace kw
