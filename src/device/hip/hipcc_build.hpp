#pragma once
// HIP C++ to a code object, by hipcc. In the build process only.

#include <filesystem>
#include <string>

#include "protocol/messages.hpp"
#include "target/device_facts.hpp"

namespace kw::hip {

/// Runs `program` in `directory`, which is writable and private to this process. The reply's kernels have what the
/// compiler reports, and occupancy by the rule of target/occupancy.hpp.
[[nodiscard]] BuildReply build(const std::string& program, const std::filesystem::path& directory,
                               const DeviceFacts& device, const BuildRequest& request);

}  // namespace kw::hip
