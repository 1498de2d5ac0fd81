#pragma once
// Which system calls a sandboxed process may not make. Denied calls return EPERM, so that a library that only tries
// goes on; a call made in another architecture's numbering kills. Internal to the sandbox.

#include <linux/filter.h>

#include <vector>

#include "base/result.hpp"
#include "sandbox/filter_builder.hpp"
#include "sandbox/sandbox.hpp"

namespace kw {

/// The filters of both profiles, as programs that a process can install between fork and execve.
[[nodiscard]] Result<std::vector<std::vector<sock_filter>>> base_filters();

/// What lock_down() adds, for the calling process: no new process, program, file to write, socket, or signal to others.
void add_lock_down_rules(FilterBuilder& filter, OpenForWriting open);

}  // namespace kw
