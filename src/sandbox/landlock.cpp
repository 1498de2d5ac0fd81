#include "sandbox/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace kw {
namespace {

// Names and values of linux/landlock.h up to ABI 7; the header of Debian 12 stops at ABI 2.
namespace access_fs {
constexpr std::uint64_t execute = 1U << 0;
constexpr std::uint64_t write_file = 1U << 1;
constexpr std::uint64_t read_file = 1U << 2;
constexpr std::uint64_t read_dir = 1U << 3;
constexpr std::uint64_t remove_dir = 1U << 4;
constexpr std::uint64_t remove_file = 1U << 5;
constexpr std::uint64_t make_char = 1U << 6;
constexpr std::uint64_t make_dir = 1U << 7;
constexpr std::uint64_t make_reg = 1U << 8;
constexpr std::uint64_t make_sock = 1U << 9;
constexpr std::uint64_t make_fifo = 1U << 10;
constexpr std::uint64_t make_block = 1U << 11;
constexpr std::uint64_t make_sym = 1U << 12;
constexpr std::uint64_t refer = 1U << 13;      // ABI 2
constexpr std::uint64_t truncate = 1U << 14;   // ABI 3
constexpr std::uint64_t ioctl_dev = 1U << 15;  // ABI 5
// Handled and never granted: nobody makes device nodes or sockets by name.
constexpr std::uint64_t never = make_char | make_sock | make_block;
constexpr std::uint64_t of_version_1 = execute | write_file | read_file | read_dir | remove_dir | remove_file |
                                       make_dir | make_reg | make_fifo | make_sym | never;
constexpr std::uint64_t of_files = execute | write_file | read_file | truncate | ioctl_dev;
}  // namespace access_fs
constexpr std::uint64_t k_tcp_bind_and_connect = 3;          // ABI 4
constexpr std::uint64_t k_abstract_sockets_and_signals = 3;  // ABI 6
constexpr unsigned long k_version_query = 1;
constexpr int k_rule_path_beneath = 1;

struct RulesetAttributes {
  std::uint64_t handled_fs;
  std::uint64_t handled_net;
  std::uint64_t scoped;
};
struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed;
  std::int32_t parent_fd;
};

std::uint64_t handled_fs(int abi) {
  std::uint64_t handled = access_fs::of_version_1;
  if (abi >= 2) handled |= access_fs::refer;
  if (abi >= 3) handled |= access_fs::truncate;
  if (abi >= 5) handled |= access_fs::ioctl_dev;
  return handled;
}

// The kernel refuses a size it does not know, so that an old one sees only the fields it has.
std::size_t attributes_size(int abi) {
  if (abi >= 6) return 24;
  return abi >= 4 ? 16 : 8;
}

std::uint64_t rights(PathAccess access) {
  using namespace access_fs;
  switch (access) {
    case PathAccess::read:
      return read_file | read_dir;
    case PathAccess::read_execute:
      return read_file | read_dir | execute;
    case PathAccess::read_write:
      return read_file | read_dir | write_file | truncate | remove_dir | remove_file | make_dir | make_reg | make_sym |
             make_fifo | refer;
    case PathAccess::device:
      return read_file | write_file | ioctl_dev;
    case PathAccess::directory:
      return read_dir;
  }
  return 0;
}

int add_rule(int ruleset, const PathRule& rule, std::uint64_t handled) {
  const auto path_fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, rule.path.c_str(), O_PATH | O_CLOEXEC, 0));
  if (path_fd < 0) return 0;
  std::uint64_t allowed = rights(rule.access) & handled;
  struct stat status {};
  if (::fstat(path_fd, &status) == 0 && !S_ISDIR(status.st_mode)) allowed &= access_fs::of_files;
  const PathBeneath beneath{allowed, path_fd};
  const long done = ::syscall(SYS_landlock_add_rule, ruleset, k_rule_path_beneath, &beneath, 0);
  const int error = done == 0 ? 0 : errno;
  ::syscall(SYS_close, path_fd);
  return error;
}

}  // namespace

int landlock_abi() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, k_version_query);
  return version > 0 ? static_cast<int>(version) : 0;
}

int restrict_paths(const LandlockPlan& plan) {
  const int abi = landlock_abi();
  if (abi == 0) return 0;
  constexpr int k_first_beyond_paths = 4;
  if (!plan.governs_paths && abi < k_first_beyond_paths) return 0;
  const RulesetAttributes attributes{plan.governs_paths ? handled_fs(abi) : 0, k_tcp_bind_and_connect,
                                     k_abstract_sockets_and_signals};
  const auto ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, attributes_size(abi), 0));
  if (ruleset < 0) return errno;
  for (const PathRule& rule : plan.rules) {
    if (!plan.governs_paths) break;
    if (const int error = add_rule(ruleset, rule, attributes.handled_fs); error != 0) return error;
  }
  const long done = ::syscall(SYS_landlock_restrict_self, ruleset, 0);
  const int error = done == 0 ? 0 : errno;
  ::syscall(SYS_close, ruleset);
  return error;
}

}  // namespace kw
