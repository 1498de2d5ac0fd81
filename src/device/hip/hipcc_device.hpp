#pragma once
// hipcc as a device that builds and never runs: "hipcc:gfx942" compiles HIP C++ for any GPU of that architecture,
// present or not. Where there is no hipcc the simulator stands in for it.

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace kw {

namespace hip {
/// Names the compiler in place of the one found; for machines with several, and for tests.
inline constexpr const char* k_hipcc_variable = "KERNELWRIGHT_HIPCC";
}  // namespace hip

/// The compiler itself as one entry: `name` is what it says of itself, `driver` its path, target "hip".
[[nodiscard]] Result<std::vector<DeviceFacts>> describe_hipcc();
/// errc::device_unavailable without hipcc, or for an id that is not "hipcc:" and an architecture of AMD.
[[nodiscard]] Result<std::unique_ptr<Device>> open_hipcc(const std::string& device_id);

}  // namespace kw
