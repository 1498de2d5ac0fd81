#pragma once
// A control group for one sandboxed process: memory and a number of tasks. Version 2 where it has both controllers,
// else version 1, else none. Best effort: what it achieves is probed. Internal to the sandbox.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/sandbox.hpp"

namespace kw {

/// A directory of the control group file system in which groups can be made.
struct CgroupParent {
  std::filesystem::path directory;
  bool version_2 = false;
  bool memory = false;
  bool pids = false;
};

/// Where this process may make groups: one of version 2, or up to two of version 1. Errors say which file refused.
[[nodiscard]] Result<std::vector<CgroupParent>> find_cgroup_parents();

class Cgroup {
 public:
  /// No group: members() is empty, nothing is limited.
  Cgroup() = default;
  [[nodiscard]] static Result<Cgroup> create(const std::string& name, const SandboxLimits& limits);
  Cgroup(Cgroup&&) = default;
  Cgroup& operator=(Cgroup&&) = default;
  ~Cgroup();

  /// Open files of members; a process that writes "0" to each is inside, and so is all it starts.
  [[nodiscard]] std::vector<int> members() const;
  /// The group's open directory for CLONE_INTO_CGROUP; -1 in version 1, which has no such thing.
  [[nodiscard]] int directory() const;
  /// Open parent directories, and this group's name in them: for removal by someone who outlives this process.
  [[nodiscard]] std::vector<int> parents() const;
  /// SIGKILL to all inside. Returns at once; false where the kernel has no such file.
  bool kill();
  /// How often the kernel has killed for lack of memory.
  [[nodiscard]] std::int64_t memory_kills() const;

 private:
  struct Part {
    std::filesystem::path directory;
    bool version_2 = false;
    bool memory = false;
    UniqueFd parent;
    UniqueFd members;
    UniqueFd own;
  };
  std::vector<Part> parts_;
};

}  // namespace kw
