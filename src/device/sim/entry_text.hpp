#pragma once
// The text around a candidate's source: how its kernels are entered, with its parameters checked against the launches,
// and where its dynamic shared arrays lie; and what the compiler's answer to that text means.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/sim/elf_object.hpp"
#include "hardware/device_facts.hpp"
#include "protocol/messages.hpp"

namespace kw::sim {

/// What diagnostics call the text after the candidate's source.
inline constexpr std::string_view k_entries_name = "launch";

/// Static assertions on the parameters of launched kernels, by means of runtime/parameters.hpp.
[[nodiscard]] std::string parameter_checks(std::span<const PlannedLaunch> launches);

/// One function per launched kernel, and static assertions on its parameters.
[[nodiscard]] std::string entry_text(std::span<const PlannedLaunch> launches);

/// Assembly that defines dynamic shared memory under all the names that the candidate declares for it.
[[nodiscard]] std::string shared_memory_text(const std::vector<std::string>& names, std::size_t bytes);

struct Diagnosis {
  BuildStatus status = BuildStatus::ok;
  std::string text;
};
/// Of a compilation that failed, of a source that diagnostics call `source_name`.
[[nodiscard]] Diagnosis diagnose(const std::string& log, std::string_view source_name);
/// The same as far as it is about launches, for compilers that compile for devices.
[[nodiscard]] Diagnosis diagnose_launches(const std::string& log, std::string_view source_name);

/// Kernels declared extern "C", static and dynamic shared memory within the device's, nothing that runs before a
/// kernel.
[[nodiscard]] Diagnosis check_object(const ObjectFacts& object, std::span<const PlannedLaunch> launches,
                                     const DeviceFacts& device);
/// The most that a launch takes: its kernel's static part and its own dynamic one, in bytes.
[[nodiscard]] std::int64_t shared_bytes(const ObjectFacts& object, std::span<const PlannedLaunch> launches);

}  // namespace kw::sim
