#pragma once
// The process between host and program. It starts the program, waits for it, kills whatever the program left behind,
// and does the same when the host dies. Inside a pid namespace it is process 1, so that the program is an ordinary
// process there: an abort or a crash ends it with the signal it would have had outside.
//
// It is a program of its own (src/supervisor), which knows nothing of the host but the plan.

#include <sys/types.h>

#include "sandbox/child_plan.hpp"

namespace kw {

/// Never returns. `control` is its end of a SOCK_SEQPACKET pair: it takes orders from it (child_plan.hpp), and its end
/// means that the host has died. All signals are blocked.
[[noreturn]] void run_supervisor(const ChildPlan& plan, int control);

/// Applies every layer of the plan and executes the program. On failure tells `control` which step it was, and exits.
[[noreturn]] void execute_program(const ChildPlan& plan, int control, pid_t supervisor, bool in_group);

}  // namespace kw
