// Starting processes, and leaving them behind.

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "acts.hpp"

namespace kw::hostile {
namespace {

[[noreturn]] void stay() {
  for (;;) ::pause();
}

// RUN: fork_bomb COUNT
// EXPECT: fewer than the limit are started; the host reads the number
std::string fork_bomb(const Arguments& arguments) {
  std::vector<pid_t> started;
  while (std::to_string(started.size()) != arguments.at(0)) {
    const pid_t pid = ::fork();
    if (pid < 0) break;
    if (pid == 0) stay();
    started.push_back(pid);
  }
  for (const pid_t pid : started) ::kill(pid, SIGKILL);
  for (const pid_t pid : started) ::waitpid(pid, nullptr, 0);
  return std::to_string(started.size());
}

// RUN: setsid_daemon, with the write end of a pipe as descriptor 4 and the read end of another one as descriptor 5
// EXPECT: the daemon is dead, and the first pipe hung up, once the program has ended. A daemon that survives ends when
// the host lets go of the second pipe.
std::string setsid_daemon(const Arguments&) {
  const pid_t pid = ::fork();
  if (pid < 0) return outcome(false);
  if (pid > 0) {
    ::waitpid(pid, nullptr, 0);
    return "done";
  }
  ::setsid();
  if (::fork() == 0) {
    ::close(3);
    char byte = 0;
    [[maybe_unused]] const ssize_t let_go = ::read(5, &byte, 1);
  }
  ::_exit(0);
}

// RUN: fork (locked)
// EXPECT: EPERM
std::string fork_once(const Arguments&) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  return outcome(pid > 0);
}

// RUN: fork_by_clone3 (locked)
// EXPECT: ENOSYS, because a filter cannot see its flags
std::string fork_by_clone3(const Arguments&) {
  struct {
    unsigned long flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
  } arguments{};
  arguments.exit_signal = SIGCHLD;
  const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) ::_exit(0);
  return outcome(pid > 0);
}

// RUN: thread (locked)
// EXPECT: "done": a driver may start threads
std::string thread(const Arguments&) {
  int value = 0;
  std::thread([&] { value = 1; }).join();
  return value == 1 ? "done" : "it did not run";
}

// RUN: execute PATH
// EXPECT: EPERM under lock-down, EACCES under Landlock; success ends this program without a report
std::string execute(const Arguments& arguments) {
  std::string path = arguments.at(0);
  char* const argv[] = {path.data(), nullptr};
  return outcome(::execve(path.c_str(), argv, argv + 1) == 0);
}

// RUN: unshare
// EXPECT: EPERM
std::string unshare_user(const Arguments&) {
  return outcome(::unshare(CLONE_NEWUSER) == 0);
}

// RUN: clone_into_namespace
// EXPECT: EPERM
std::string clone_into_namespace(const Arguments&) {
  const long pid = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) ::_exit(0);
  return outcome(pid > 0);
}

constexpr Act k_acts[] = {{"fork_bomb", fork_bomb},  {"setsid_daemon", setsid_daemon},
                          {"fork", fork_once},       {"fork_by_clone3", fork_by_clone3},
                          {"thread", thread},        {"execute", execute},
                          {"unshare", unshare_user}, {"clone_into_namespace", clone_into_namespace}};

}  // namespace

std::span<const Act> process_acts() {
  return k_acts;
}

}  // namespace kw::hostile
