#pragma once
// What the tests of the sandbox share: starting the hostile program under a spec, and waiting for what it reports.

#include <memory>
#include <string>
#include <vector>

#include "sandbox/sandbox.hpp"

namespace kw::hostile {

/// A spec that runs one act of the hostile program under the run profile.
[[nodiscard]] SandboxSpec spec_for(std::vector<std::string> act);
/// Starts it; a failure to start ends the test program with the error.
[[nodiscard]] std::unique_ptr<SandboxedProcess> start(const SandboxSpec& spec);
/// What it reported, or "closed" or "timed out".
[[nodiscard]] std::string reported(SandboxedProcess& process, Duration deadline = std::chrono::seconds(20));
/// start + reported + kill.
[[nodiscard]] std::string run(const SandboxSpec& spec);
[[nodiscard]] Loosening loosen(SandboxLayer layer);

}  // namespace kw::hostile
