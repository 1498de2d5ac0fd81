#pragma once
// One bundle for several devices: the source that a style writes for each of them alone, which must be the same text,
// and a dispatch row per device with the tunables that it would have had as defaults there.

#include <span>
#include <string>
#include <string_view>

#include "codegen/codegen.hpp"

namespace kw {

/// The fastest style that writes `problem` for all of `devices`; empty where no style does.
[[nodiscard]] std::string fastest_common_style(const Problem& problem, std::string_view target,
                                               std::span<const DeviceFacts> devices);

/// For one device, or without tunables, what emit_bundle gives. For several: a row for each, called table_name(device),
/// in the order given but architectures last; defaults, for devices that no row names, are those of the listed one with
/// the least shared memory per block. Errors: those of the style, for the first device that it does not write for;
/// errc::codegen_unsupported also when the text depends on the device or one row would be taken on another's device.
/// `devices` is not empty.
[[nodiscard]] Result<Bundle> emit_for_devices(const Problem& problem, std::string_view target, std::string_view style,
                                              std::span<const DeviceFacts> devices, const IntBindings& structure = {});

}  // namespace kw
