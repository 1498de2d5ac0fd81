#pragma once
// What the verifier concluded about one candidate: status, typed reason, evidence. The first cause wins.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

/// Stored in archives: never renumber. The order in which gates run is that of the program's list
/// (verify/gates/gate.hpp): time comes before sanitize.
enum class GateId : std::uint8_t {
  read = 1,
  build = 2,
  static_check = 3,
  check = 4,
  sanitize = 5,
  time = 6,
  profile = 7,
  screen = 8,
  extra = 100,  ///< a gate that is none of the product's: of a program with a list of its own
};

/// Stored in archives: never renumber.
enum class VerdictStatus : std::uint8_t {
  accepted = 1,    ///< passed every gate that ran; `gates` says which ones did
  rejected = 2,    ///< the candidate is at fault
  unverified = 3,  ///< the harness could not decide (a device lost, a full disk): nobody's fault, may be tried again
  screened = 4,    ///< nothing was found against it on the smallest evidence, and it is not fast enough for all of it
};

/// Why a candidate was rejected. Stored in archives: never renumber.
enum class Reason : std::uint8_t {
  none = 0,
  bundle_invalid = 1,        ///< read: header or plan cannot be used
  source_forbidden = 2,      ///< read or build: includes, directives or identifiers outside the allowed set
  build_failed = 10,         ///< build: the compiler refused the source
  build_timeout = 11,        ///< build: past the deadline
  build_crashed = 12,        ///< build: the compiler died
  kernel_missing = 13,       ///< build: a launched kernel is not in the source, or its arguments do not match
  resource_limit = 20,       ///< static: over a device limit
  constraint_violated = 21,  ///< static: over a limit the user set
  wrong_result = 30,         ///< check: outside the tolerance
  not_finite = 31,           ///< check: NaN or infinity where the oracle is finite
  output_unwritten = 32,     ///< check: poison is still there
  input_modified = 33,       ///< check: an input differs afterwards
  guard_overwritten = 34,    ///< check: bytes between buffers were written
  nondeterministic = 35,     ///< check: two runs on the same data differ
  crashed = 36,              ///< check or time: the process running it died
  timeout = 37,              ///< check or time: past the deadline, killed
  launch_failed = 38,        ///< check: the runtime refused a launch
  memory_limit = 39,         ///< check: over the memory the sandbox grants
  sanitizer_report = 50,     ///< sanitize, or on a simulator check or time: it looks at every launch
  wrong_when_timed = 60,     ///< time: right when checked, wrong in a timed launch
  above_roofline = 61,       ///< time: faster than the device can be
  clock_mismatch = 62,       ///< time: the claimed time does not fit the host's clock
};

template <typename E>
struct EnumName {
  E value;
  std::string_view name;
};
/// Every gate and every reason with its name: what to_string says, what a file may hold, and what a prompt may name
/// (prompts/reasons.md has a section for each reason but `none`).
inline constexpr auto k_gate_names = std::to_array<EnumName<GateId>>({
    {GateId::read, "read"},
    {GateId::build, "build"},
    {GateId::static_check, "static"},
    {GateId::check, "check"},
    {GateId::sanitize, "sanitize"},
    {GateId::time, "time"},
    {GateId::profile, "profile"},
    {GateId::screen, "screen"},
    {GateId::extra, "extra"},
});
inline constexpr auto k_reason_names = std::to_array<EnumName<Reason>>({
    {Reason::none, "none"},
    {Reason::bundle_invalid, "bundle_invalid"},
    {Reason::source_forbidden, "source_forbidden"},
    {Reason::build_failed, "build_failed"},
    {Reason::build_timeout, "build_timeout"},
    {Reason::build_crashed, "build_crashed"},
    {Reason::kernel_missing, "kernel_missing"},
    {Reason::resource_limit, "resource_limit"},
    {Reason::constraint_violated, "constraint_violated"},
    {Reason::wrong_result, "wrong_result"},
    {Reason::not_finite, "not_finite"},
    {Reason::output_unwritten, "output_unwritten"},
    {Reason::input_modified, "input_modified"},
    {Reason::guard_overwritten, "guard_overwritten"},
    {Reason::nondeterministic, "nondeterministic"},
    {Reason::crashed, "crashed"},
    {Reason::timeout, "timeout"},
    {Reason::launch_failed, "launch_failed"},
    {Reason::memory_limit, "memory_limit"},
    {Reason::sanitizer_report, "sanitizer_report"},
    {Reason::wrong_when_timed, "wrong_when_timed"},
    {Reason::above_roofline, "above_roofline"},
    {Reason::clock_mismatch, "clock_mismatch"},
});

[[nodiscard]] std::string_view to_string(GateId gate);
[[nodiscard]] std::string_view to_string(VerdictStatus status);
[[nodiscard]] std::string_view to_string(Reason reason);

/// One fact a gate saw, for people and for the next prompt. `hidden` evidence (held-out sizes) never reaches a
/// proposer.
struct Evidence {
  GateId gate = GateId::read;
  std::string text;
  bool hidden = false;
};

struct Verdict {
  VerdictStatus status = VerdictStatus::accepted;
  Reason reason = Reason::none;
  std::optional<GateId> failed_gate;
  std::string message;               ///< one sentence; empty when accepted
  std::vector<GateId> gates_passed;  ///< in order
  std::vector<Evidence> evidence;

  /// Proved: on all evidence.
  [[nodiscard]] bool accepted() const { return status == VerdictStatus::accepted; }
  /// Proved, or not contradicted by as much as was looked at: its time says something to a search, and nothing more.
  [[nodiscard]] bool right_so_far() const { return accepted() || status == VerdictStatus::screened; }
  /// Records the first cause; later calls change nothing.
  void reject(GateId gate, Reason why, std::string sentence);
  void cannot_decide(GateId gate, std::string sentence);
  void screen(std::string sentence);
  void pass(GateId gate) { gates_passed.push_back(gate); }
  void note(GateId gate, std::string text, bool hidden = false) { evidence.push_back({gate, std::move(text), hidden}); }
};

}  // namespace kw
