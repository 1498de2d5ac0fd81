#pragma once
// Memory for malloc that needs no system call any more: what a run worker, its driver and the C library allocate
// between launches comes from here once the calls that would get more are gone.

#include <cstddef>

#include "base/result.hpp"

namespace kw {

/// What is kept ready. PoCL and the worker allocate some kilobytes for a launch, and not for long.
inline constexpr std::size_t k_heap_reserve_bytes = std::size_t{32} << 20;

/// All threads that begin after this share one heap. Before the first of them.
void keep_one_heap();

/// From here on malloc neither asks the system for pages nor gives any back while `k_heap_reserve_bytes` suffice; it
/// fails where it would have to. errc::sandbox_failed when there is no such memory. lock_down_for_kernels() calls it.
[[nodiscard]] Result<void> reserve_heap();

}  // namespace kw
