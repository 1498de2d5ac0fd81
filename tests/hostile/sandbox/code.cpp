// New code, threads and handlers: what a kernel in the process of its driver would begin with.

#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
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
  void* memory = ::mmap(nullptr, k_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return outcome(memory != MAP_FAILED && ::mprotect(memory, k_page, PROT_READ | PROT_EXEC) == 0);
}

// RUN: map_at_address (locked_for_kernel)
// EXPECT: EPERM
std::string map_at_address(const Arguments&) {
  void* memory = ::mmap(nullptr, k_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  return outcome(memory != MAP_FAILED && ::mmap(memory, k_page, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED);
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

// RUN: use_memory (locked_for_kernel)
// EXPECT: "done": a driver allocates
std::string use_memory(const Arguments&) {
  constexpr std::size_t k_bytes = std::size_t{64} << 20;
  void* memory = ::mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return outcome(memory != MAP_FAILED && ::mprotect(memory, k_bytes, PROT_READ) == 0 && ::munmap(memory, k_bytes) == 0);
}

/// One call as a kernel would make it, without the C library in between.
struct Call {
  std::string_view name;
  long (*make)();
};

unsigned g_word = 0;

void* some_page() {
  return ::mmap(nullptr, k_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

constexpr Call k_calls[] = {
    {"read", [] { return ::syscall(SYS_read, 0, &g_word, 0); }},
    {"write_elsewhere", [] { return ::syscall(SYS_write, 1, "", 0); }},
    {"writev_elsewhere", [] { return ::syscall(SYS_writev, 1, nullptr, 0); }},
    {"ppoll",
     [] {
       const timespec none{};
       return ::syscall(SYS_ppoll, nullptr, 0, &none, nullptr, 0);
     }},
    {"mremap", [] { return ::syscall(SYS_mremap, some_page(), k_page, k_page, 0); }},
    {"map_shared", [] { return ::syscall(SYS_mmap, nullptr, k_page, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }},
    {"map_near_an_address",
     [] { return ::syscall(SYS_mmap, k_page << 24, k_page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }},
    {"open_downwards", [] { return ::syscall(SYS_mprotect, some_page(), k_page, 8 | PROT_READ); }},
    {"advise_otherwise", [] { return ::syscall(SYS_madvise, some_page(), k_page, MADV_WILLNEED); }},
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
  void* page = some_page();
  const timespec none{};
  const bool waits = ::syscall(SYS_futex, &g_word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0) == 0 &&
                     ::syscall(SYS_futex, &g_word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 1, &none, nullptr,
                               FUTEX_BITSET_MATCH_ANY) < 0 &&
                     errno == EAGAIN;
  return outcome(waits && page != MAP_FAILED && ::madvise(page, k_page, MADV_DONTNEED) == 0 &&
                 ::mprotect(page, k_page, PROT_NONE) == 0 && ::write(2, "", 0) == 0);
}

// RUN: give_up (locked_for_kernel)
// EXPECT: ends by SIGABRT, and what it said before is kept
std::string give_up(const Arguments&) {
  static_cast<void>(::write(2, "its last words\n", 15));
  std::abort();
}

constexpr Act k_acts[] = {{"make_call", make_call},
                          {"give_up", give_up},
                          {"ask_for_file", ask_for_file},
                          {"use_what_is_left", use_what_is_left},
                          {"map_code", map_code},
                          {"make_code", make_code},
                          {"map_at_address", map_at_address},
                          {"bare_thread", bare_thread},
                          {"catch_signal", catch_signal},
                          {"set_timer", set_timer},
                          {"open_pipe", open_pipe},
                          {"leave_directory", leave_directory},
                          {"use_memory", use_memory}};

}  // namespace

std::span<const Act> code_acts() {
  return k_acts;
}

}  // namespace kw::hostile
