#pragma once
// What a build depends on beside its request: for whoever keeps builds for later runs. Told by sizes and times of
// change, not by contents, because compilers are hundreds of megabytes.

#include <filesystem>
#include <vector>

#include "base/hash.hpp"
#include "sandbox/sandbox.hpp"

namespace kw {

/// Of this machine's processor, the program of `spec`, its variables, and what its compilers are found in: the files it
/// names, and of its folders and those below them the time of change, and the size and time of change of libraries
/// and programs. Installing, removing or replacing a file changes its folder; a header that is edited in place goes
/// unseen. Where the process reads all of the system, what counts is where its libraries lie.
[[nodiscard]] Hash toolchain_stamp(const SandboxSpec& spec);

}  // namespace kw
