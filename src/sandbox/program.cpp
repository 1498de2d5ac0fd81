#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "sandbox/supervisor.hpp"

namespace kw {
namespace {

// Each step returns 0 or an errno.

int default_signals() {
  // execve resets handlers by itself but keeps what is ignored; a program that ignores SIGPIPE or SIGCHLD by accident
  // behaves differently from one started in a shell.
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  return ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0 ? 0 : errno;
}

int join_cgroups(const ChildPlan& plan) {
  for (const int members : plan.cgroup_members) {
    if (::write(members, "0", 1) != 1) return errno;
  }
  return 0;
}

int place_descriptors(const ChildPlan& plan) {
  // First out of the way, then into place: a source may be the number that another one has to go to.
  std::array<int, 4 + k_max_inherited> aside{};
  const std::size_t count = plan.descriptors.size();
  for (std::size_t i = 0; i < count; ++i) {
    aside[i] = ::fcntl(plan.descriptors[i], F_DUPFD_CLOEXEC, static_cast<int>(aside.size()));
    if (aside[i] < 0) return errno;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (::dup2(aside[i], static_cast<int>(i)) < 0) return errno;
  }
  if (!plan.close_others) return 0;
  // Marked rather than closed: the control socket is needed until execve.
  return ::syscall(SYS_close_range, static_cast<unsigned>(count), ~0U, CLOSE_RANGE_CLOEXEC) == 0 ? 0 : errno;
}

int set_limits(const ChildPlan& plan) {
  for (const PlannedLimit& limit : plan.limits) {
    rlimit now{};
    if (::syscall(SYS_prlimit64, 0, limit.resource, nullptr, &now) != 0) return errno;
    // Never above what the host has: raising a hard limit needs a privilege, and the host's limits bind us as well.
    const rlimit wanted{std::min(limit.value.rlim_cur, now.rlim_max), std::min(limit.value.rlim_max, now.rlim_max)};
    if (::syscall(SYS_prlimit64, 0, limit.resource, &wanted, nullptr) != 0) return errno;
  }
  return 0;
}

int drop_privileges() {
  // Without SECBIT_NOROOT an execve as user 0 would bring every capability back. Refused where there is none to lose.
  ::prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                                 SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED);
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; ++capability) {
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, 2> none{};
  return ::syscall(SYS_capset, &header, none.data()) == 0 ? 0 : errno;
}

int die_with_supervisor(pid_t supervisor) {
  // The supervisor is single-threaded, so "when the parent's thread ends" means "when the supervisor ends". Set after
  // the capabilities are gone, because a change of credentials clears it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  return static_cast<pid_t>(::syscall(SYS_getppid)) == supervisor ? 0 : ESRCH;
}

int install_filters(const ChildPlan& plan) {
  for (const auto& filter : plan.filters) {
    const sock_fprog program{static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
    // SPEC_ALLOW: before Linux 5.16 a filter turned speculation off, which would slow down what we measure.
    constexpr unsigned k_flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, k_flags, &program) != 0) return errno;
  }
  return 0;
}

/// Ends with a null pointer, as execve wants it.
std::vector<char*> pointers_to(const std::vector<std::string>& text) {
  std::vector<char*> pointers;
  for (const std::string& entry : text) pointers.push_back(const_cast<char*>(entry.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

class Steps {
 public:
  explicit Steps(int control) : control_(control) {}
  void take(LaunchStep step, int error) const {
    if (error == 0) return;
    errno = error;
    give_up(control_, step);
  }

 private:
  int control_;
};

}  // namespace

void execute_program(const ChildPlan& plan, int control, pid_t supervisor, bool in_group) {
  const Steps steps(control);
  const std::vector<char*> arguments = pointers_to(plan.arguments);
  const std::vector<char*> environment = pointers_to(plan.environment);
  steps.take(LaunchStep::session, ::setsid() < 0 ? errno : default_signals());
  if (!in_group) steps.take(LaunchStep::join_cgroup, join_cgroups(plan));
  steps.take(LaunchStep::descriptors, place_descriptors(plan));
  ::umask(077);
  if (::chdir(plan.private_directory.c_str()) != 0) steps.take(LaunchStep::session, errno);
  steps.take(LaunchStep::limits, set_limits(plan));
  if (plan.drop_privileges) {
    steps.take(LaunchStep::capabilities, drop_privileges());
  }
  steps.take(LaunchStep::no_new_privileges, ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno);
  steps.take(LaunchStep::session, die_with_supervisor(supervisor));
  if (plan.use_landlock) steps.take(LaunchStep::landlock, restrict_paths(plan.landlock));
  // The kernel tells the host the sender's process id as the host sees it.
  tell(control, {SupervisorMessage::Kind::here, LaunchStep::session, 0});
  steps.take(LaunchStep::system_calls, install_filters(plan));
  ::execve(plan.program.c_str(), arguments.data(), environment.data());
  give_up(control, LaunchStep::execute);
}

}  // namespace kw
