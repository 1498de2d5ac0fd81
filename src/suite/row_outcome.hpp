#pragma once
// What became of a problem, for its row.

#include <span>

#include "suite/suite_state.hpp"

namespace kw {

/// A problem that could not be read, written, run, or scored.
void note_failure(SuiteRow& row, const Error& error);

/// Of a run that came to its end, or was interrupted.
void note_outcome(SuiteRow& row, const RunRecord& run, std::span<const Attempt> attempts);

}  // namespace kw
