#include "verify/baseline_opening.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problem/operator.hpp"
#include "record/time_use.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/checking/asked_roundings.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/checking/storage.hpp"
#include "verify/reference_kernel.hpp"
#include "verify/timing/timing.hpp"
#include "verify/verifier.hpp"

namespace kw {
namespace {

constexpr int k_samples = 3;

Error baseline_error(const std::string& doing, const std::string& what) {
  return Error{errc::baseline, fmt::format("the baseline kernel failed verification: {}: {}", doing, what),
               "run `kernelwright doctor`; if the device is healthy this is a defect of kernelwright"};
}

Result<void> build_baseline(const RunFacts& facts, MeasureState& measuring, StepClock& clock) {
  auto built = build_own(facts, measuring, clock, *facts.options.plain);
  if (!built && !built.error().is_fault) {
    return fail(Error{errc::worker_failed, "the plain kernel could not be built: " + built.error().what,
                      "run the command again when the machine has less to do"});
  }
  if (!built) return fail(baseline_error(built.error().doing, built.error().what));
  measuring.baseline.loaded = *std::move(built);
  return {};
}

/// The baseline's outputs, and how far they are from the oracle's answers.
struct Reached {
  Answers outputs;                   ///< of a sampled case, whose answer they become
  std::vector<OutputScales> scales;  ///< of the outputs
  std::vector<double> errors;
};

/// Against all of the oracle's answer.
Result<Reached> compare_whole(const RunFacts& facts, const CheckCase& one, const CaseRun& run, const CaseMode& mode,
                              const std::string& place) {
  AccuracyTable accuracy;
  if (auto failure = judge_case(facts.problem, one, run, mode, &accuracy, facts.options.parallel)) {
    return fail(baseline_error(place, failure->sentence + ": " + failure->detail));
  }
  Reached reached;
  for (const auto& entry : accuracy) reached.errors.push_back(entry.max_error);
  return reached;
}

/// Against the oracle's answers in some rows. Takes the outputs.
Result<Reached> compare_rows(const RunFacts& facts, const CheckCase& one, CaseRun& run, const CaseMode& mode,
                             const std::string& place) {
  Reached reached;
  for (std::size_t output = 0; output < run.outputs.size(); ++output) {
    const auto& tensor = facts.problem.outputs[output];
    const auto form = output_form(facts.problem, tensor, facts.problem.workloads[one.workload].axes);
    const AnswerView got(tensor.dtype, run.outputs[output]);
    reached.scales.push_back(output_scales(got, form, facts.options.parallel));
    const OutputError error =
        measure_sample(run.outputs[output], mode.poison.outputs, one.sampled[output], reached.scales[output], form,
                       std::numeric_limits<double>::infinity(), facts.options.parallel);
    if (error.unwritten > 0 || error.not_finite > 0) {
      return fail(baseline_error(place, fmt::format("{} of {} elements are unwritten, {} not finite", error.unwritten,
                                                    got.size(), error.not_finite)));
    }
    reached.errors.push_back(error.max_error);
    reached.outputs.emplace_back(tensor.dtype, std::move(run.outputs[output]));
  }
  return reached;
}

/// Said once, as soon as a launch of the primary workload has shown how long the others will take: an opening that
/// uses up the budget leaves nothing for candidates.
Result<void> require_time(const RunFacts& facts, const CheckCase& one, const LaunchOutcome& outcome,
                          const StepClock& clock) {
  const auto& cases = facts.suite.cases();
  if (!facts.timed() || one.workload != 0 || &one != &cases.front()) return {};
  const auto primaries = std::ranges::count(cases, std::size_t{0}, &CheckCase::workload);
  const Duration launch(outcome.observed_ns);
  // The reference takes its place, and this launch is its time.
  if (facts.options.reference) return {};
  const auto launches = primaries - 1 + (facts.options.plain_is_timed_by_checks ? 0 : k_samples);
  const Duration rest = launches * launch;
  if (!clock.timeout(rest).ends_budget) {
    if (facts.options.foresee) facts.options.foresee(launch, rest);
    return {};
  }
  return fail(Error{
      errc::out_of_time,
      fmt::format("the budget is too short: the plain kernel takes {:.2g} s a launch, and is launched {} times more "
                  "on the primary workload before the first candidate, which takes {:.0f} s from here on",
                  to_seconds(launch), launches, std::ceil(to_seconds(rest))),
      "give the run more time, such as --budget 10m, or make the primary workload smaller with --set"});
}

/// A plain kernel this far off is wrong, not imprecise, and must not become the measure of others.
Result<void> require_precise(const RunFacts& facts, const CheckCase& one, const std::string& place,
                             const std::vector<double>& errors) {
  for (std::size_t output = 0; output < errors.size(); ++output) {
    const auto form =
        output_form(facts.problem, facts.problem.outputs[output], facts.problem.workloads[one.workload].axes);
    if (errors[output] <= form.tolerance.worst_plain_error) continue;
    Error error = baseline_error(place, fmt::format("its error is {:.2e}", errors[output]));
    error.hint =
        "if the problem needs more digits than f32 has, as -1e6 + x does for what it says of x, write it with smaller "
        "numbers; otherwise this is a defect of kernelwright";
    return fail(std::move(error));
  }
  return {};
}

/// Whether the plain kernel, which is far off on these data, is wrong: unless roundings decide the answer. Of a large
/// workload that was not asked before; one thread takes some seconds for it.
bool tells(const RunFacts& facts, const CheckCase& one) {
  const Workload& workload = facts.problem.workloads[one.workload];
  const auto& conditioning = operator_of(facts.problem).checks.conditioning;
  return one.tells && conditioning(facts.problem, workload, *inputs_of(one), k_most_steps_asked_in_doubt).has_value();
}

/// How far the baseline's outputs are from the answers. Where roundings decide those, that says nothing of the kernel.
Result<Reached> compare(const RunFacts& facts, const CheckCase& one, CaseRun& run, const CaseMode& mode,
                        const std::string& place) {
  const bool whole = one.sampled.empty();
  auto reached = whole ? compare_whole(facts, one, run, mode, place) : compare_rows(facts, one, run, mode, place);
  const auto precise =
      reached ? require_precise(facts, one, place, reached->errors) : Result<void>(fail(Error(reached.error())));
  if (precise) return reached;
  return fail(tells(facts, one) ? precise.error() : untold_error(facts.problem, one));
}

/// Of a launch of the plain kernel that no deadline is long enough for.
Error too_slow_error(const std::string& place, Duration deadline) {
  return Error{errc::out_of_time,
               fmt::format("the plain kernel, which every candidate is compared with, takes more than {:.0f} s for a "
                           "launch on {}",
                           to_seconds(deadline), place),
               "make the primary workload smaller: with --set, or with --fit for a module"};
}

/// What the cases use one after the other: of new memory each page is cleared when it is first used.
struct OpeningMemory {
  StoredInputs inputs;
  OutputBytes outputs;
};

/// What the baseline, or the reference in its place, reaches on one case.
Result<Reached> reached_on(const RunFacts& facts, Baseline& baseline, LoadedCandidate* reference, const CheckCase& one,
                           StepClock& clock, OpeningMemory& memory) {
  if (clock.out_of_time()) return fail(baseline_error("checking it", k_budget_ended));
  const StepTimeout timeout = clock.timeout(facts.options.deadlines.first_launch);
  const CaseMode mode{false, k_nan_poison, timeout.time, timeout.ends_budget, nullptr, {}, &memory.outputs};
  const std::string place = "workload " + facts.problem.workloads[one.workload].name;
  LoadedCandidate& runs = reference != nullptr ? *reference : baseline.loaded;
  memory.inputs = StoredInputs(facts.problem, one, std::move(memory.inputs));
  auto run = run_plan(facts.problem, runs, one.workload, memory.inputs, mode, clock, facts.options.parallel);
  if (!run) {
    const bool too_slow = run.error().reason == Reason::timeout && !timeout.ends_budget;
    return fail(too_slow ? too_slow_error(place, timeout.time) : baseline_error(place, run.error().sentence));
  }
  if (reference != nullptr) {
    baseline.reference_takes = Duration(run->time.observed_ns);
  } else {
    baseline.learn_request(run->time);
    if (one.workload == 0) baseline.primaries.push_back(run->time);
    KW_TRY_VOID(require_time(facts, one, run->time, clock));
  }
  const auto judging = clock.doing(time_activity::judging);
  auto reached = compare(facts, one, *run, mode, place);
  memory.inputs.forget_drawn();
  memory.outputs = std::move(run->outputs);
  return reached;
}

/// The same of case `index`. On a GPU the oracle answers the next case meanwhile, for that changes no time there.
Result<Reached> reached_on_case(RunFacts& facts, Baseline& baseline, LoadedCandidate* reference, std::size_t index,
                                StepClock& clock, OpeningMemory& memory) {
  const auto& cases = facts.suite.cases();
  const auto reach = [&] { return reached_on(facts, baseline, reference, cases[index], clock, memory); };
  if (facts.device().kind != DeviceKind::gpu || index + 1 == cases.size()) return reach();
  std::optional<Result<Reached>> reached;
  Result<void> answered;
  const auto launch = [&] {
    const auto launching = clock.doing(TimeLedger::k_other);
    reached = reach();
  };
  const auto waiting_for_answers = clock.doing(time_activity::oracle);
  facts.options.beside(
      launch, [&] { answered = facts.suite.answer_large(facts.problem, index + 1, facts.options.parallel, nullptr); });
  KW_TRY_VOID(std::move(answered));
  return *std::move(reached);
}

/// What the plain kernel would have reached where the reference did: on the first case the two erred by `plain` and
/// `reference`. The limit is the plain kernel's, for a reference may be far more precise than anybody has to be.
std::vector<double> as_plain(std::vector<double> errors, std::span<const double> plain,
                             std::span<const double> reference) {
  constexpr double k_most = 16;
  for (std::size_t output = 0; output < errors.size(); ++output) {
    if (reference[output] > 0) errors[output] *= std::clamp(plain[output] / reference[output], 1.0, k_most);
  }
  return errors;
}

/// Runs the baseline on every case; what it reaches defines what is allowed. On the primary workload a reference that
/// agrees with it on the first case takes the others.
Result<void> learn_on_all_cases(RunFacts& facts, Baseline& baseline, StepClock& clock,
                                std::vector<std::vector<double>>& errors) {
  std::optional<LoadedCandidate>& reference = baseline.reference;
  std::optional<std::vector<double>> plain_reached;  // on the first case of the primary workload
  std::vector<double> reference_reached;
  OpeningMemory memory;
  for (std::size_t i = 0; i < facts.suite.cases().size(); ++i) {
    KW_TRY_VOID(facts.suite.answer_large(facts.problem, i, facts.options.parallel, clock.ledger()));
    const CheckCase& one = facts.suite.cases()[i];
    const bool primary = one.workload == 0;
    const bool by_reference = primary && plain_reached && reference;
    KW_TRY(auto reached, reached_on_case(facts, baseline, by_reference ? &*reference : nullptr, i, clock, memory));
    errors.push_back(by_reference ? as_plain(reached.errors, *plain_reached, reference_reached) : reached.errors);
    if (!one.sampled.empty()) {
      facts.suite.adopt(i, std::move(reached.outputs), std::move(reached.scales), std::move(reached.errors));
    }
    if (!primary || plain_reached) continue;
    plain_reached = errors.back();
    if (!reference) continue;
    const auto agreed = agree(facts, *reference, one, *plain_reached, clock);
    if (agreed) {
      reference_reached = *agreed;
    } else {
      reference.reset();
    }
  }
  return {};
}

Result<void> learn_allowed_errors(RunFacts& facts, Baseline& baseline, StepClock& clock) {
  std::vector<std::vector<double>> errors;
  if (baseline.loaded.process) {
    KW_TRY_VOID(learn_on_all_cases(facts, baseline, clock, errors));
  } else {
    // As if a plain kernel had been as precise as anybody is asked to be.
    std::vector<double> least;
    for (const auto& output : facts.problem.outputs)
      least.push_back(output_form(facts.problem, output, facts.problem.primary().axes).tolerance.least_error);
    errors.assign(facts.suite.cases().size(), least);
  }
  facts.suite.allow_errors(facts.problem, errors);
  const auto probing = clock.doing(time_activity::probes);
  return facts.suite.require_scorable(facts.problem, facts.options.parallel);
}

/// The suite, with the answers to what is launched first.
Result<void> answer(RunFacts& facts, TimeLedger* ledger, const MakeSuite& make_suite) {
  KW_TRY(facts.suite, make_suite());
  for (std::size_t i = 0; i < std::min(k_timing_cases, facts.suite.cases().size()); ++i) {
    KW_TRY_VOID(facts.suite.answer_large(facts.problem, i, facts.options.parallel, ledger));
  }
  return {};
}

/// A compiler keeps one core busy, and the oracle waits for nothing that it makes.
Result<void> build_beside_answers(RunFacts& facts, MeasureState& measuring, StepClock& clock,
                                  const MakeSuite& make_suite) {
  Result<void> answered;
  Result<void> built;
  const auto build_plain = [&] {
    if (facts.options.plain) built = build_baseline(facts, measuring, clock);
  };
  StepClock beside = clock.beside();
  TimeLedger* const ledger = clock.ledger();
  const auto build_reference = [&] {
    if (!facts.options.reference) return;
    if (auto own = build_own(facts, measuring, beside, *facts.options.reference)) {
      measuring.baseline.reference = *std::move(own);
    }
  };
  const auto waiting_for_compiler = clock.doing(time_activity::compiling);
  facts.options.beside([&] { answered = answer(facts, ledger, make_suite); },
                       [&] { facts.options.beside(build_plain, build_reference); });
  return answered ? std::move(built) : std::move(answered);
}

/// By its launches on the checks: of one that takes long a cold cache changes nothing.
void take_time_of_checks(const RunFacts& facts, MeasureState& measuring) {
  Baseline& baseline = measuring.baseline;
  std::vector<double> times;
  for (const LaunchOutcome& launch : baseline.primaries) {
    baseline.request_ns = std::max(baseline.request_ns, static_cast<double>(launch.observed_ns - launch.claimed_ns));
    times.push_back(launch_ns(facts, baseline, launch));
  }
  const Measurement measured = summarise(times, measuring.rng);
  baseline.time = {"plain", measured.median_ns, measured.ci_ns};
}

Result<void> time_baseline(const RunFacts& facts, MeasureState& measuring, StepClock& clock) {
  Baseline& baseline = measuring.baseline;
  auto times = time_alone({facts, baseline, clock, measuring.rng, measuring.data}, baseline.loaded, k_samples);
  if (!times) return fail(baseline_error("timing it", times.error().failure.sentence));
  if (clock.deadline_hit()) return fail(baseline_error("timing it", k_budget_ended));
  for (std::size_t i = 0; i < times->candidate_ns.size(); ++i) {
    baseline.request_ns = std::max(baseline.request_ns, times->observed_ns[i] - times->claimed_ns[i]);
  }
  const Measurement measured = summarise(times->candidate_ns, measuring.rng);
  baseline.time = {"plain", measured.median_ns, measured.ci_ns};
  return {};
}

}  // namespace

Result<void> open_baseline(RunFacts& facts, MeasureState& measuring, StepClock& clock, const MakeSuite& make_suite) {
  KW_TRY_VOID(build_beside_answers(facts, measuring, clock, make_suite));
  KW_TRY_VOID(learn_allowed_errors(facts, measuring.baseline, clock));
  if (!facts.timed()) return {};
  const bool told_by_checks = measuring.baseline.reference || facts.options.plain_is_timed_by_checks;
  // Elsewhere its buffers are in the memory that kernels of large problems need, and compilers take longest.
  if (facts.device().kind != DeviceKind::gpu) measuring.baseline.reference.reset();
  if (!told_by_checks || measuring.baseline.primaries.empty()) return time_baseline(facts, measuring, clock);
  take_time_of_checks(facts, measuring);
  return {};
}

}  // namespace kw
