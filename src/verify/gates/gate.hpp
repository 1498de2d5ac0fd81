#pragma once
// A gate: one step of the verifier, which a candidate passes or not. Each is one function in one file and one line in
// the program's list: catalogue/gates.cpp for the product, another for a program that has more of them. The verifier
// runs the list phase by phase and knows no gate by name.

#include <cstdint>
#include <optional>
#include <vector>

#include "record/attempt.hpp"
#include "record/verdict.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/processes/loaded_candidate.hpp"
#include "verify/processes/step_clock.hpp"
#include "verify/state/measure_state.hpp"
#include "verify/state/run_facts.hpp"

namespace kw {

/// One compilation that a candidate needs.
struct PlannedBuild {
  BuildRequest request;
  bool hidden = true;  ///< only held-out workloads need it
};

struct SanitizerInquiry;  // of the gate `sanitize` alone

/// One candidate on its way through the gates.
struct GateContext {
  const RunFacts& facts;
  MeasureState& measuring;  ///< for gates of the phases `measure` and `count`; others may only read it, and only while
                            ///< they run
  StepClock clock;
  LoadedCandidate loaded = {};
  Verdict verdict = {};
  BuildReport build = {};
  std::optional<Measurement> measurement = {};
  AccuracyTable accuracy = {};
  std::optional<SimulatedAccesses> accesses = {};
  std::shared_ptr<std::vector<SanitizerInquiry>> inquiries = {};  ///< with what the tools said; null: not asked yet
  std::vector<PlannedBuild> unbuilt = {};                         ///< for workloads that only the whole check needs
  bool screens = false;                                           ///< VerifierOptions::screen, and there is a champion
  std::optional<GateId> untimed = {};  ///< the first gate that was left out because the device's times say nothing
  bool skipped = false;                ///< the gate that returned true had nothing to go by, and was not passed
  bool is_baseline = false;            ///< the plain kernel: the user's requirements are not about it
};

/// Whether this candidate is to be screened before anything else: asked when its turn comes.
[[nodiscard]] bool is_screened(const RunFacts& facts, const MeasureState& measuring);

/// What a gate works with, from the cheapest to the most expensive. The gates of a phase run in the order of the list.
enum class GatePhase : std::uint8_t {
  build,    ///< text, compilers and their reports: no device. The baseline passes these gates too, and the phase may
            ///< run beside the `run` phase of another candidate
  run,      ///< launches on the device, untimed
  measure,  ///< launches with nothing else going on
  prove,    ///< more evidence for what would become the best, untimed: the next candidates are built beside it
  count,    ///< the profiler's, with nothing else going on
};

/// When a gate has something to say. A candidate goes on without it otherwise.
struct GateNeeds {
  bool timed_device = false;         ///< left out on a simulator, whose times say nothing
  bool would_be_best = false;        ///< slow: where candidates are timed, only for one that would become the best
  std::optional<bool> screens = {};  ///< only for candidates that are screened first, or only for others
};

struct Gate {
  GateId id;
  GatePhase phase;
  GateNeeds needs;
  /// True when the candidate goes on (passed, or with context.skipped nothing to go by), and false after recording the
  /// first cause in context.verdict.
  bool (*run)(GateContext& context);
  /// Work for it that may be done beside earlier gates, when nothing is timed and all is built; it then finds what
  /// came of that in the context. Null: there is none.
  void (*ahead)(GateContext& context) = nullptr;
};

/// The gates of this program. Defined where the program is put together; the product's is catalogue/gates.cpp.
[[nodiscard]] const std::vector<Gate>& gates();

/// The gates of one phase in turn, until one stops the candidate; false then, with the cause in context.verdict.
[[nodiscard]] bool run_gates(GatePhase phase, GateContext& context);

/// The work of all gates that may be done before their turn.
void run_ahead(GateContext& context);

bool run_read_gate(GateContext& context);
bool run_build_gate(GateContext& context);
/// What the gate `build` left for later; judged as it would have been there. False after a rejection.
[[nodiscard]] bool build_the_rest(GateContext& context);
bool run_static_gate(GateContext& context);
bool run_screen_gate(GateContext& context);
bool run_check_gate(GateContext& context);
bool run_time_gate(GateContext& context);
bool run_sanitize_gate(GateContext& context);
void ask_sanitizers(GateContext& context);
bool run_profile_gate(GateContext& context);

}  // namespace kw
