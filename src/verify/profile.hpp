#pragma once
// Derived figures of a measurement: useful FLOP rate and position under the roofline (Williams, Waterman, Patterson
// 2009: attainable = min(peak FLOP rate, bandwidth * FLOPs per byte), both peaks measured on this device). And what a
// profiler counts.

#include <optional>
#include <string>

#include "verify/session.hpp"

namespace kw {

void fill_profile(const Session& session, Measurement& measurement);

/// Has the session's profiler count; without one nothing happens. A sentence when it could not, the first time: it is
/// not asked again.
[[nodiscard]] std::optional<std::string> count_in_hardware(Session& session, const Contender& contender,
                                                           Measurement& measurement);

}  // namespace kw
