#pragma once
// Which system calls a sandboxed process may not make. Denied calls return EPERM, so that a library that only tries
// goes on; a call made in another architecture's numbering kills. Internal to the sandbox.

#include <linux/filter.h>

#include <vector>

#include "base/result.hpp"
#include "sandbox/filter_builder.hpp"
#include "sandbox/sandbox.hpp"

namespace kw {

/// What NVIDIA's driver needs in order to start: it listens on a local socket for processes to share memory with.
/// `listening` lets a process make such sockets (SOCK_SEQPACKET, which send nothing unconnected) and be called on them;
/// it can still call nobody. `calling` is for a vendor's tool and the worker that it starts: local stream sockets too,
/// and connecting. lock_down() takes all of that.
enum class Sockets : std::uint8_t { none, listening, calling };

/// The filters of both profiles, as programs that a process can install between fork and execve.
[[nodiscard]] Result<std::vector<std::vector<sock_filter>>> base_filters(Sockets sockets);

/// What lock_down() adds, for the calling process: no new process, program, file to write, socket, or signal to others.
void add_lock_down_rules(FilterBuilder& filter, OpenForWriting open);

/// What lock_down_for_kernels() leaves, for a filter in which others are denied: the channel, waiting, the pages of the
/// arena, and the end. docs/threat-model.md lists the calls with their reasons.
void add_rules_for_loaded_kernels(FilterBuilder& filter, const KernelRights& rights);

/// The other half of it, for a filter of its own: one rule can compare an argument only once, so rights of pages from
/// the arena's beginning on are allowed there, and those behind its end denied here.
void add_bounds_of_arena(FilterBuilder& filter, std::span<const std::byte> arena);

}  // namespace kw
