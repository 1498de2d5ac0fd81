#pragma once
// The run's threads. Only loop/ creates threads; lower layers get a ParallelFor.

#include <cstdint>

#include "base/parallel.hpp"

namespace kw {

/// A ParallelFor over `threads` threads that live for one call: calls are few (one per oracle case) and long, and a
/// pool with a lifetime would have to be stopped on every error path. Bodies are handed out one index at a time.
[[nodiscard]] ParallelFor parallel_for(int threads);
/// A thread for one call, as above.
void run_beside(const std::function<void()>& here, const std::function<void()>& beside);
/// A thread for one piece of work, as above.
[[nodiscard]] std::future<void> start_now(std::function<void()> work);
/// One thread per processor this process may use.
[[nodiscard]] int usable_processors();

}  // namespace kw
