#pragma once
// The parts of a run's opening that need nothing of the run in progress: what its verifier is opened with, and the
// conditions that its record names. For the loop.

#include "loop/run.hpp"
#include "verify/verifier.hpp"

namespace kw {

/// Asks whether the server of the model that will be asked is there: otherwise the opening, which may take minutes,
/// would be in vain. Errors: ChatClient::reach.
[[nodiscard]] Result<void> reach_model(const RunSetup& setup, const RunServices& services);

/// For the device with its peaks. `began`: when the budget did. Errors: verifier_options.
[[nodiscard]] Result<VerifierOptions> opening_options(const RunSetup& setup, const RunServices& services,
                                                      const DeviceFacts& device, Instant began);

/// What the run is made with: environment, sandbox, sanitizers, workloads as planned, the work of the primary one. A
/// busy machine is noted, and the observer warned.
void note_conditions(RunRecord& record, const RunSetup& setup, RunServices& services, const WorkloadCost& work);

/// What is really checked.
void note_checked(RunRecord& record, CheckedCases checked);

}  // namespace kw
