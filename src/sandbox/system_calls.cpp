#include "sandbox/system_calls.hpp"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <string_view>

namespace kw {
namespace {

using Kind = ArgumentTest::Kind;
using namespace std::string_view_literals;

// The kernel reads most arguments as 32-bit integers. Comparing all 64 bits would let a caller slip past with a stray
// upper bit, so equality is always asked of these bits only.
constexpr std::uint64_t k_int = 0xffffffff;

constexpr std::array k_other_processes{
    "ptrace"sv,        "process_vm_readv"sv, "process_vm_writev"sv, "process_madvise"sv,   "process_mrelease"sv,
    "kcmp"sv,          "pidfd_getfd"sv,      "pidfd_open"sv,        "pidfd_send_signal"sv, "move_pages"sv,
    "migrate_pages"sv, "perf_event_open"sv,  "userfaultfd"sv,
};
// Path sockets are beyond Landlock, so there are no sockets at all but connected pairs; for a driver, those that
// listen.
constexpr std::array k_listening{"socket"sv, "bind"sv, "listen"sv, "accept"sv, "accept4"sv};
constexpr std::array k_mounts{
    "mount"sv,  "umount"sv,   "umount2"sv, "pivot_root"sv, "chroot"sv,        "move_mount"sv, "open_tree"sv,
    "fsopen"sv, "fsconfig"sv, "fsmount"sv, "fspick"sv,     "mount_setattr"sv, "quotactl"sv,   "quotactl_fd"sv,
};
constexpr std::array k_kernel{
    "bpf"sv,           "kexec_load"sv,    "kexec_file_load"sv, "init_module"sv,
    "finit_module"sv,  "create_module"sv, "delete_module"sv,   "reboot"sv,
    "swapon"sv,        "swapoff"sv,       "syslog"sv,          "acct"sv,
    "iopl"sv,          "ioperm"sv,        "modify_ldt"sv,      "uselib"sv,
    "nfsservctl"sv,    "vhangup"sv,       "lookup_dcookie"sv,  "sethostname"sv,
    "setdomainname"sv, "settimeofday"sv,  "clock_settime"sv,   "clock_adjtime"sv,
    "adjtimex"sv,      "stime"sv,         "personality"sv,     "add_key"sv,
    "request_key"sv,   "keyctl"sv,
};
// A large surface with a long record of holes, or ways past this filter.
constexpr std::array k_surface{
    "setns"sv,
    "unshare"sv,
    "io_uring_setup"sv,
    "io_uring_enter"sv,
    "io_uring_register"sv,
    "open_by_handle_at"sv,
    "name_to_handle_at"sv,
    "fanotify_init"sv,
    "fanotify_mark"sv,
    "inotify_init"sv,
    "inotify_init1"sv,
    "inotify_add_watch"sv,
    "memfd_secret"sv,
};
// System V and POSIX queues live outside the file system, where Landlock does not reach.
constexpr std::array k_shared_objects{
    "shmget"sv, "shmat"sv,  "shmctl"sv, "semget"sv, "semop"sv,   "semtimedop"sv, "semctl"sv,
    "msgget"sv, "msgsnd"sv, "msgrcv"sv, "msgctl"sv, "mq_open"sv, "mq_unlink"sv,
};
// Landlock does not govern changes to attributes, and the user may own what it lets us read.
constexpr std::array k_attributes{
    "chmod"sv,     "fchmod"sv,    "fchmodat"sv,    "chown"sv,        "fchown"sv,       "lchown"sv,
    "fchownat"sv,  "utime"sv,     "utimes"sv,      "futimesat"sv,    "utimensat"sv,    "setxattr"sv,
    "lsetxattr"sv, "fsetxattr"sv, "removexattr"sv, "lremovexattr"sv, "fremovexattr"sv,
};

constexpr std::array k_new_namespace_flags{
    std::uint64_t{CLONE_NEWUSER},   std::uint64_t{CLONE_NEWPID}, std::uint64_t{CLONE_NEWNET},
    std::uint64_t{CLONE_NEWIPC},    std::uint64_t{CLONE_NEWUTS}, std::uint64_t{CLONE_NEWNS},
    std::uint64_t{CLONE_NEWCGROUP},
};

// Terminal input as if typed by the user, and signals from the kernel on our behalf.
void deny_signals_through_files(FilterBuilder& filter) {
  constexpr std::uint64_t k_fiosetown = 0x8901;
  constexpr std::uint64_t k_siocspgrp = 0x8902;
  for (const std::uint64_t request : {std::uint64_t{TIOCSTI}, std::uint64_t{TIOCLINUX}, k_fiosetown, k_siocspgrp}) {
    filter.deny_if("ioctl", {Kind::has_bits, 1, k_int, request});
  }
  constexpr std::uint64_t k_set_owner = 8;
  constexpr std::uint64_t k_set_signal = 10;
  constexpr std::uint64_t k_set_owner_ex = 15;
  for (const std::uint64_t command : {k_set_owner, k_set_signal, k_set_owner_ex}) {
    filter.deny_if("fcntl", {Kind::has_bits, 1, k_int, command});
  }
}

void add_socket_rules(FilterBuilder& filter, Sockets sockets) {
  constexpr std::uint64_t k_type_bits = 0xf;
  if (sockets != Sockets::calling) filter.deny(std::array{"connect"sv});
  if (sockets == Sockets::none) {
    filter.deny(k_listening);
  } else {
    filter.deny_if("socket", {Kind::not_equal, 0, 0, AF_UNIX});
    for (std::uint64_t type = 0; type <= k_type_bits; ++type) {
      const bool allowed = type == SOCK_SEQPACKET || (type == SOCK_STREAM && sockets == Sockets::calling);
      if (!allowed) filter.deny_if("socket", {Kind::has_bits, 1, k_type_bits, type});
    }
  }
  // Only connected pairs: a datagram socket can send to any path without connecting.
  filter.deny_if("socketpair", {Kind::has_bits, 1, k_type_bits, SOCK_DGRAM});
  filter.deny_if("socketpair", {Kind::has_bits, 1, k_type_bits, SOCK_RAW});
  filter.deny_if("sendto", {Kind::not_equal, 4, 0, 0});
}

void add_base_rules(FilterBuilder& filter, Sockets sockets) {
  filter.deny(k_other_processes);
  add_socket_rules(filter, sockets);
  filter.deny(k_mounts);
  filter.deny(k_kernel);
  filter.deny(k_surface);
  filter.deny(k_shared_objects);
  filter.deny(k_attributes);
  filter.deny_if("prlimit64", {Kind::not_equal, 0, 0, 0});
  for (const std::uint64_t flag : k_new_namespace_flags) filter.deny_if("clone", {Kind::has_bits, 0, flag, flag});
  // The flags of clone3 and openat2 lie in memory, out of a filter's sight. Told that the kernel is too old for them,
  // libraries use clone and openat.
  filter.answer("clone3", ENOSYS);
  filter.answer("openat2", ENOSYS);
  deny_signals_through_files(filter);
}

// Calls that are younger than this list: attributes by path, mounts through new doors. Answered as an old kernel would.
std::vector<sock_filter> refuse_younger_calls() {
  constexpr std::uint32_t k_first_unknown = 452;  // fchmodat2, Linux 6.6; the same number on every architecture
  constexpr std::uint32_t k_last = 0x3fffffff;    // above lie x32's numbers, which the other filter kills
  const auto load = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  return {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, load),          BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, k_first_unknown, 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, k_last, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
}

Result<std::vector<std::vector<sock_filter>>> build_base_filters(Sockets sockets) {
  FilterBuilder builder;
  add_base_rules(builder, sockets);
  KW_TRY(std::vector<sock_filter> deny_list, builder.program());
  return std::vector<std::vector<sock_filter>>{refuse_younger_calls(), std::move(deny_list)};
}

constexpr std::array k_new_programs{"execve"sv, "execveat"sv, "fork"sv, "vfork"sv};
constexpr std::array k_changes_to_files{
    "creat"sv,     "truncate"sv, "unlink"sv, "unlinkat"sv, "rename"sv,       "renameat"sv,
    "renameat2"sv, "link"sv,     "linkat"sv, "symlink"sv,  "symlinkat"sv,    "mkdir"sv,
    "mkdirat"sv,   "rmdir"sv,    "mknod"sv,  "mknodat"sv,  "memfd_create"sv,
};
// tkill names a thread of any process; the C library uses tgkill.
constexpr std::array k_signals{"tkill"sv, "rt_sigqueueinfo"sv, "rt_tgsigqueueinfo"sv};
constexpr std::array k_own_process_first{"sched_setaffinity"sv, "sched_setscheduler"sv, "sched_setparam"sv,
                                         "sched_setattr"sv};

/// Never a new or an emptied file; an existing one only where that was asked for.
void deny_open_for_writing(FilterBuilder& filter, std::string_view name, unsigned flags, OpenForWriting open) {
  for (const std::uint64_t mode : {std::uint64_t{O_WRONLY}, std::uint64_t{O_RDWR}, std::uint64_t{O_ACCMODE}}) {
    if (open == OpenForWriting::never) filter.deny_if(name, {Kind::has_bits, flags, O_ACCMODE, mode});
  }
  for (const std::uint64_t flag : {std::uint64_t{O_CREAT}, std::uint64_t{O_TRUNC}}) {
    filter.deny_if(name, {Kind::has_bits, flags, flag, flag});
  }
}

// What is left to a process whose candidate is code of its own processor. Each has its reason; what is missing is
// denied, and its users go on without it.

/// Requests come and answers go by the channel's socket, which also waits for them: no address, no other socket.
void allow_channel(FilterBuilder& filter, int channel) {
  const auto socket = static_cast<std::uint64_t>(channel);
  for (const std::string_view name : {"recvfrom"sv, "sendto"sv}) {
    filter.allow_if(name, std::array{ArgumentTest{Kind::equal, 0, 0, socket}, ArgumentTest{Kind::equal, 4, 0, 0}});
  }
}

/// PoCL's threads hand over work, and the C library's locks wait, by these operations alone. Not those that inherit
/// priorities or move waiters, which is where the kernel's futexes had their holes. Nothing waits for a time: such a
/// wait needs a call of its own (restart_syscall) to go on in a worker that was stopped.
void allow_waiting(FilterBuilder& filter) {
  constexpr std::uint64_t k_operation = 0xffffffff & ~std::uint64_t{FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME};
  const ArgumentTest for_ever{Kind::equal, 3, 0, 0};
  for (const unsigned operation : {FUTEX_WAIT + 0U, FUTEX_WAIT_BITSET + 0U}) {
    filter.allow_if("futex", std::array{ArgumentTest{Kind::has_bits, 1, k_operation, operation}, for_ever});
  }
  filter.allow_if("futex", std::array{ArgumentTest{Kind::has_bits, 1, k_operation, FUTEX_WAKE}});
  // The clock of the launch, on machines whose clock cannot be read without a call.
  filter.allow_if("clock_gettime", std::array{ArgumentTest{Kind::has_bits, 0, k_int, CLOCK_MONOTONIC}});
}

/// The pages between buffers, which the worker closes and opens when it goes from one plan to another
/// (worker/arena_fence.hpp). malloc has its memory (heap_reserve.hpp).
void allow_fence(FilterBuilder& filter, std::span<const std::byte> arena) {
  const auto begin = reinterpret_cast<std::uintptr_t>(arena.data());
  for (const std::uint64_t rights : {std::uint64_t{PROT_NONE}, std::uint64_t{PROT_READ | PROT_WRITE}}) {
    filter.allow_if("mprotect", std::array{ArgumentTest{Kind::at_least, 0, 0, begin},
                                           ArgumentTest{Kind::below, 1, 0, arena.size() + 1},
                                           ArgumentTest{Kind::equal, 2, 0, rights}});
  }
}

/// The C library takes an error of this call for an address, and 0 for a system that has no more. Sanitizers do grow.
[[maybe_unused]] void answer_growing(FilterBuilder& filter) {
  filter.answer("brk", 0);
}

/// The worker's end, and the return from PoCL's handler of divisions by zero. Its threads end with it.
void allow_end(FilterBuilder& filter) {
  filter.allow(std::array{"exit_group"sv, "rt_sigreturn"sv});
}

/// At its first launch PoCL asks whether there is a library of the kernel, which is in memory by then
/// (device/opencl/kernel_loading.hpp). It is told so without anybody looking, as it would be of any other file.
void answer_looking(FilterBuilder& filter) {
  for (const std::string_view name : {"access"sv, "faccessat"sv, "faccessat2"sv}) filter.answer(name, 0);
}

/// How a worker gives up: a failed assertion says so on its error output, which the host keeps some lines of, and ends
/// by a signal to itself, by which the host tells it from a kernel's crash.
void allow_abort(FilterBuilder& filter) {
  for (const std::string_view name : {"write"sv, "writev"sv}) {
    filter.allow_if(name, std::array{ArgumentTest{Kind::equal, 0, 0, STDERR_FILENO}});
  }
  filter.allow(std::array{"getpid"sv, "gettid"sv});
  const auto self = static_cast<std::uint64_t>(::getpid());
  filter.allow_if("tgkill",
                  std::array{ArgumentTest{Kind::equal, 0, 0, self}, ArgumentTest{Kind::equal, 2, 0, SIGABRT}});
}

#ifdef KW_SANITIZED
/// A sanitizer's allocator maps at addresses of its own, and its reports read and write files.
void allow_sanitizer(FilterBuilder& filter) {
  filter.allow(std::array{"brk"sv, "munmap"sv, "exit"sv});
  filter.allow(std::array{"readlink"sv,       "lseek"sv,       "pread64"sv,     "ioctl"sv,
                          "prctl"sv,          "prlimit64"sv,   "sigaltstack"sv, "getuid"sv,
                          "geteuid"sv,        "uname"sv,       "dup"sv,         "readv"sv,
                          "fstat"sv,          "newfstatat"sv,  "getcpu"sv,      "sched_getaffinity"sv,
                          "read"sv,           "write"sv,       "writev"sv,      "close"sv,
                          "rt_sigprocmask"sv, "sched_yield"sv, "nanosleep"sv,   "clock_nanosleep"sv,
                          "mremap"sv,         "madvise"sv,     "futex"sv});
  const ArgumentTest no_code{Kind::has_bits, 2, PROT_EXEC, 0};
  filter.allow_if("mmap", std::array{no_code});
  filter.allow_if("mprotect", std::array{no_code});
  constexpr std::uint64_t k_writing = O_ACCMODE | O_CREAT | O_TRUNC;
  filter.allow_if("open", std::array{ArgumentTest{Kind::has_bits, 1, k_writing, O_RDONLY}});
  filter.allow_if("openat", std::array{ArgumentTest{Kind::has_bits, 2, k_writing, O_RDONLY}});
}
#endif

}  // namespace

Result<std::vector<std::vector<sock_filter>>> base_filters(Sockets sockets) {
  // The same for every process, tools apart; libseccomp needs longer to build it than the kernel to install it.
  static const Result<std::vector<std::vector<sock_filter>>> silent = build_base_filters(Sockets::none);
  static const Result<std::vector<std::vector<sock_filter>>> listening = build_base_filters(Sockets::listening);
  if (sockets == Sockets::calling) return build_base_filters(sockets);
  return sockets == Sockets::none ? silent : listening;
}

void add_lock_down_rules(FilterBuilder& filter, OpenForWriting open) {
  // Again, for a worker that was started by hand, without spawn_sandboxed.
  add_base_rules(filter, Sockets::none);
  filter.deny(k_new_programs);
  filter.deny(k_changes_to_files);
  filter.deny(k_signals);
  // A thread is a process that shares everything; only that is left.
  filter.deny_if("clone", {Kind::has_bits, 0, CLONE_THREAD, 0});
  deny_open_for_writing(filter, "open", 1, open);
  deny_open_for_writing(filter, "openat", 2, open);
  const auto self = static_cast<std::uint64_t>(::getpid());
  filter.deny_if("kill", {Kind::not_equal, 0, 0, self});
  filter.deny_if("tgkill", {Kind::not_equal, 0, 0, self});
  // 0 means the calling thread. Another thread of ours is refused as well: a filter cannot tell it from a stranger.
  for (const std::string_view name : k_own_process_first) filter.deny_if(name, {Kind::not_equal, 0, 0, 0});
  filter.deny_if("setpriority", {Kind::not_equal, 1, 0, 0});
  filter.deny_if("ioprio_set", {Kind::not_equal, 1, 0, 0});
  // No filters of the candidate's own: a filter can answer our calls in the kernel's place.
  filter.deny(std::array{"seccomp"sv});
  filter.deny_if("prctl", {Kind::has_bits, 0, k_int, PR_SET_SECCOMP});
}

void add_rules_for_loaded_kernels(FilterBuilder& filter, const KernelRights& rights) {
  allow_channel(filter, rights.channel);
  allow_waiting(filter);
  allow_fence(filter, rights.arena);
  allow_end(filter);
  allow_abort(filter);
  answer_looking(filter);
#ifdef KW_SANITIZED
  allow_sanitizer(filter);
#else
  answer_growing(filter);
#endif
}

void add_bounds_of_arena([[maybe_unused]] FilterBuilder& filter, [[maybe_unused]] std::span<const std::byte> arena) {
#ifndef KW_SANITIZED  // whose allocator protects pages of its own
  const auto end = reinterpret_cast<std::uintptr_t>(arena.data()) + arena.size();
  filter.deny_if("mprotect", {Kind::at_least, 0, 0, end});
#endif
}

}  // namespace kw
