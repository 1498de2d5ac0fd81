#pragma once
// Signs that the machine was busy with something else while we measured.

#include <cstdint>
#include <optional>

namespace kw {

/// Clock ticks the hypervisor gave to others, over all CPUs, since boot (/proc/stat, "steal"). Absent when unreadable.
[[nodiscard]] std::optional<std::int64_t> steal_ticks();

}  // namespace kw
