#include "sandbox/start_supervisor.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "sandbox/namespaces.hpp"
#include "sandbox/sandbox.hpp"

namespace kw {
namespace {

// A sanitizer keeps books for each thread, which two processes in one memory would spoil.
#ifdef KW_SANITIZED
constexpr int k_memory_flags = 0;
#else
constexpr int k_memory_flags = CLONE_VM | CLONE_VFORK;
#endif

// All that the process needs between clone and execve. It may only make system calls, and write to its own stack.
struct Start {
  const ChildPlan& plan;
  int control;
  std::vector<int> descriptors;  // that the program is to have
  std::string program;
  std::array<char*, 4> arguments;
};

int become_supervisor(void* given) {
  Start& start = *static_cast<Start*>(given);
  if (start.plan.namespaces && !enter_namespaces(start.plan)) give_up(start.control, LaunchStep::user_map);
  for (const int descriptor : start.descriptors) ::fcntl(descriptor, F_SETFD, 0);
  std::array<char*, 1> no_environment{};
  ::execve(start.program.c_str(), start.arguments.data(), no_environment.data());
  give_up(start.control, LaunchStep::supervisor);
}

// All signals are blocked across clone: a handler of the host must not run in another process. The supervisor begins
// with them blocked.
StartedSupervisor clone_supervisor(Start& start) {
  constexpr std::size_t k_stack_bytes = std::size_t{64} << 10;
  std::vector<std::byte> stack(k_stack_bytes);
  int handle = -1;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int flags = k_memory_flags | CLONE_PIDFD | (start.plan.namespaces ? namespace_flags() : 0);
  const int error = ::clone(become_supervisor, stack.data() + stack.size(), flags, &start, &handle) < 0 ? errno : 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return {UniqueFd(handle), error};
}

Result<UniqueFd> file_of(const std::string& plan) {
  UniqueFd file(::memfd_create("kernelwright-plan", MFD_CLOEXEC));
  if (!file.valid() || ::write(file.get(), plan.data(), plan.size()) != static_cast<ssize_t>(plan.size())) {
    return fail(errc::sandbox_failed, "cannot create a file in memory for the supervisor: {}", std::strerror(errno));
  }
  return file;
}

}  // namespace

Result<std::string> find_supervisor(const std::filesystem::path& folder) {
  const std::filesystem::path program = folder / "kernelwright-supervisor";
  std::error_code error;
  if (std::filesystem::is_regular_file(program, error)) return program.string();
  return fail(Error{errc::sandbox_failed, fmt::format("the supervisor {} does not exist", program.string()),
                    "build the target kernelwright-supervisor, or install it beside kernelwright"});
}

Result<StartedSupervisor> start_supervisor(const ChildPlan& plan, int control) {
  KW_TRY(const std::filesystem::path beside, executable_directory());
  KW_TRY(std::string program, find_supervisor(beside));
  KW_TRY(const UniqueFd file, file_of(encode(plan)));
  std::string control_text = std::to_string(control);
  std::string file_text = std::to_string(file.get());
  Start start{plan, control, descriptors_of(plan), std::move(program), {}};
  start.descriptors.push_back(control);
  start.descriptors.push_back(file.get());
  start.arguments = {start.program.data(), control_text.data(), file_text.data(), nullptr};
  return clone_supervisor(start);
}

}  // namespace kw
