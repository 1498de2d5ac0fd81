#pragma once
// What Nsight Compute writes, read back: CSV of one line per kernel launch, with thousands of columns, units in a line
// of their own, among lines that begin with "==".

#include <string>
#include <variant>
#include <vector>

#include "record/attempt.hpp"

namespace kw {

/// The metrics that HardwareCounters is made from, by NVIDIA's names.
[[nodiscard]] const std::vector<std::string>& profiled_metrics();

/// The counters of the launch that took longest, out of what `ncu --csv --page raw` writes; or a sentence that says why
/// there are none: a missing permission and how to get it, an error of the tool's, no kernel at all. What is no number,
/// or has a unit not known here, is absent. `report` is untrusted; reading takes time linear in its length.
[[nodiscard]] std::variant<HardwareCounters, std::string> read_counters(const std::string& report);

}  // namespace kw
