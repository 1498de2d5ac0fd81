#pragma once
// User, pid, network, ipc, uts and mount namespaces: the supervisor's side runs after clone and makes system calls
// only.

#include "sandbox/child_plan.hpp"

namespace kw {

/// Flags for clone: all namespaces of tier b.
[[nodiscard]] int namespace_flags();

/// Called in the new namespaces: maps the user to itself, makes every mount read-only, mounts a fresh /proc and a
/// bounded file system on the private directory. False with errno when even the map is refused. A mount that is refused
/// leaves what was there before; the probe reports what that means.
[[nodiscard]] bool enter_namespaces(const ChildPlan& plan);

}  // namespace kw
