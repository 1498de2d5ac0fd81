#include "verify/reference_kernel.hpp"

#include <limits>

#include "record/time_use.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/gates/gate.hpp"

namespace kw {

tl::expected<LoadedCandidate, OwnFailure> build_own(const RunFacts& facts, MeasureState& measuring, StepClock& clock,
                                                    const Candidate& candidate) {
  GateContext context{facts, measuring, clock};
  context.loaded.candidate = candidate;
  context.is_baseline = true;
  const bool built = run_gates(GatePhase::build, context);
  clock = context.clock;
  if (!built) {
    return tl::unexpected(OwnFailure{fmt::format("gate {}", to_string(*context.verdict.failed_gate)),
                                     context.verdict.message, context.verdict.status == VerdictStatus::rejected});
  }
  const auto starting = clock.doing(time_activity::starting);
  if (auto failure = start_candidate(facts.backend, context.loaded, facts.options.deadlines.start)) {
    return tl::unexpected(OwnFailure{"starting it", failure->sentence});
  }
  return std::move(context.loaded);
}

std::optional<std::vector<double>> agree(const RunFacts& facts, LoadedCandidate& reference, const CheckCase& one,
                                         std::span<const double> plain_errors, StepClock& clock) {
  const StepTimeout timeout = clock.timeout(facts.options.deadlines.first_launch);
  const CaseMode mode{false, k_nan_poison, timeout.time, timeout.ends_budget};
  const auto run = run_case(facts.problem, reference, one, mode, clock, facts.options.parallel);
  if (!run) return std::nullopt;
  const auto judging = clock.doing(time_activity::judging);
  std::vector<double> errors;
  for (std::size_t output = 0; output < run->outputs.size(); ++output) {
    const OutputForm form = one.form(facts.problem, output);
    // The plain kernel's own output is as far from the truth as it errs; the oracle's is not.
    const double off = one.baseline_error.empty() ? 0.0 : one.baseline_error[output];
    const double limit = allowed_error(form, one.expected[output].size(), plain_errors[output]) + off;
    const OutputError error = measure_error(run->outputs[output], mode.poison.outputs, one.expected[output],
                                            one.scales[output], form, limit, facts.options.parallel);
    if (!error.nothing_wrong()) return std::nullopt;
    if (one.sampled.empty()) {
      errors.push_back(error.max_error);
    } else {
      const OutputError sampled =
          measure_sample(run->outputs[output], mode.poison.outputs, one.sampled[output], one.scales[output], form,
                         std::numeric_limits<double>::infinity(), facts.options.parallel);
      errors.push_back(sampled.max_error);
    }
  }
  return errors;
}

}  // namespace kw
