#pragma once
// How lower layers ask for parallelism without owning threads: loop/ owns them all and passes this in.

#include <cstdint>
#include <functional>

namespace kw {

/// Calls body(i) once for every i in [0, count), on any thread, and returns when all are done.
using ParallelFor = std::function<void(std::int64_t count, const std::function<void(std::int64_t)>& body)>;

/// The one that needs no threads.
inline void serial_for(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

/// Calls both and returns when both are done: `here` on the calling thread, `beside` on any.
using RunBeside = std::function<void(const std::function<void()>& here, const std::function<void()>& beside)>;

/// The one that needs no threads.
inline void serial_beside(const std::function<void()>& here, const std::function<void()>& beside) {
  here();
  beside();
}

}  // namespace kw
