#pragma once
// Names of devices in tables that outlive one machine, such as a bundle's dispatch rows. A device that is here reports
// what its driver says ("NVIDIA GeForce RTX 4090"), one that is not what its file says ("NVIDIA H200 SXM5"), and a
// simulated one whose limits it has; a table says "rtx4090", "h200", "sm_90" or "Hopper".

#include <string>
#include <string_view>

#include "hardware/device_facts.hpp"

namespace kw {

/// Whether `text` could name any device: it has a letter or a digit.
[[nodiscard]] bool can_name_device(std::string_view text);

/// Whether `text` names `device`, in any case: its architecture ("sm_90a" or "sm_90", "gfx942"), the generation of its
/// architecture ("Ampere" is sm_80 and sm_86), or neighbouring words of its name with nothing between them ("rtx4090",
/// "RTX 4090", "geforce-rtx-4090" and "nvidia", but not "4090d" or "409").
[[nodiscard]] bool names_device(std::string_view text, const DeviceFacts& device);

/// What a table should call `device`: the shipped device of its name, or else its name; the architecture where it has
/// none of its own. names_device holds for it.
[[nodiscard]] std::string table_name(const DeviceFacts& device);

}  // namespace kw
