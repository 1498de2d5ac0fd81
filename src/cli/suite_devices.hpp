#pragma once
// The devices of a suite as this machine has them: each opened once, with a connection of its own to the archive.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "suite/suite_loop.hpp"

namespace kw {

struct SuiteDeviceOptions {
  const SuiteSettings& settings;
  std::string require_sandbox;
  std::filesystem::path archive;
  const Clock& clock;
  const std::atomic<bool>& stop;
};

/// One for each of settings.devices. errc::suite_device where two names mean the same device; errors of opening a
/// device or the archive.
[[nodiscard]] Result<std::vector<std::unique_ptr<SuiteDevice>>> open_suite_devices(const SuiteDeviceOptions& options);

}  // namespace kw
