#pragma once
// What has to be known of the plain kernel before a candidate is judged. Called once, when a verifier is opened.

#include <functional>

#include "base/result.hpp"
#include "verify/processes/step_clock.hpp"
#include "verify/state/measure_state.hpp"
#include "verify/state/run_facts.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode baseline{"verify.baseline", ExitClass::internal};  ///< the plain kernel itself fails
}  // namespace errc

using MakeSuite = std::function<Result<CheckSuite>()>;

/// Fills facts.suite, for which the oracle answers, and builds the plain kernel beside that. Then checks it on every
/// case, which says what error is allowed, and times it where the device's times say something. errc::baseline when it
/// does not build, run or agree with the oracle, also because `clock` ran out; errc::unscorable; what `make_suite`,
/// which is called once, fails with.
[[nodiscard]] Result<void> open_baseline(RunFacts& facts, MeasureState& measuring, StepClock& clock,
                                         const MakeSuite& make_suite);

}  // namespace kw
