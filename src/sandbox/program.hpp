#pragma once
// The last steps between fork and execve, in the process that becomes the sandboxed program. System calls only (see
// keeper.hpp).

#include <sys/types.h>

#include "sandbox/child_plan.hpp"

namespace kw {

/// Applies every layer of the plan and executes the program. On failure tells `control` which step it was, and exits.
[[noreturn]] void execute_program(const ChildPlan& plan, int control, pid_t keeper, bool in_group);

}  // namespace kw
