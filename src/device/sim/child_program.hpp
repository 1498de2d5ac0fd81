#pragma once
// Runs a program to its end and keeps what it prints. For the build process, where compilers may be executed; the
// host's deadline ends one that hangs, together with this process.

#include <string>
#include <vector>

#include "base/result.hpp"

namespace kw::sim {

struct ProgramEnd {
  int status = 0;      ///< exit status; 128 + signal when killed
  std::string output;  ///< standard output and error together, the first `most_bytes`
};

/// `arguments[0]` is the program's path; no shell. errc::device_unavailable when it cannot be started.
[[nodiscard]] Result<ProgramEnd> run_program(const std::vector<std::string>& arguments, std::size_t most_bytes);

}  // namespace kw::sim
