// kernelwright-worker: started by the host under the sandbox, never by a person.
//   kernelwright-worker build             describes devices and compiles
//   kernelwright-worker run DEVICE        loads and launches one candidate; descriptor 4 is the arena
//   kernelwright-worker --probe           the hostile child that finds out what the sandbox stops
// Descriptor 3 is the socket to the host.

#include <unistd.h>

#include <cstdio>
#include <new>
#include <string_view>

#include "sandbox/sandbox.hpp"
#include "worker/services.hpp"

namespace {

constexpr int k_socket = 3;
constexpr int k_arena = 4;

[[noreturn]] void exit_out_of_memory() {
  ::_exit(kw::k_exit_out_of_memory);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "--probe") return kw::run_probe_child();
  std::set_new_handler(exit_out_of_memory);
  kw::Channel channel(k_socket);
  if (mode == "build") return kw::serve_builds(channel);
  if (mode == "run" && argc > 2) return kw::serve_launches(channel, argv[2], k_arena);
  std::fputs("kernelwright-worker is started by kernelwright itself\n", stderr);
  return 2;
}
