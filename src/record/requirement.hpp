#pragma once
// What a user demands of a kernel beyond being right, as far as it can be checked: `--require "registers<=128,
// no_spills"`. The static gate rejects what breaks one (Reason::constraint_violated), the sanitize gate where a
// sanitizer is required; prompts repeat them in words. Demands that nobody can check are the prompt's `constraints`,
// free text.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hardware/device_facts.hpp"
#include "record/attempt.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode requirement_syntax{"require.syntax"};    ///< not QUANTITY<=NUMBER
inline constexpr ErrorCode requirement_unknown{"require.unknown"};  ///< lists the known ones, the nearest as the hint
inline constexpr ErrorCode requirement_value{"require.value"};      ///< a bound that is no number or out of range
inline constexpr ErrorCode requirement_unchecked{"require.unchecked"};  ///< the device reports no such figure
}  // namespace errc

enum class Relation : std::uint8_t { less = 1, at_most = 2, equal = 3, at_least = 4, greater = 5 };
/// "<", "<=", "==", ">=", ">".
[[nodiscard]] std::string_view to_string(Relation relation);

struct Requirement {
  std::string quantity;  ///< "registers", "occupancy", "tensor_cores", ...
  Relation comparison = Relation::at_most;
  double bound = 0;
  bool flag =
      false;  ///< written as a word alone: tensor_cores, no_spills; comparison and bound say the same in numbers
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

/// "tensor_cores, registers<=128, occupancy>=0.5": separated by commas, blanks ignored; at most 32. An empty text asks
/// for nothing. Quantities: docs/prompting.md.
[[nodiscard]] Result<std::vector<Requirement>> parse_requirements(std::string_view text);
/// As parse_requirements reads it back.
[[nodiscard]] std::string to_string(const Requirement& requirement);
/// "at most 128 registers per thread", for prompts.
[[nodiscard]] std::string in_words(const Requirement& requirement);

/// The figures of a build that a plan alone gives, for the primary workload.
struct PlanFigures {
  std::int64_t launches = 0;
  std::int64_t scratch_bytes = 0;
  std::int64_t shared_bytes = 0;  ///< most of any launch, as the header asks for it
};
/// The figure a requirement speaks of; nothing when it was not reported.
[[nodiscard]] std::optional<double> figure_of(const Requirement& requirement, const BuildReport& build,
                                              const PlanFigures& plan);
/// Whether it asks for a sanitizer that has run the kernel, which no figure says.
[[nodiscard]] bool needs_sanitizer(const Requirement& requirement);
[[nodiscard]] bool holds(const Requirement& requirement, double value);

/// Whether the device's toolchain reports every figure that is asked for. Refused up front, or a run would end with no
/// kernel after its whole budget: errc::requirement_unchecked names the quantity and what can be asked instead.
[[nodiscard]] Result<void> require_checkable(const std::vector<Requirement>& requirements, const DeviceFacts& device);

}  // namespace kw
