#pragma once
// How much processor time a sandboxed program has had: what a deadline means on a machine that does other things too.
// Internal to the sandbox.

#include <sys/types.h>

#include <optional>

#include "base/clock.hpp"

namespace kw {

/// Of the process, all its threads, children that it has waited for, and all that lives in its session, which is what
/// it started unless that left on purpose. User and system time, in steps of the kernel's clock tick (10 ms). Nothing
/// when the process is gone.
[[nodiscard]] std::optional<Duration> processor_time_of(pid_t leader);

}  // namespace kw
