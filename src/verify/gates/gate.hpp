#pragma once
// The gates, in order; cheap ones first. Sanitizing comes after timing, because it is for candidates that would become
// the best, and only timing tells which. A gate is one function in one file of this folder and one line in gates.cpp.
// It returns true when the candidate goes on (passed, or with trial.skipped nothing to go by), and false after
// recording the first cause in trial.verdict.

#include <string_view>
#include <vector>

#include "record/verdict.hpp"
#include "verify/session.hpp"

namespace kw {

struct Gate {
  GateId id;
  bool (*run)(Session& session, Trial& trial);
};

[[nodiscard]] const std::vector<Gate>& gates();

bool run_read_gate(Session& session, Trial& trial);
bool run_build_gate(Session& session, Trial& trial);
bool run_static_gate(Session& session, Trial& trial);
bool run_check_gate(Session& session, Trial& trial);
bool run_sanitize_gate(Session& session, Trial& trial);
bool run_time_gate(Session& session, Trial& trial);
bool run_profile_gate(Session& session, Trial& trial);

}  // namespace kw
