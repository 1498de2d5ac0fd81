#pragma once
// Landlock: which paths a process may read, write and execute, and whether it may use TCP, abstract sockets and signals
// to processes outside. Needs no privilege. Raw system calls, because Debian 12 has no library for it and its kernel
// headers stop at ABI 2. Internal to the sandbox.

#include <cstdint>
#include <string>
#include <vector>

namespace kw {

enum class PathAccess : std::uint8_t {
  read = 1,      ///< read files, list directories
  read_execute,  ///< and execute
  read_write,    ///< read, write, create, remove, rename; never devices, never execute
  device,        ///< read, write, ioctl
  directory,     ///< list the directory; nothing below it
};

struct PathRule {
  std::string path;  ///< skipped by itself when it does not exist
  PathAccess access = PathAccess::read;
};

struct LandlockPlan {
  std::vector<PathRule> rules;
  bool governs_paths = true;  ///< false: TCP, abstract sockets and signals only, where the kernel can
};

/// The kernel's ABI version; 0 when it has no Landlock or has it switched off.
[[nodiscard]] int landlock_abi();

/// Restricts the calling process for good. Needs no_new_privs. Only system calls, so it may run after clone. Returns 0
/// or an errno; a kernel without Landlock is no error here, because the probe reports it.
[[nodiscard]] int restrict_paths(const LandlockPlan& plan);

}  // namespace kw
