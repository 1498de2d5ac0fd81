// New code, threads and handlers: what a kernel in the process of its driver would begin with.

#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include "acts.hpp"

namespace kw::hostile {
namespace {

constexpr std::size_t k_page = 4096;

// RUN: map_code (locked_for_kernel)
// EXPECT: EPERM
std::string map_code(const Arguments&) {
  return outcome(::mmap(nullptr, k_page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
}

// RUN: make_code (locked_for_kernel)
// EXPECT: EPERM
std::string make_code(const Arguments&) {
  return outcome(::mprotect(arena().data(), k_page, PROT_READ | PROT_EXEC) == 0);
}

// RUN: map_at_address (locked_for_kernel)
// EXPECT: EPERM
std::string map_at_address(const Arguments&) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  return outcome(::mmap(arena().data(), k_page, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED);
}

// RUN: bare_thread (locked_for_kernel)
// EXPECT: EPERM
std::string bare_thread(const Arguments&) {
  pthread_t thread{};
  errno = ::pthread_create(
      &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
  return outcome(errno == 0 && ::pthread_join(thread, nullptr) == 0);
}

// RUN: catch_signal (locked_for_kernel)
// EXPECT: EPERM
std::string catch_signal(const Arguments&) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  return outcome(::sigaction(SIGUSR1, &action, nullptr) == 0);
}

// RUN: set_timer (locked_for_kernel)
// EXPECT: EPERM
std::string set_timer(const Arguments&) {
  const itimerval hour{{0, 0}, {3600, 0}};
  return outcome(::setitimer(ITIMER_VIRTUAL, &hour, nullptr) == 0);
}

// RUN: open_pipe (locked_for_kernel)
// EXPECT: EPERM: nothing is forbidden about pipes, but they are not among the calls that are left
std::string open_pipe(const Arguments&) {
  std::array<int, 2> ends{};
  return outcome(::pipe(ends.data()) == 0);
}

// RUN: leave_directory (locked_for_kernel)
// EXPECT: EPERM: the same of the current directory
std::string leave_directory(const Arguments&) {
  return outcome(::chdir("/") == 0);
}

/// One call as a kernel would make it, without the C library in between.
struct Call {
  std::string_view name;
  long (*make)();
};

unsigned g_word = 0;

/// Not of the arena, and there before anything is locked.
alignas(k_page) std::byte g_page[k_page] = {};

constexpr Call k_calls[] = {
    {"read", [] { return ::syscall(SYS_read, 0, &g_word, 0); }},
    {"write_elsewhere", [] { return ::syscall(SYS_write, 1, "", 0); }},
    {"writev_elsewhere", [] { return ::syscall(SYS_writev, 1, nullptr, 0); }},
    {"ppoll",
     [] {
       const timespec none{};
       return ::syscall(SYS_ppoll, nullptr, 0, &none, nullptr, 0);
     }},
    {"poll", [] { return ::syscall(SYS_poll, nullptr, 0, 0); }},
    {"go_on_waiting",
     [] {
       const long waited = ::syscall(SYS_restart_syscall);
       return waited < 0 && errno == EINTR ? 0L : waited;  // there was no wait
     }},
    {"wait_for_a_time",
     [] {
       const timespec none{};
       const long woken = ::syscall(SYS_futex, &g_word, FUTEX_WAIT_PRIVATE, 0, &none, nullptr, 0);
       return woken < 0 && errno == ETIMEDOUT ? 0L : woken;
     }},
    {"read_another_clock",
     [] {
       timespec now{};
       return ::syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
     }},
    {"receive_elsewhere",
     [] {
       const long got = ::syscall(SYS_recvfrom, 2, &g_word, 1, MSG_DONTWAIT, nullptr, nullptr);
       return got < 0 && errno == ENOTSOCK ? 0L : got;
     }},
    {"send_elsewhere",
     [] {
       const long sent = ::syscall(SYS_sendto, 2, &g_word, 1, MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0);
       return sent < 0 && errno == ENOTSOCK ? 0L : sent;
     }},
    {"grow_heap",
     [] {
       const long end = ::syscall(SYS_brk, 0);
       if (end != 0 && ::syscall(SYS_brk, end + 4096) == end + 4096) return 0L;
       errno = EPERM;  // the call itself knows no errors
       return -1L;
     }},
    {"map", [] { return ::syscall(SYS_mmap, nullptr, k_page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }},
    {"unmap", [] { return ::syscall(SYS_munmap, arena().data(), k_page); }},
    {"give_back", [] { return ::syscall(SYS_madvise, arena().data(), k_page, MADV_DONTNEED); }},
    {"close_pages_elsewhere", [] { return ::syscall(SYS_mprotect, g_page, k_page, PROT_READ | PROT_WRITE); }},
    {"close_pages_behind",
     [] { return ::syscall(SYS_mprotect, arena().data() + arena().size(), 0, PROT_READ | PROT_WRITE); }},
    {"close_more_than_there_is",
     [] {
       const auto begin = reinterpret_cast<std::uintptr_t>(arena().data());
       const long closed = ::syscall(SYS_mprotect, begin, 0 - begin, PROT_NONE);
       return closed < 0 && errno == ENOMEM ? 0L : closed;
     }},
    {"only_read", [] { return ::syscall(SYS_mprotect, arena().data(), k_page, PROT_READ); }},
    {"mremap", [] { return ::syscall(SYS_mremap, g_page, k_page, k_page, 0); }},
    {"map_shared", [] { return ::syscall(SYS_mmap, nullptr, k_page, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }},
    {"map_near_an_address",
     [] { return ::syscall(SYS_mmap, k_page << 24, k_page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }},
    {"open_downwards", [] { return ::syscall(SYS_mprotect, arena().data(), k_page, 8 | PROT_READ); }},
    {"advise_otherwise", [] { return ::syscall(SYS_madvise, g_page, k_page, MADV_WILLNEED); }},
    {"move_waiters", [] { return ::syscall(SYS_futex, &g_word, FUTEX_REQUEUE, 0, 0, &g_word, 0); }},
    {"lend_priority", [] { return ::syscall(SYS_futex, &g_word, FUTEX_TRYLOCK_PI, 0, nullptr, nullptr, 0); }},
    {"yield", [] { return ::syscall(SYS_sched_yield); }},
    {"sleep",
     [] {
       const timespec none{};
       return ::syscall(SYS_nanosleep, &none, nullptr);
     }},
    {"sleep_by_a_clock",
     [] {
       const timespec none{};
       return ::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &none, nullptr);
     }},
    {"close", [] { return ::syscall(SYS_close, 1); }},
    {"block_signals", [] { return ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, nullptr, 8); }},
    {"signal_itself", [] { return ::syscall(SYS_tgkill, ::getpid(), ::gettid(), 0); }},
};

// RUN: make_call NAME (locked_for_kernel)
// EXPECT: EPERM
std::string make_call(const Arguments& arguments) {
  for (const Call& one : k_calls) {
    if (one.name == arguments.at(0)) return outcome(one.make() >= 0);
  }
  return "no such call";
}

// RUN: ask_for_file (locked_for_kernel)
// EXPECT: "done": the answer is always that there is one
std::string ask_for_file(const Arguments&) {
  return outcome(::access("/nowhere/at/all", F_OK) == 0);
}

// RUN: use_what_is_left (locked_for_kernel)
// EXPECT: "done": what PoCL and the C library do while kernels run
std::string use_what_is_left(const Arguments&) {
  timespec now{};
  const bool waits = ::syscall(SYS_futex, &g_word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0) == 0 &&
                     ::syscall(SYS_futex, &g_word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 1, nullptr,
                               nullptr, FUTEX_BITSET_MATCH_ANY) < 0 &&
                     errno == EAGAIN;
  return outcome(waits && ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) == 0 &&
                 ::mprotect(arena().data() + k_page, k_page, PROT_NONE) == 0 &&
                 ::mprotect(arena().data(), arena().size(), PROT_READ | PROT_WRITE) == 0 && ::write(2, "", 0) == 0);
}

// RUN: wait_to_be_told (locked_for_kernel)
// EXPECT: "done" once a frame has come, also when the process was stopped meanwhile
std::string wait_to_be_told(const Arguments&) {
  report("waits");
  std::array<char, 9> frame{};  // a length and "go on"; whoever leaves earlier has the host fail to send the rest
  return outcome(::recv(3, frame.data(), frame.size(), MSG_WAITALL) == static_cast<ssize_t>(frame.size()));
}

// RUN: end_a_thread (locked_for_kernel)
// EXPECT: EPERM: the worker's threads end together
std::string end_a_thread(const Arguments&) {
  ::syscall(SYS_exit, 0);
  return outcome(false);
}

// RUN: give_up (locked_for_kernel)
// EXPECT: ends by SIGABRT, and what it said before is kept
std::string give_up(const Arguments&) {
  static_cast<void>(::write(2, "its last words\n", 15));
  std::abort();
}

constexpr Act k_acts[] = {{"make_call", make_call},
                          {"give_up", give_up},
                          {"wait_to_be_told", wait_to_be_told},
                          {"end_a_thread", end_a_thread},
                          {"ask_for_file", ask_for_file},
                          {"use_what_is_left", use_what_is_left},
                          {"map_code", map_code},
                          {"make_code", make_code},
                          {"map_at_address", map_at_address},
                          {"bare_thread", bare_thread},
                          {"catch_signal", catch_signal},
                          {"set_timer", set_timer},
                          {"open_pipe", open_pipe},
                          {"leave_directory", leave_directory}};

}  // namespace

std::span<std::byte> arena() {
  constexpr std::size_t k_bytes = 16 * k_page;
  static void* const pages = ::mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return {static_cast<std::byte*>(pages), k_bytes};
}

std::span<const Act> code_acts() {
  return k_acts;
}

}  // namespace kw::hostile
