#pragma once
// Where PoCL's threads run. Its CPU device has one thread per processor, and all of them wake at a launch. Left alone,
// the system puts two of them on one processor in up to half of the launches that follow a pause, and moves none for
// milliseconds: a kernel of 6.6 ms then takes 13. Bound to a processor each, they never share one with each other
// (docs/results/2026-11-26-programs-cpu.md).

#include <sched.h>

namespace kw::opencl {

/// Whether the thread with number n may be bound to processor n, for all n, as PoCL does it: the process may use
/// every processor that is online, and they are numbered from 0. PoCL ends the process where binding fails.
[[nodiscard]] bool can_bind_threads(const cpu_set_t& allowed, long online);

/// Has PoCL bind its threads where that can be done. Call before the driver is loaded.
void bind_pocl_threads();

}  // namespace kw::opencl
