// kernelwright-supervisor CONTROL PLAN: started by the sandbox, never by a person (sandbox/supervisor.hpp).
//   CONTROL  number of a descriptor: its end of the pair
//   PLAN     number of a descriptor: a file that holds the plan (sandbox/child_plan.hpp)

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "sandbox/supervisor.hpp"

namespace {

std::optional<kw::ChildPlan> read_plan(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  if (::pread(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  ::close(file);
  return kw::decode_child_plan(bytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("kernelwright-supervisor is started by kernelwright itself\n", stderr);
    return 2;
  }
  const int control = std::atoi(argv[1]);
  const auto plan = read_plan(std::atoi(argv[2]));
  if (!plan) {
    errno = EINVAL;
    kw::give_up(control, kw::LaunchStep::supervisor);
  }
  kw::run_supervisor(*plan, control);
}
