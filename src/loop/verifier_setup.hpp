#pragma once
// What every verifier is opened with: the plain kernel as baseline and a seed nobody knows.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "verify/state/options.hpp"

namespace kw {

/// From the system's generator. Ends the program when there is none: nothing secret can be drawn then.
[[nodiscard]] std::uint64_t secret_seed();

/// Options with the plain kernel of the target, a fresh secret seed, and the given device; the rest is left as it is
/// by default. Errors: as emit_bundle.
[[nodiscard]] Result<VerifierOptions> verifier_options(const Problem& problem, const std::string& target,
                                                       DeviceFacts device, ParallelFor parallel, VerifierTools tools);

/// How long the builds of one candidate may take in a run of `wall_seconds`: a quarter of it, at most `usual` and at
/// least 15 s, which an honest source needs only where a compiler starts on a busy machine.
[[nodiscard]] Duration build_share(Duration usual, std::optional<double> wall_seconds);

/// errc::requirement_unchecked where 'sanitized' is required and nothing can do it. A simulator looks at every launch
/// itself.
[[nodiscard]] Result<void> require_sanitizer(std::span<const Requirement> requirements, const VerifierTools& tools,
                                             const DeviceFacts& device, const std::string& target);

}  // namespace kw
