#pragma once
// What a bundle's dispatch table says for one device and shape. The rule, for every workload and every tunable: what
// the candidate assigns, or else what the first row that fits assigns, or else the default. A row fits when it names
// the device or none, and all of its conditions are non-zero for the workload's axes and the device's facts; rows
// behind the first that fits are not looked at, also for tunables that it does not name.

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "hardware/device_facts.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

struct ResolvedTunables {
  IntBindings values;              ///< one entry per tunable of the bundle
  std::optional<std::size_t> row;  ///< of the dispatch table, from 0, that had a say; nothing: none did
};

/// errc::plan_value when a condition that was looked at cannot be evaluated. Constraints are not checked here:
/// plan_launches does.
[[nodiscard]] Result<ResolvedTunables> resolve_tunables(const Candidate& candidate, const Axes& axes,
                                                        const DeviceFacts& device);

/// "BM=4 BN=256" for people, in the order of names; "BM=4, by row: BN" where something is left to the rows; empty
/// without tunables.
[[nodiscard]] std::string assignment_text(const Candidate& candidate);

/// "row 2 (h200, Skv >= 4096)", for people; `row` counts from 0.
[[nodiscard]] std::string row_label(const Bundle& bundle, std::size_t row);

/// `bundle` with `row` in the place of the one with the same device and conditions. Where there is none it goes to the
/// front, because the first row that fits is taken, but behind those of the same device with more conditions. The row
/// is not checked: make_candidate does.
[[nodiscard]] Bundle with_row(Bundle bundle, DispatchRow row);

/// The candidate as a bundle that resolves to what the candidate does wherever it runs: its assignment becomes the
/// defaults, and rows have no say in it any more.
[[nodiscard]] Bundle with_defaults(const Candidate& candidate);

}  // namespace kw
