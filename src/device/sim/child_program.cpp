#include "device/sim/child_program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.hpp"
#include "device/device.hpp"

namespace kw::sim {
namespace {

std::string read_all(int fd, std::size_t most_bytes) {
  std::string text;
  std::array<char, 16384> buffer;
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), std::min(static_cast<std::size_t>(got), most_bytes - text.size()));
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<ProgramEnd> run_program(const std::vector<std::string>& arguments, std::size_t most_bytes) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return fail(errc::device_unavailable, "no pipe to {}: {}", arguments.front(), std::strerror(errno));
  }
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  std::vector<char*> raw;
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDERR_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, raw[0], &actions, nullptr, raw.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return fail(errc::device_unavailable, "{} cannot be started: {}", arguments.front(), std::strerror(error));
  }
  to.reset();
  ProgramEnd end;
  end.output = read_all(from.get(), most_bytes);
  end.status = wait_for(child);
  return end;
}

}  // namespace kw::sim
