#include "sandbox/namespaces.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace kw {
namespace {

bool write_file(const char* path, const char* text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const auto bytes = static_cast<ssize_t>(std::strlen(text));
  const bool written = ::write(file, text, static_cast<std::size_t>(bytes)) == bytes;
  ::close(file);
  return written;
}

void make_everything_read_only() {
  const mount_attr read_only{.attr_set = MOUNT_ATTR_RDONLY, .attr_clr = 0, .propagation = 0, .userns_fd = 0};
  ::syscall(SYS_mount_setattr, -1, "/", AT_RECURSIVE, &read_only, sizeof read_only);
}

void make_writable(const char* path) {
  const mount_attr writable{.attr_set = 0, .attr_clr = MOUNT_ATTR_RDONLY, .propagation = 0, .userns_fd = 0};
  ::syscall(SYS_mount_setattr, -1, path, 0, &writable, sizeof writable);
}

// The supervisor unmounts the private directory when the host has died. execve would take the right to from a user who
// is not 0.
void keep_right_to_unmount() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> rights{};
  if (::syscall(SYS_capget, &header, rights.data()) != 0) return;
  rights[0].inheritable |= 1U << CAP_SYS_ADMIN;
  if (::syscall(SYS_capset, &header, rights.data()) != 0) return;
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0);
}

}  // namespace

bool enter_namespaces(const ChildPlan& plan) {
  // A kernel older than 3.19 has no such file; every other one wants it before the group map.
  write_file("/proc/self/setgroups", "deny");
  if (!write_file("/proc/self/uid_map", plan.user_map.c_str())) return false;
  if (!write_file("/proc/self/gid_map", plan.group_map.c_str())) return false;
  keep_right_to_unmount();
  // Nothing below may show up in the host's mounts; without this, leave the mounts alone.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return true;
  make_everything_read_only();
  if (::mount("private", plan.private_directory.c_str(), "tmpfs", MS_NOSUID | MS_NODEV,
              plan.private_mount_options.c_str()) != 0) {
    // Then the host's directory, without a limit on its size.
    const char* directory = plan.private_directory.c_str();
    if (::mount(directory, directory, nullptr, MS_BIND, nullptr) == 0) make_writable(directory);
  }
  // In most containers /proc has masked parts and a fresh one is refused; then the host's stays, under Landlock.
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) make_writable("/proc");
  return true;
}

int namespace_flags() {
  return CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS;
}

}  // namespace kw
