#pragma once
// What the tests of the sandbox share: starting the hostile program under a spec, and waiting for what it reports.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/testing/scratch_directory.hpp"
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
[[nodiscard]] std::vector<SandboxExemption> exempt(const std::vector<SandboxLayer>& layers);
/// What the probe found on this machine; made once.
[[nodiscard]] const SandboxReport& machine();

/// A file of the host's in a directory of its own, removed at the end.
class Canary {
 public:
  Canary();
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// A path beside it where nothing is.
  [[nodiscard]] std::filesystem::path outside() const { return file_.parent_path() / "outside"; }

 private:
  ScratchDirectory folder_;
  std::filesystem::path file_ = folder_.path() / "canary";
};

/// A process of the host's user that does nothing, as a target.
class Bystander {
 public:
  Bystander();
  ~Bystander();
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  [[nodiscard]] std::string pid() const { return std::to_string(pid_); }
  /// The signal that ended it, 0 while it lives.
  [[nodiscard]] int ended_by() const;

 private:
  pid_t pid_;
};

/// Skips the test, with the probe's reason, on a machine whose kernel does not offer the tier. A tier that is offered
/// and fails is no reason to skip: the test then runs, and fails.
#define KW_NEEDS_TIER(wanted)                                                                  \
  if (::kw::hostile::machine().tier < (wanted) && !::kw::hostile::machine().missing.empty()) { \
    GTEST_SKIP() << "this kernel offers no tier " << to_string(wanted) << ": "                 \
                 << ::kw::hostile::machine().missing.back();                                   \
  }

}  // namespace kw::hostile
