#pragma once
// The null device's "source": lines of directives that misbehave on purpose, so that the whole path from the verifier
// through the protocol, the sandbox and its deadlines is tested on a machine with no driver. It computes nothing else
// and is no device anybody can optimise for. '#' starts a comment. Lines before the first `kernel` run while building.
//
//   at_build crash|crash_late|exit|hang|sleep_until_killed   the build process dies, crash_late after 0.4 s, or never
//                                answers, with and without burning a core
//   kernel NAME [ARGUMENTS]      the lines that follow are its body; ARGUMENTS is how many it takes (default: any)
//
//   fill BUFFER VALUE            every f32 of a buffer of the plan, by the buffer's name
//   copy FROM TO                 as many bytes as the smaller one has
//   modify_input BUFFER          flips the bits of its first byte
//   touch_guard BUFFER N         writes one byte: N < 0 is -N bytes before the payload, N >= 0 is N bytes after its end
//   spin_us N                    burns N microseconds
//   claim_ns N                   lies about the time the launch took
//   hang | sleep_until_killed    never ends, with and without burning a core
//   crash | abort | exit         dies by SIGSEGV, by SIGABRT, with status 0
//   allocate SIZE                takes and touches memory; SIZE such as 512MiB or 2GiB
//   fork N                       starts N children that wait for ever
//   exec PATH                    becomes another program
//   write_file PATH              creates a file
//   garbage_reply                writes a malformed frame to the host
//
// A directive that the sandbox stops makes the launch fail with the system's reason.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode null_syntax{"null.syntax"};
}  // namespace errc

struct NullDirective {
  std::string name;
  std::string text;         ///< the first operand: a buffer, a path
  std::string second_text;  ///< the second buffer
  std::int64_t number = 0;
  double value = 0;
};
struct NullKernel {
  std::string name;
  std::int64_t arguments = -1;  ///< -1: any number
  std::vector<NullDirective> body;
};
struct NullProgram {
  std::string at_build;  ///< "", "crash", "crash_late", "hang" or "exit"
  std::vector<NullKernel> kernels;
  [[nodiscard]] const NullKernel* find(std::string_view name) const;
};

/// errc::null_syntax with the line.
[[nodiscard]] Result<NullProgram> parse_null_program(std::string_view source);

}  // namespace kw
