#pragma once
// Facts of GPUs that are not here: those that ship with the program (devices/, published numbers) and those a user
// writes down. They serve code generation and compiling; nothing runs on such a device.
//
// A device file is one JSON object. "arch" must be there; everything else is optional and follows from the
// architecture where it is missing, or stays unknown: name, source (where the numbers come from), compute_units (or
// sm_count; 1 when missing), clock_hz, memory_bytes, l2_cache_bytes, last_level_cache_bytes (that of L2 when missing),
// l1_cache_bytes, shared_bytes_per_block,
// shared_bytes_per_unit, reserved_shared_bytes_per_block, max_threads_per_unit, max_blocks_per_unit,
// registers_per_unit, registers_per_block, peak_bytes, peak_f32_flops, peak_f16_flops, special_per_clock_per_unit.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hardware/device_facts.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode device_file{"target.device_file"};        ///< not JSON, or a field is wrong
inline constexpr ErrorCode device_unknown{"target.device_unknown"};  ///< no shipped facts of that name
}  // namespace errc

/// How the name begins of a device that its file does not name; the generation of its architecture follows.
inline constexpr std::string_view k_unnamed_device = "a device of ";

/// Names of the shipped devices, as --device takes them.
[[nodiscard]] std::vector<std::string> shipped_devices();

/// One of shipped_devices(), in any case: id the name, target that of its architecture, driver "none".
[[nodiscard]] Result<DeviceFacts> find_device_facts(std::string_view name);

/// The facts a device file states; `file` stands in messages and becomes the id.
[[nodiscard]] Result<DeviceFacts> parse_device_file(std::string_view json, const std::string& file);

}  // namespace kw
