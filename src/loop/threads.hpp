#pragma once
// The run's threads. Only loop/ creates threads; lower layers get a ParallelFor.

#include <cstdint>

#include "base/parallel.hpp"

namespace kw {

/// A ParallelFor over `threads` threads, however many others are at work (loop/kept_threads.hpp). Bodies are handed out
/// one index at a time.
[[nodiscard]] ParallelFor parallel_for(int threads);
/// `beside` on a kept thread.
void run_beside(const std::function<void()>& here, const std::function<void()>& beside);
/// A thread for one piece of work.
[[nodiscard]] std::future<void> start_now(std::function<void()> work);
/// One thread per processor this process may use.
[[nodiscard]] int usable_processors();

}  // namespace kw
