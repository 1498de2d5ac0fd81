#include "sandbox/supervisor.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace kw {
namespace {

// The few descriptors the supervisor keeps, out of the way of the low numbers that the program's descriptors take. The
// rest are for the program, and would keep the host's sockets open.
class Kept {
 public:
  bool keep(int fd) {
    const int after = count_ == 0 ? 400 : descriptors_[count_ - 1] + 1;
    const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, after);
    if (copy < 0 || count_ == descriptors_.size()) return false;
    descriptors_[count_++] = copy;
    return true;
  }
  [[nodiscard]] int control() const { return descriptors_[0]; }
  [[nodiscard]] int at(std::size_t i) const { return descriptors_[i]; }
  [[nodiscard]] std::size_t count() const { return count_; }
  void close_others() const {
    unsigned first = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const auto kept = static_cast<unsigned>(descriptors_[i]);
      if (kept > first) ::syscall(SYS_close_range, first, kept - 1, 0U);
      first = kept + 1;
    }
    ::syscall(SYS_close_range, first, ~0U, 0U);
  }

 private:
  std::array<int, 8> descriptors_{};
  std::size_t count_ = 0;
};

// Hands the host a handle to the private directory as the program sees it: in a mount namespace a file system of its
// own lies there.
void tell_started(int control, const ChildPlan& plan) {
  SupervisorMessage message{SupervisorMessage::Kind::started, LaunchStep::session, 0};
  const int directory = ::open(plan.private_directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  iovec place{&message, sizeof message};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> extra{};
  msghdr header{};
  header.msg_iov = &place;
  header.msg_iovlen = 1;
  if (directory >= 0) {
    header.msg_control = extra.data();
    header.msg_controllen = extra.size();
    cmsghdr* attached = CMSG_FIRSTHDR(&header);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(attached), &directory, sizeof directory);
  }
  [[maybe_unused]] const ssize_t sent = ::sendmsg(control, &header, MSG_NOSIGNAL);
  ::close(directory);
}

// CLONE_VFORK: the supervisor goes on when the program has been executed or has failed, which orders the messages.
long clone_program(int cgroup_directory, bool& born_in_group) {
  clone_args arguments{};
  arguments.flags = CLONE_VFORK;
  arguments.exit_signal = SIGCHLD;
  if (cgroup_directory >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup_directory);
    born_in_group = true;
    const long program = ::syscall(SYS_clone3, &arguments, sizeof arguments);
    if (program >= 0) return program;
    born_in_group = false;
    arguments.flags = CLONE_VFORK;
    arguments.cgroup = 0;
  }
  return ::syscall(SYS_clone3, &arguments, sizeof arguments);
}

// SIGKILL to every child, from the kernel's own list: what the program leaves behind becomes a child of the supervisor,
// so each round reaches one generation deeper.
bool kill_children() {
  const int list = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) return false;
  std::array<char, 4096> text{};
  bool any = false;
  for (;;) {
    const ssize_t got = ::read(list, text.data(), text.size());
    if (got <= 0) break;
    pid_t pid = 0;
    for (ssize_t i = 0; i < got; ++i) {
      const char c = text[static_cast<std::size_t>(i)];
      if (c >= '0' && c <= '9') {
        pid = pid * 10 + (c - '0');
      } else if (pid > 0) {
        any |= ::kill(pid, SIGKILL) == 0;
        pid = 0;
      }
    }
  }
  ::close(list);
  return any;
}

// Until no child is left. As process 1 of a pid namespace one signal reaches all of it.
void kill_descendants(bool namespaces) {
  for (;;) {
    if (namespaces) {
      ::kill(-1, SIGKILL);
    } else if (!kill_children()) {
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      return;
    }
    if (::waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
  }
}

// Reaps every child that has ended; true with its status when the program was one of them.
bool reap(pid_t program, int& status) {
  bool ended = false;
  for (;;) {
    int child_status = 0;
    const pid_t pid = ::waitpid(-1, &child_status, WNOHANG);
    if (pid <= 0) return ended;
    if (pid == program) {
      status = child_status;
      ended = true;
    }
  }
}

// Waits until the program ends or the host wants it ended; returns its wait status.
int watch(pid_t program, int control, int signals) {
  int status = 0;
  std::array<pollfd, 2> entries{{{control, POLLIN, 0}, {signals, POLLIN, 0}}};
  for (;;) {
    if (::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) break;
    if (entries[1].revents != 0) {
      signalfd_siginfo ignored{};
      [[maybe_unused]] const ssize_t got = ::read(signals, &ignored, sizeof ignored);
      if (reap(program, status)) return status;
    }
    if (entries[0].revents != 0) break;
  }
  ::kill(program, SIGKILL);
  while (::waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// The host still wants to read the cgroup's events before the group goes. False when the host is dead instead, and what
// it would have removed is left to the supervisor.
bool host_lets_go(int control) {
  for (;;) {
    char order = 0;
    const ssize_t got = ::recv(control, &order, 1, 0);
    if (got <= 0) return false;
    if (order == k_order_release) return true;
  }
}

}  // namespace

void run_supervisor(const ChildPlan& plan, int control) {
  for (const int passed : descriptors_of(plan)) ::fcntl(passed, F_SETFD, FD_CLOEXEC);
  ::fcntl(control, F_SETFD, FD_CLOEXEC);
  Kept kept;
  if (!kept.keep(control)) give_up(control, LaunchStep::session);
  control = kept.control();
  for (const int parent : plan.parents) kept.keep(parent);
  if (::setsid() < 0) give_up(control, LaunchStep::session);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_DUMPABLE, 0);  // the program may have no hold on it
  // What execve left it is not for the program.
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  ::signal(SIGCHLD, SIG_DFL);  // a host that ignores it would take the program's end from it

  const auto supervisor = static_cast<pid_t>(::syscall(SYS_getpid));
  bool born_in_group = false;
  const long program = clone_program(plan.cgroup_directory, born_in_group);
  if (program == 0) execute_program(plan, control, supervisor, born_in_group);
  if (program < 0) give_up(control, LaunchStep::fork);
  kept.close_others();
  // Signals were blocked by the host before clone, so an early SIGCHLD is still pending here.
  sigset_t child_ended;
  ::sigemptyset(&child_ended);
  ::sigaddset(&child_ended, SIGCHLD);
  const int signals = ::signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK);
  tell_started(control, plan);

  const int status = watch(static_cast<pid_t>(program), control, signals);
  if (plan.reap) kill_descendants(plan.namespaces);
  tell(control, {SupervisorMessage::Kind::ended, LaunchStep::session, status});
  if (!host_lets_go(control)) {
    if (plan.namespaces) ::umount2(plan.private_directory.c_str(), MNT_DETACH);
    for (std::size_t i = 1; i < kept.count(); ++i) ::unlinkat(kept.at(i), plan.name.c_str(), AT_REMOVEDIR);
  }
  ::_exit(0);
}

}  // namespace kw
