#pragma once
// How lower layers ask for parallelism without owning threads: loop/ owns them all and passes this in.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <utility>

namespace kw {

/// Calls body(i) once for every i in [0, count), on any thread, and returns when all are done.
using ParallelFor = std::function<void(std::int64_t count, const std::function<void(std::int64_t)>& body)>;

/// The one that needs no threads.
inline void serial_for(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

/// Elements of one part of a long loop over memory: long against what a thread costs, short against a cache.
inline constexpr std::size_t k_elements_per_part = std::size_t{1} << 18;

/// Calls body(part, begin, end) for parts that cover [0, count), each as long as `part_length` but the last, which may
/// be shorter. `part` counts them from 0. One part needs no thread.
template <typename Body>
void for_parts(const ParallelFor& parallel, std::size_t count, std::size_t part_length, const Body& body) {
  const std::size_t parts = (count + part_length - 1) / part_length;
  const auto one = [&](std::int64_t i) {
    const auto part = static_cast<std::size_t>(i);
    body(part, part * part_length, std::min(count, (part + 1) * part_length));
  };
  if (parts == 1) return one(0);
  parallel(static_cast<std::int64_t>(parts), one);
}

/// Calls both and returns when both are done: `here` on the calling thread, `beside` on any.
using RunBeside = std::function<void(const std::function<void()>& here, const std::function<void()>& beside)>;

/// The one that needs no threads.
inline void serial_beside(const std::function<void()>& here, const std::function<void()>& beside) {
  here();
  beside();
}

/// Begins work on any thread and returns at once. Whoever waits for the future sees what the work has done; a future
/// that is destroyed waits as well, unless the work never began.
using StartWork = std::function<std::future<void>(std::function<void()> work)>;

/// The one that needs no threads: the work is done when somebody waits for it.
inline std::future<void> start_later(std::function<void()> work) {
  return std::async(std::launch::deferred, std::move(work));
}

}  // namespace kw
