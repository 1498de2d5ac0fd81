#pragma once
// Some groups of a launch by OpenCL's own means: a global offset. It gives work-items their numbers in the whole grid,
// and nothing else: get_group_id counts from 0, get_num_groups is what was launched, and get_global_offset tells. So
// these four are functions of the program, put in front of its source, where such a launch is built. Functions and no
// macros: a kernel can undefine a macro, or call around it, and a tool would watch other groups than it says. Meant for
// Oclgrind, which calls a function that has a body before one of its own.

#include <span>
#include <string>

#include "base/result.hpp"
#include "record/launch_plan.hpp"

namespace kw::opencl {

/// The source with these functions in front where a launch has PlannedLaunch::only, and as it is otherwise. The lines
/// of the source keep their numbers. All launches must then have one grid: it is a number in the text.
[[nodiscard]] Result<std::string> with_group_numbers(const std::string& source,
                                                     std::span<const PlannedLaunch> launches);

}  // namespace kw::opencl
