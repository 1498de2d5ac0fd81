// The hostile child of the probe. It does what a hostile kernel would, and says what came of it.

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "sandbox/frame_channel.hpp"
#include "sandbox/probe.hpp"

namespace kw {
namespace {

constexpr Duration k_step_timeout = std::chrono::seconds(10);

class Child {
 public:
  Child() : channel_(UniqueFd(::dup(3))) {}

  bool learn() {
    std::string text;
    if (channel_.receive(text, k_step_timeout) != FrameChannel::Received::frame) return false;
    const auto bait = ProbeBait::decode(text);
    if (bait) bait_ = *bait;
    return bait.has_value();
  }
  [[nodiscard]] const ProbeBait& bait() const { return bait_; }

  void say(std::string_view attempt, bool stopped, std::string detail) {
    if (!channel_.send(encode(ProbeResult{std::string(attempt), stopped, std::move(detail)}), k_step_timeout))
      ::_exit(3);
  }
  /// For a call that returns -1 when it is refused.
  void say(std::string_view attempt, long returned) {
    const int error = errno;
    const char* name = ::strerrorname_np(error);
    say(attempt, returned < 0, returned < 0 ? (name == nullptr ? "refused" : name) : "it worked");
  }

 private:
  FrameChannel channel_;
  ProbeBait bait_;
};

void try_inheritance(Child& child) {
  std::int64_t open_files = 0;
  for (int fd = 0; fd < 1024; ++fd) open_files += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  open_files -= 1;  // our own copy of descriptor 3
  child.say(probe::k_descriptors, open_files <= child.bait().open_files, fmt::format("{} are open", open_files));

  constexpr std::array<std::string_view, 4> k_given{"PATH", "TMPDIR", "HOME", "XDG_CACHE_HOME"};
  std::string stray;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    if (std::find(k_given.begin(), k_given.end(), name) == k_given.end()) stray = name;
  }
  child.say(probe::k_environment, stray.empty(), stray.empty() ? "none is there" : "it sees " + stray);
}

// Touches every page; false when the kernel refused the mapping.
bool use_memory(std::int64_t bytes) {
  const auto length = static_cast<std::size_t>(bytes);
  void* memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  constexpr std::size_t k_page = 4096;
  for (std::size_t at = 0; at < length; at += k_page) static_cast<volatile char*>(memory)[at] = 1;
  return true;
}

constexpr int k_refused_status = 9;

// Starts processes that use the memory and stay; true when at least one of them could not have it. Where the first of
// several has not got its part, that is no limit on all of them together.
bool memory_is_limited(std::int64_t bytes_each, int count, std::string& detail) {
  std::vector<pid_t> users;
  bool limited = false;
  for (int i = 0; i < count; ++i) {
    int ready[2] = {-1, -1};
    if (::pipe(ready) != 0) break;
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (!use_memory(bytes_each)) ::_exit(k_refused_status);
      [[maybe_unused]] const ssize_t said = ::write(ready[1], "r", 1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    const bool has_it = ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
    if (pid > 0) users.push_back(pid);
    limited |= !has_it;
    if (!has_it && i == 0 && count > 1) {
      ::waitpid(pid, nullptr, 0);
      detail = "not even one process got its part";
      return false;
    }
  }
  // The kernel may have killed an earlier one to make room.
  for (const pid_t pid : users) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == pid) {
      limited = true;
      detail = WIFSIGNALED(status) ? "killed" : "ENOMEM";
      continue;
    }
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
  }
  if (limited && detail.empty()) detail = "refused";
  if (!limited) detail = fmt::format("{} MiB were used", bytes_each * count >> 20);
  return limited;
}

void try_memory(Child& child) {
  std::string detail;
  const std::int64_t limit = child.bait().memory_bytes;
  const bool alone = memory_is_limited(limit + limit / 4, 1, detail);
  child.say(probe::k_memory, alone, detail);
  detail.clear();
  const bool together = memory_is_limited(limit / 2, 3, detail);
  child.say(probe::k_memory_together, together, detail);
}

void try_processes(Child& child) {
  std::vector<pid_t> started;
  constexpr std::int64_t k_beyond = 8;
  for (std::int64_t i = 0; i < child.bait().processes + k_beyond; ++i) {
    const pid_t pid = ::fork();
    if (pid < 0) break;
    if (pid == 0) {
      for (;;) ::pause();
    }
    started.push_back(pid);
  }
  for (const pid_t pid : started) ::kill(pid, SIGKILL);
  for (const pid_t pid : started) ::waitpid(pid, nullptr, 0);
  const auto count = static_cast<std::int64_t>(started.size());
  child.say(probe::k_fork_bomb, count < child.bait().processes, fmt::format("{} were started", count));

  // The host looks for it itself, once everything should be dead.
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    for (;;) ::pause();
  }
  if (daemon > 0) ::waitpid(daemon, nullptr, 0);
  child.say(probe::k_daemon, daemon);
}

void try_files(Child& child) {
  const char* canary = child.bait().canary.c_str();
  child.say(probe::k_read, ::open(canary, O_RDONLY | O_CLOEXEC));
  child.say(probe::k_create, ::open(child.bait().outside.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  child.say(probe::k_mode, ::chmod(canary, 0666));
  child.say(probe::k_remove, ::unlink(canary));
  child.say(probe::k_write_system,
            ::open("/usr/lib/kernelwright-probe", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  child.say(probe::k_host_environ, ::open(fmt::format("/proc/{}/environ", child.bait().host).c_str(), O_RDONLY));
}

void try_network(Child& child) {
  child.say(probe::k_tcp, ::socket(AF_INET, SOCK_STREAM, 0));
  child.say(probe::k_unix_socket, ::socket(AF_UNIX, SOCK_STREAM, 0));
}

void try_other_processes(Child& child) {
  const auto host = static_cast<pid_t>(child.bait().host);
  child.say(probe::k_signal, ::kill(host, 0));
  child.say(probe::k_trace, ::syscall(SYS_ptrace, PTRACE_SEIZE, host, nullptr, nullptr));
  char byte = 0;
  int bait_in_both = 0;  // an address that exists in the host as well is not needed: a permitted read fails by EFAULT
  const iovec here{&byte, 1};
  const iovec there{&bait_in_both, 1};
  const long got = ::process_vm_readv(host, &here, 1, &there, 1, 0);
  child.say(probe::k_peek, got < 0 && errno == EFAULT ? 0 : got);
}

void try_privileges(Child& child) {
  child.say(probe::k_namespace, ::unshare(CLONE_NEWUSER));
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> held{};
  ::syscall(SYS_capget, &header, held.data());
  const bool none = (held[0].permitted | held[1].permitted) == 0;
  child.say(probe::k_privileges, none, none ? "it has none" : fmt::format("it has {:#x}", held[0].permitted));
}

}  // namespace

int run_probe_child() {
  Child child;
  if (!child.learn()) return 2;
  try_inheritance(child);
  try_memory(child);
  try_processes(child);
  const auto locked = lock_down();
  child.say(probe::k_lock_down, locked.has_value(), locked ? "it took effect" : locked.error().message);
  const long pid = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) ::_exit(0);
  child.say(probe::k_fork, pid);
  try_network(child);
  try_files(child);
  try_other_processes(child);
  try_privileges(child);
  // Last, because success would end this program; the host then hears nothing.
  char name[] = "/bin/true";
  char* const arguments[] = {name, nullptr};
  child.say(probe::k_execute, ::execve(name, arguments, arguments + 1));
  return 0;
}

}  // namespace kw
