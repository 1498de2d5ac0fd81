// What a program could have inherited from the host.

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "acts.hpp"

namespace kw::hostile {
namespace {

// RUN: read_environment NAME
// EXPECT: "absent"
std::string read_environment(const Arguments& arguments) {
  return std::getenv(arguments.at(0).c_str()) == nullptr ? "absent" : "done";
}

// RUN: use_descriptor NUMBER
// EXPECT: EBADF
std::string use_descriptor(const Arguments& arguments) {
  return outcome(::fcntl(std::stoi(arguments.at(0)), F_GETFD) >= 0);
}

// RUN: use_privilege
// EXPECT: "none": no capability is left, under root neither
std::string use_privilege(const Arguments&) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct held[2] = {};
  ::syscall(SYS_capget, &header, held);
  return (held[0].permitted | held[1].permitted) == 0 ? "none" : "done";
}

// RUN: private_directory
// EXPECT: $TMPDIR, $HOME and $XDG_CACHE_HOME name one directory, which can be written to; "done"
std::string private_directory(const Arguments&) {
  const std::string directory = std::getenv("TMPDIR");
  if (directory != std::getenv("HOME") || directory != std::getenv("XDG_CACHE_HOME")) return "they differ";
  return outcome(::open((directory + "/made").c_str(), O_WRONLY | O_CREAT, 0600) >= 0);
}

// RUN: speak
// EXPECT: the host can read what was printed, up to its limit, and the program is never blocked
std::string speak(const Arguments& arguments) {
  const std::string line(std::stoul(arguments.at(0)), 's');
  return outcome(::write(1, line.data(), line.size()) >= 0);
}

constexpr Act k_acts[] = {{"read_environment", read_environment},
                          {"use_descriptor", use_descriptor},
                          {"use_privilege", use_privilege},
                          {"private_directory", private_directory},
                          {"speak", speak}};

}  // namespace

std::span<const Act> inheritance_acts() {
  return k_acts;
}

}  // namespace kw::hostile
