#include "sandbox/cgroup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace kw {
namespace {

namespace fs = std::filesystem;

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto end = list.find_first_of(", \n");
    if (list.substr(0, end) == word) return true;
    if (end == std::string_view::npos) return false;
    list.remove_prefix(end + 1);
  }
  return false;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<void> write_text(const fs::path& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid() || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return fail(errc::sandbox_failed, "cannot write {} to {}: {}", text, path.string(), std::strerror(errno));
  }
  return {};
}

struct Mount {
  std::string root;  ///< which part of the hierarchy is mounted
  fs::path at;
  bool version_2 = false;
  std::string options;  ///< names the controllers in version 1
};

std::vector<Mount> cgroup_mounts() {
  std::vector<Mount> mounts;
  std::ifstream table("/proc/self/mountinfo");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string skip;
    Mount mount;
    std::string at;
    words >> skip >> skip >> skip >> mount.root >> at;
    while (words >> skip && skip != "-") {
    }
    std::string type;
    words >> type >> skip >> mount.options;
    if (type != "cgroup" && type != "cgroup2") continue;
    mount.at = at;
    mount.version_2 = type == "cgroup2";
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

// This process's own group in one hierarchy, as a directory: "" names version 2, else a controller of version 1. A
// group below our own keeps whatever limit somebody has put on us.
fs::path own_group(const std::vector<Mount>& mounts, std::string_view controller) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (controller.empty() ? !controllers.empty() : !has_word(controllers, controller)) continue;
    for (const Mount& mount : mounts) {
      if (mount.version_2 != controller.empty()) continue;
      if (!controller.empty() && !has_word(mount.options, controller)) continue;
      if (mount.root != "/" && path.starts_with(mount.root)) path = path.substr(mount.root.size());
      return path.empty() || path == "/" ? mount.at : mount.at / path.substr(1);
    }
  }
  return {};
}

// Makes memory and pids available to groups below `own`. Version 2 allows that only in a group without processes of its
// own, so if we are alone in it, we move one group down.
Result<void> delegate_controllers(const fs::path& own) {
  const std::string enabled = read_text(own / "cgroup.subtree_control");
  if (has_word(enabled, "memory") && has_word(enabled, "pids")) return {};
  constexpr std::string_view k_wanted = "+memory +pids";
  if (auto written = write_text(own / "cgroup.subtree_control", k_wanted)) return written;
  if (read_text(own / "cgroup.procs") != fmt::format("{}\n", ::getpid())) {
    return fail(errc::sandbox_failed, "{} holds other processes, so it cannot have limited groups below it",
                own.string());
  }
  const fs::path leaf = own / "kernelwright-host";
  if (::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) {
    return fail(errc::sandbox_failed, "cannot create {}: {}", leaf.string(), std::strerror(errno));
  }
  KW_TRY_VOID(write_text(leaf / "cgroup.procs", "0"));
  return write_text(own / "cgroup.subtree_control", k_wanted);
}

Result<CgroupParent> find_version_2(const std::vector<Mount>& mounts) {
  fs::path own = own_group(mounts, "");
  if (own.empty()) return fail(errc::sandbox_failed, "no cgroup file system of version 2 is mounted");
  // After delegate_controllers we are in the leaf, and the groups belong beside it.
  if (own.filename() == "kernelwright-host") own = own.parent_path();
  const std::string offered = read_text(own / "cgroup.controllers");
  if (!has_word(offered, "memory") || !has_word(offered, "pids")) {
    return fail(errc::sandbox_failed, "{} offers no memory and pids controllers", own.string());
  }
  KW_TRY_VOID(delegate_controllers(own));
  return CgroupParent{own, true, true, true};
}

tl::unexpected<Error> cannot_create(const fs::path& directory) {
  return fail(errc::sandbox_failed, "cannot create {}: {}", directory.string(), std::strerror(errno));
}

Result<void> set_limits(const CgroupParent& parent, const fs::path& group, const SandboxLimits& limits) {
  const std::string memory = std::to_string(limits.memory_bytes);
  const char* memory_file = parent.version_2 ? "memory.max" : "memory.limit_in_bytes";
  const char* swap_file = parent.version_2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes";
  if (parent.memory) {
    KW_TRY_VOID(write_text(group / memory_file, memory));
    // A kernel without swap accounting lacks this file and has nothing to limit.
    auto swap = write_text(group / swap_file, parent.version_2 ? "0" : memory);
    if (!swap && fs::exists(group / swap_file)) return swap;
  }
  if (parent.pids) KW_TRY_VOID(write_text(group / "pids.max", std::to_string(limits.processes)));
  return {};
}

}  // namespace

Result<std::vector<CgroupParent>> find_cgroup_parents() {
  const std::vector<Mount> mounts = cgroup_mounts();
  auto version_2 = find_version_2(mounts);
  if (version_2) return std::vector<CgroupParent>{*version_2};
  std::vector<CgroupParent> parents;
  for (const std::string_view controller : {"memory", "pids"}) {
    const fs::path own = own_group(mounts, controller);
    if (own.empty()) return tl::unexpected(std::move(version_2).error());
    parents.push_back({own, false, controller == "memory", controller == "pids"});
  }
  return parents;
}

Result<Cgroup> Cgroup::create(const std::string& name, const SandboxLimits& limits) {
  KW_TRY(const std::vector<CgroupParent> parents, find_cgroup_parents());
  Cgroup group;  // on failure its destructor removes what is there already
  for (const CgroupParent& parent : parents) {
    Part part;
    part.directory = parent.directory / name;
    part.version_2 = parent.version_2;
    part.memory = parent.memory;
    part.parent = UniqueFd(::open(parent.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (::mkdir(part.directory.c_str(), 0755) != 0) return cannot_create(part.directory);
    group.parts_.push_back(std::move(part));
    Part& made = group.parts_.back();
    KW_TRY_VOID(set_limits(parent, made.directory, limits));
    // Moving a process waits for an RCU grace period, 15 ms; a single thread that moves itself does not. Version 2 has
    // only the former, but lets a process be born inside (supervisor.cpp).
    const fs::path members = made.directory / (parent.version_2 ? "cgroup.procs" : "tasks");
    made.members = UniqueFd(::open(members.c_str(), O_WRONLY | O_CLOEXEC));
    made.own = UniqueFd(::open(made.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!made.members.valid() || !made.parent.valid() || !made.own.valid()) {
      return fail(errc::sandbox_failed, "cannot open {}: {}", members.string(), std::strerror(errno));
    }
  }
  return group;
}

Cgroup::~Cgroup() {
  for (const Part& part : parts_) {
    // The processes are dead and reaped; should one linger in a driver, the empty limits stay behind and do no harm.
    ::rmdir(part.directory.c_str());
  }
}

std::vector<int> Cgroup::members() const {
  std::vector<int> files;
  for (const Part& part : parts_) files.push_back(part.members.get());
  return files;
}

int Cgroup::directory() const {
  return parts_.size() == 1 && parts_[0].version_2 ? parts_[0].own.get() : -1;
}

std::vector<int> Cgroup::parents() const {
  std::vector<int> files;
  for (const Part& part : parts_) files.push_back(part.parent.get());
  return files;
}

bool Cgroup::kill() {
  bool killed = false;
  for (const Part& part : parts_) killed |= part.version_2 && write_text(part.directory / "cgroup.kill", "1");
  return killed;
}

std::int64_t Cgroup::memory_kills() const {
  for (const Part& part : parts_) {
    if (!part.memory) continue;
    std::ifstream events(part.directory / (part.version_2 ? "memory.events" : "memory.oom_control"));
    std::string key;
    for (std::int64_t count = 0; events >> key >> count;) {
      if (key == "oom_kill") return count;
    }
  }
  return 0;
}

}  // namespace kw
