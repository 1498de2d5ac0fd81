// How a process lives and ends.

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "acts.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/frame_channel.hpp"

namespace kw::hostile {
namespace {

// RUN: nothing
// EXPECT: "done", exit status 0
std::string nothing(const Arguments&) {
  return "done";
}

// RUN: echo
// EXPECT: every frame comes back, until the host closes
std::string echo(const Arguments&) {
  FrameChannel channel(UniqueFd(::dup(3)));
  std::string payload;
  while (channel.receive(payload, std::chrono::hours(1)) == FrameChannel::Received::frame) {
    if (!channel.send(payload, std::chrono::seconds(5))) break;
  }
  return "done";
}

// RUN: hang
// EXPECT: never answers; the deadline passes and it is killed
std::string hang(const Arguments&) {
  for (;;) asm volatile("");  // not a loop that the compiler may assume to end
}

// RUN: crash
// EXPECT: the host learns that it ended by SIGSEGV
std::string crash(const Arguments&) {
  volatile int* nowhere = nullptr;
  *nowhere = 1;
  return "done";
}

// RUN: abort
// EXPECT: the host learns that it ended by SIGABRT, in a pid namespace too
std::string abort_now(const Arguments&) {
  std::abort();
}

// RUN: exit STATUS
// EXPECT: the host learns the status
std::string exit_now(const Arguments& arguments) {
  ::_exit(std::stoi(arguments.at(0)));
}

constexpr Act k_acts[] = {{"nothing", nothing}, {"echo", echo},       {"hang", hang},
                          {"crash", crash},     {"abort", abort_now}, {"exit", exit_now}};

}  // namespace

std::span<const Act> life_acts() {
  return k_acts;
}

}  // namespace kw::hostile
