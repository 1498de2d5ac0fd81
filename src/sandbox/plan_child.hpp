#pragma once
// Turns a spec into the plan of a launch. Runs in the host, may allocate and fail. Internal to the sandbox.

#include <filesystem>

#include "base/result.hpp"
#include "sandbox/child_plan.hpp"
#include "sandbox/sandbox.hpp"

namespace kw {

[[nodiscard]] bool has_layer(const SandboxSpec& spec, SandboxLayer layer);

/// Everything but the descriptors and the cgroup, which belong to the running process.
[[nodiscard]] Result<ChildPlan> plan_child(const SandboxSpec& spec, const std::filesystem::path& private_directory);

/// The paths a profile may reach, beyond what the spec lists.
[[nodiscard]] LandlockPlan plan_paths(const SandboxSpec& spec, const std::filesystem::path& private_directory);

}  // namespace kw
