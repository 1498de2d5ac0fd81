#pragma once
// What the gates `screen` and `check` have in common: a process for the candidate, one launch of it on a case, and a
// look at its outputs from all sides.

#include <optional>

#include "verify/gates/gate.hpp"

namespace kw {

/// Starts a fresh process with what has been built. False after a rejection by `gate`.
[[nodiscard]] bool start_for(GateId gate, GateContext& context);

/// One untimed launch, not judged; of `mode` the deadline is set here. Nothing after a rejection by `gate`. `inputs`
/// are those of `one`.
[[nodiscard]] std::optional<CaseRun> run_untimed(GateId gate, GateContext& context, const CheckCase& one,
                                                 const StoredInputs& inputs, CaseMode mode);

/// Whether the outputs of such a launch are right; appends to `accuracy` when given. False after a rejection by `gate`.
[[nodiscard]] bool judge_run(GateId gate, GateContext& context, const CheckCase& one, const CaseRun& run,
                             const Poison& poison, AccuracyTable* accuracy);

}  // namespace kw
