#pragma once
// What else is right about a kernel whose output is wrong on one case: the author of a kernel that is right at one size
// and wrong at another is told both, and looks for the cause where they differ.

#include <string>

#include "verify/gates/gate.hpp"

namespace kw {

/// One launch on each workload that may be named, with data like those of the case that failed, and one line about all
/// of them with their sizes, and a guess at what tells right from wrong. Ends early, saying less, where the kernel dies
/// or time runs out. The verdict is not touched. Empty where no workload may be named. The candidate's process must be
/// alive.
[[nodiscard]] std::string other_workloads(GateContext& context, const CheckCase& failed);

}  // namespace kw
