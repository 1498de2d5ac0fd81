#pragma once
// What the host has decided about one start: the supervisor, which is a program of its own, gets it as bytes. Internal
// to the sandbox.

#include <linux/filter.h>
#include <sys/resource.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/sandbox.hpp"

namespace kw {

struct PlannedLimit {
  int resource = 0;
  rlimit value{};
};

struct ChildPlan {
  std::string program;
  std::vector<std::string> arguments;  ///< with the program's name
  std::vector<std::string> environment;
  std::vector<int> descriptors;  ///< what becomes descriptor 0, 1, 2, ... of the program; owned by the caller
  bool close_others = true;
  bool namespaces = false;  ///< whether the supervisor has user, pid and mount namespaces of its own
  std::vector<PlannedLimit> limits;
  bool drop_privileges = true;
  bool reap = true;  ///< kill what the program leaves behind
  bool use_landlock = true;
  LandlockPlan landlock;
  std::vector<std::vector<sock_filter>> filters;  ///< installed in this order
  std::string user_map;                           ///< what goes into uid_map and gid_map: the user maps to itself
  std::string group_map;
  std::string private_directory;
  std::string private_mount_options;  ///< of the file system mounted there, where there is a mount namespace
  int cgroup_directory = -1;          ///< a group of version 2 to be born into
  std::vector<int> cgroup_members;    ///< else: open files the program writes itself into
  /// Open directories from which the supervisor removes what has this name: the host does the same, unless it was
  /// killed.
  std::vector<int> parents;
  std::string name;
};

/// For the supervisor: all of it but what namespaces are entered with, which is over when it begins.
[[nodiscard]] std::string encode(const ChildPlan& plan);
/// Nothing when the bytes are not those of encode().
[[nodiscard]] std::optional<ChildPlan> decode_child_plan(std::string_view bytes);

/// Every descriptor that the plan names by its number.
[[nodiscard]] std::vector<int> descriptors_of(const ChildPlan& plan);

/// Where a launch failed; sent by the child, so plain numbers.
enum class LaunchStep : std::int32_t {
  session,
  user_map,
  supervisor,
  join_cgroup,
  descriptors,
  limits,
  capabilities,
  no_new_privileges,
  landlock,
  system_calls,
  execute,
  fork,
};
[[nodiscard]] std::string_view to_string(LaunchStep step);

/// From the host to the supervisor, one byte each; the end of the host means both.
inline constexpr char k_order_kill = 'k';
inline constexpr char k_order_release = 'r';

/// From the supervisor (and, before execve, from the program's process) to the host; one datagram each.
struct SupervisorMessage {
  enum class Kind : std::int32_t { here, failed, started, ended };
  Kind kind = Kind::here;
  LaunchStep step = LaunchStep::session;  ///< of `failed`
  std::int32_t value = 0;                 ///< errno of `failed`, wait status of `ended`
};

/// These two make system calls only.
void tell(int control, SupervisorMessage message);
/// Tells `control` that the step failed, with errno, and exits.
[[noreturn]] void give_up(int control, LaunchStep step);

}  // namespace kw
