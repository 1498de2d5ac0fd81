#pragma once
// HIP C++ to a code object, by hipcc. In the build process only.

#include <filesystem>
#include <string>

#include "hardware/device_facts.hpp"
#include "protocol/messages.hpp"

namespace kw::hip {

/// Runs `program` in `directory`, which is writable and private to this process. The reply's kernels have what the
/// compiler reports, and occupancy by the rule of hardware/occupancy.hpp.
[[nodiscard]] BuildReply build(const std::string& program, const std::filesystem::path& directory,
                               const DeviceFacts& device, const BuildRequest& request);

}  // namespace kw::hip
