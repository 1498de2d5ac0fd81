// The hostile program: `hostile_program ACT [ARGUMENTS]`. Exit status 0 after the act, 2 for an unknown one.

#include <cerrno>
#include <cstring>
#include <string>

#include "acts.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/frame_channel.hpp"
#include "sandbox/sandbox.hpp"

namespace kw::hostile {

std::string error_name(int error) {
  const char* name = ::strerrorname_np(error);
  return name == nullptr ? std::to_string(error) : name;
}

std::string outcome(bool succeeded) {
  return succeeded ? "done" : error_name(errno);
}

void report(std::string_view text) {
  FrameChannel channel(UniqueFd(::dup(3)));
  if (!channel.send(text, std::chrono::seconds(5))) ::_exit(3);
}

namespace {

const Act* find(std::string_view name) {
  for (const auto acts : {life_acts()}) {
    for (const Act& act : acts) {
      if (act.name == name) return &act;
    }
  }
  return nullptr;
}

}  // namespace
}  // namespace kw::hostile

int main(int argc, char** argv) {
  const kw::hostile::Arguments arguments(argv + 1, argv + argc);
  if (arguments == kw::hostile::Arguments{"--probe"}) return kw::run_probe_child();
  const kw::hostile::Act* act = arguments.empty() ? nullptr : kw::hostile::find(arguments[0]);
  if (act == nullptr) return 2;
  kw::hostile::report(act->run({arguments.begin() + 1, arguments.end()}));
  return 0;
}
