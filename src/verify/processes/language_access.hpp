#pragma once
// What a language asks the sandbox to let through (language/sandbox_grants.hpp), found on this machine: folders that
// exist, device nodes that are there, variables that are set. A process with a GPU's device nodes can reach the whole
// ioctl interface of the kernel driver; docs/threat-model.md says what remains.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "language/sandbox_grants.hpp"
#include "sandbox/sandbox.hpp"

namespace kw {

struct LanguageAccess {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::filesystem::path> system;  ///< as in SandboxSpec
  std::vector<std::filesystem::path> readable;
  std::vector<std::filesystem::path> executable;
  std::vector<std::filesystem::path> devices;
  /// Neither a variable nor a node: whatever the grants are for is not here, or lies where every worker looks.
  [[nodiscard]] bool empty() const { return environment.empty() && devices.empty(); }
  friend bool operator==(const LanguageAccess&, const LanguageAccess&) = default;
};

/// Reads this process's environment; `dev` holds the device nodes.
[[nodiscard]] LanguageAccess access_of(const SandboxGrants& grants, const std::filesystem::path& dev = "/dev");

/// Adds to what a process is given already.
void grant(const LanguageAccess& access, SandboxSpec& spec);

}  // namespace kw
