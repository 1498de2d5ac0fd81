#pragma once
// Ctrl-C, a request to end, and a terminal that is gone.

#include <atomic>

namespace kw {

/// From now on the first such signal sets what is returned, and runs end after the attempt in flight; the second ends
/// the process as usual.
[[nodiscard]] const std::atomic<bool>& watch_stop_signals();

}  // namespace kw
