#pragma once
// The two lives of a worker process. Both end, with the process's exit status, when the host closes the socket.

#include <string>

#include "worker/channel.hpp"

namespace kw {

/// Describes devices and compiles, one request after the other.
int serve_builds(Channel& channel);

/// Opens the device at once, so that a process kept in reserve has its driver ready; then loads one candidate, gives up
/// its rights, and launches.
int serve_launches(Channel& channel, const std::string& device_id, int arena_fd);

}  // namespace kw
