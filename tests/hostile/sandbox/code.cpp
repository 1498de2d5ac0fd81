// New code, threads and handlers: what a kernel in the process of its driver would begin with.

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <csignal>

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

constexpr Act k_acts[] = {{"map_code", map_code},
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
