#pragma once
// Steps that building takes with every compiler.

#include <filesystem>
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

}  // namespace kw
