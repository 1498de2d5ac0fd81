#pragma once
// What the host and the hostile child of the probe agree on. The child is told where the bait lies, tries everything,
// and sends one frame per attempt; the host believes it only where it cannot look itself. Internal to the sandbox.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/sandbox.hpp"

namespace kw {

/// What the first frame tells the child.
struct ProbeBait {
  std::string canary;           ///< a file of the host's that the child must not read, change or remove
  std::string outside;          ///< a path where the child must not create a file
  std::int64_t host = 0;        ///< the host's process id
  std::int64_t open_files = 0;  ///< how many descriptors the child is meant to have
  std::int64_t memory_bytes = 0;
  std::int64_t processes = 0;

  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static std::optional<ProbeBait> decode(std::string_view text);
};

/// The attempts, in the order the child makes them; the same texts stand in the report.
namespace probe {
inline constexpr std::string_view k_descriptors = "use a descriptor the host has open";
inline constexpr std::string_view k_environment = "read the host's environment variables";
inline constexpr std::string_view k_memory = "allocate more than the memory limit in one process";
inline constexpr std::string_view k_memory_together = "use more than the memory limit in several processes";
inline constexpr std::string_view k_fork_bomb = "start more processes than the limit";
inline constexpr std::string_view k_daemon = "leave a process behind in a session of its own";
inline constexpr std::string_view k_lock_down = "go on after lock-down failed";
inline constexpr std::string_view k_fork = "start a process after lock-down";
inline constexpr std::string_view k_tcp = "open a TCP socket";
inline constexpr std::string_view k_unix_socket = "open a UNIX socket";
inline constexpr std::string_view k_read = "read a file of the user's";
inline constexpr std::string_view k_create = "create a file outside its directory";
inline constexpr std::string_view k_remove = "remove a file of the user's";
inline constexpr std::string_view k_mode = "change the mode of a file of the user's";
inline constexpr std::string_view k_write_system = "write to a system directory";
inline constexpr std::string_view k_trace = "trace the host";
inline constexpr std::string_view k_peek = "read the host's memory";
inline constexpr std::string_view k_signal = "send a signal to the host";
inline constexpr std::string_view k_host_environ = "read the host's environment through /proc";
inline constexpr std::string_view k_namespace = "create a user namespace";
inline constexpr std::string_view k_privileges = "keep a privilege";
inline constexpr std::string_view k_execute = "execute a program";
inline constexpr std::string_view k_namespaces_apart = "share a namespace with the host";

inline constexpr std::array k_of_tier_a{k_descriptors, k_environment,  k_memory,       k_daemon,     k_lock_down,
                                        k_fork,        k_tcp,          k_unix_socket,  k_read,       k_create,
                                        k_remove,      k_mode,         k_write_system, k_trace,      k_peek,
                                        k_signal,      k_host_environ, k_namespace,    k_privileges, k_execute};
inline constexpr std::array k_of_tier_b{k_namespaces_apart};
inline constexpr std::array k_of_tier_c{k_memory_together, k_fork_bomb};
}  // namespace probe

/// One frame of the child.
[[nodiscard]] std::string encode(const ProbeResult& result);
[[nodiscard]] std::optional<ProbeResult> decode_probe_result(std::string_view text);

}  // namespace kw
