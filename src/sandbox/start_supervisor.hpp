#pragma once
// Starts the supervisor, a program of its own. Until it is executed its process runs in the memory of the host, as
// after posix_spawn(): a copy would cost the host a page fault for everything that it writes afterwards. Internal to
// the sandbox.

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/child_plan.hpp"

namespace kw {

struct StartedSupervisor {
  UniqueFd handle;  ///< its pidfd; invalid where clone was refused
  int error = 0;    ///< errno of that
};

/// Where the program lies in a folder; errc::sandbox_failed where it does not.
[[nodiscard]] Result<std::string> find_supervisor(const std::filesystem::path& folder);

/// The program that lies beside this one. In new namespaces if the plan says so. `control`: its end of the pair
/// (supervisor.hpp). What is refused after the clone it says there. Errors: those of find_supervisor(), and
/// errc::sandbox_failed without memory for the plan.
[[nodiscard]] Result<StartedSupervisor> start_supervisor(const ChildPlan& plan, int control);

}  // namespace kw
