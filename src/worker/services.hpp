#pragma once
// The two lives of a worker process. Both end, with the process's exit status, when the host closes the socket.

#include <cstdint>
#include <string>
#include <vector>

#include "worker/channel.hpp"

namespace kw {

/// Describes devices and compiles, one request after the other.
int serve_builds(Channel& channel);

/// Opens the device at once, so that a process kept in reserve has its driver ready, and has the system clear
/// `arena_bytes` of the arena, as far as it can, which takes half a second for a gigabyte (0: nothing; of an arena that
/// has a size all is mapped); then loads one candidate, gives up its rights, and launches.
int serve_launches(Channel& channel, const std::string& device_id, int arena_fd, std::int64_t arena_bytes);

/// The same below a tool that watches the GPU. `arguments` are the device, and after it, in any order,
///   --read PATH    --node PATH    what this process may read, and the device nodes it may use
///   --unlocked                    leaves out lock_down(), for a tool that opens files at every launch
/// Restricts itself to those paths before it opens the device.
int serve_watched(Channel& channel, const std::vector<std::string>& arguments, int arena_fd);

}  // namespace kw
