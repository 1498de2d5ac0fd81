#include "record/verdict.hpp"

namespace kw {

std::string_view to_string(GateId gate) {
  switch (gate) {
    case GateId::read:
      return "read";
    case GateId::build:
      return "build";
    case GateId::statics:
      return "static";
    case GateId::check:
      return "check";
    case GateId::sanitize:
      return "sanitize";
    case GateId::time:
      return "time";
    case GateId::profile:
      return "profile";
  }
  return "unknown";
}

std::string_view to_string(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::accepted:
      return "accepted";
    case VerdictStatus::rejected:
      return "rejected";
    case VerdictStatus::unverified:
      return "unverified";
  }
  return "unknown";
}

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "none";
    case Reason::bundle_invalid:
      return "bundle_invalid";
    case Reason::source_forbidden:
      return "source_forbidden";
    case Reason::build_failed:
      return "build_failed";
    case Reason::build_timeout:
      return "build_timeout";
    case Reason::build_crashed:
      return "build_crashed";
    case Reason::kernel_missing:
      return "kernel_missing";
    case Reason::resource_limit:
      return "resource_limit";
    case Reason::constraint_violated:
      return "constraint_violated";
    case Reason::wrong_result:
      return "wrong_result";
    case Reason::not_finite:
      return "not_finite";
    case Reason::output_unwritten:
      return "output_unwritten";
    case Reason::input_modified:
      return "input_modified";
    case Reason::guard_overwritten:
      return "guard_overwritten";
    case Reason::nondeterministic:
      return "nondeterministic";
    case Reason::crashed:
      return "crashed";
    case Reason::timeout:
      return "timeout";
    case Reason::launch_failed:
      return "launch_failed";
    case Reason::memory_limit:
      return "memory_limit";
    case Reason::sanitizer_report:
      return "sanitizer_report";
    case Reason::wrong_when_timed:
      return "wrong_when_timed";
    case Reason::above_roofline:
      return "above_roofline";
    case Reason::clock_mismatch:
      return "clock_mismatch";
  }
  return "unknown";
}

void Verdict::reject(GateId gate, Reason why, std::string sentence) {
  if (status != VerdictStatus::accepted) return;
  status = VerdictStatus::rejected;
  reason = why;
  failed_gate = gate;
  message = std::move(sentence);
}

void Verdict::cannot_decide(GateId gate, std::string sentence) {
  if (status != VerdictStatus::accepted) return;
  status = VerdictStatus::unverified;
  failed_gate = gate;
  message = std::move(sentence);
}

}  // namespace kw
