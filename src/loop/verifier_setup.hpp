#pragma once
// What every verifier is opened with: the plain kernel as baseline and a seed nobody knows.

#include <cstdint>
#include <string>

#include "verify/state/options.hpp"

namespace kw {

/// From the system's generator. Ends the program when there is none: nothing secret can be drawn then.
[[nodiscard]] std::uint64_t secret_seed();

/// Options with the plain kernel of the target, a fresh secret seed, and the given device; the rest is left as it is
/// by default. Errors: as emit_bundle.
[[nodiscard]] Result<VerifierOptions> verifier_options(const Problem& problem, const std::string& target,
                                                       DeviceFacts device, ParallelFor parallel, VerifierTools tools);

}  // namespace kw
