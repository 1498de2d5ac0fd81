#pragma once
// What the gates `screen` and `check` have in common: a process for the candidate, and one launch of it on a case,
// looked at from all sides.

#include <optional>

#include "verify/gates/gate.hpp"

namespace kw {

/// Starts a fresh process with what has been built. False after a rejection by `gate`.
[[nodiscard]] bool start_for(GateId gate, GateContext& context);

/// One untimed launch, judged; appends to `accuracy` when given. Nothing after a rejection by `gate`. `inputs` are
/// those of `one`.
[[nodiscard]] std::optional<CaseRun> run_judged(GateId gate, GateContext& context, const CheckCase& one,
                                                const StoredInputs& inputs, const Poison& poison,
                                                AccuracyTable* accuracy);

}  // namespace kw
