#pragma once
// What each kind of worker process may do, for process_backend.cpp. A process gets what its language needs
// (language_access.hpp) and nothing that another language needs.

#include <cstdint>

#include "language/language.hpp"
#include "verify/processes/arena.hpp"
#include "verify/processes/process_backend.hpp"

namespace kw {

/// The language whose rights a device's processes need; null for simulated and test devices, which need none.
[[nodiscard]] const Language* language_of(const DeviceFacts& device);

/// The same before any driver was asked: by options.device_id or, when that is empty, options.target.
[[nodiscard]] const Language* meant_language(const BackendOptions& options);

/// What processes need that compile for a device, and the same before any driver was asked. A simulator's need the
/// machine's compiler.
[[nodiscard]] const SandboxGrants& build_grants(const DeviceFacts& device);
[[nodiscard]] const SandboxGrants& meant_grants(const BackendOptions& options);

/// For processes that compile with these rights.
[[nodiscard]] SandboxSpec build_spec(const BackendOptions& options, const SandboxGrants& grants);

/// For a process that asks all drivers what devices there are, and ends. It never sees a candidate.
[[nodiscard]] SandboxSpec describe_spec(const BackendOptions& options);
/// Whether that takes rights that build_spec does not give.
[[nodiscard]] bool describing_needs_more();

/// Of the memory that a run process shares with the host, in bytes.
struct ArenaRoom {
  std::int64_t most = 0;   ///< the sandbox lets the process map this much
  std::int64_t ahead = 0;  ///< the process has so much cleared before it knows its candidate; not below a tool
};
/// For processes that run one candidate on `device`, with options.tool around them.
[[nodiscard]] SandboxSpec run_spec(const BackendOptions& options, const DeviceFacts& device, const Arena& arena,
                                   const ArenaRoom& room);

}  // namespace kw
