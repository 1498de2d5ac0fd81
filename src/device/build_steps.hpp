#pragma once
// Steps that building takes with every compiler.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "protocol/messages.hpp"

namespace kw {

/// Where a worker may write: $TMPDIR, which the sandbox sets, else /tmp.
[[nodiscard]] std::filesystem::path private_directory();

/// One "-DNAME=VALUE" for each definition; none at all, and an error, when a name is no identifier and could smuggle in
/// another option.
[[nodiscard]] Result<std::vector<std::string>> definition_options(const BuildRequest& request);

/// The build failed: `why` becomes the last line of the log.
void refuse(BuildReply& reply, BuildStatus status, const std::string& why);

/// Why a compiled kernel and the launch planned of it do not fit, and what to change.
struct KernelMismatch {
  BuildStatus status = BuildStatus::ok;
  std::string text;
};

/// A launch names a kernel that the source does not have; `known` are the names that it has.
[[nodiscard]] KernelMismatch missing_kernel(const PlannedLaunch& launch, const std::string& known);

/// Nothing when the launch passes as many arguments as its kernel declares.
[[nodiscard]] std::optional<KernelMismatch> check_argument_count(const PlannedLaunch& launch, std::size_t declared);

}  // namespace kw
