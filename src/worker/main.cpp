// kernelwright-worker: started by the host under the sandbox, never by a person.
//   kernelwright-worker build             describes devices and compiles
//   kernelwright-worker run DEVICE [BYTES]  loads and launches one candidate; descriptor 4 is the arena, of which so
//                                         many bytes will probably be needed
//   kernelwright-worker watched DEVICE    the same, started by a vendor's tool; more arguments in services.hpp
//   kernelwright-worker --probe           the hostile child that finds out what the sandbox stops
// Descriptor 3 is the socket to the host.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <vector>

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
  if (mode == "run" && argc > 2) {
    return kw::serve_launches(channel, argv[2], k_arena, argc > 3 ? std::atoll(argv[3]) : 0);
  }
  if (mode == "watched" && argc > 2) return kw::serve_watched(channel, {argv + 2, argv + argc}, k_arena);
  std::fputs("kernelwright-worker is started by kernelwright itself\n", stderr);
  return 2;
}
