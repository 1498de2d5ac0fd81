#include "verify/verifier.hpp"

#include <algorithm>

#include "verify/accuracy.hpp"
#include "verify/case_runner.hpp"
#include "verify/gates/gate.hpp"
#include "verify/profile.hpp"
#include "verify/session.hpp"
#include "verify/timing.hpp"

namespace kw {
namespace {

constexpr int k_plain_samples = 3;
constexpr std::size_t k_final_pairs = 4;  ///< per process; the plain kernel is slow, and the ratio is far from 1
constexpr int k_final_solo_samples = 8;   ///< per process
/// A launch may take this many times as long as the plain kernel before it is killed.
constexpr double k_patience = 3.0;

Error yardstick_error(const std::string& doing, const std::string& what) {
  return Error{errc::yardstick, fmt::format("the plain kernel cannot serve as yardstick: {}: {}", doing, what),
               "run `kernelwright doctor`; if the device is healthy this is a defect of kernelwright"};
}

/// Gates before the check, as every candidate passes them, then a process of its own.
Result<void> build_plain(Session& session) {
  Trial trial;
  trial.contender.candidate = *session.options.plain;
  trial.yardstick = true;
  for (const auto& gate : gates()) {
    if (gate.id == GateId::check) break;
    if (!gate.run(session, trial))
      return fail(yardstick_error(fmt::format("gate {}", to_string(gate.id)), trial.verdict.message));
  }
  session.plain = std::move(trial.contender);
  if (auto failure = start_contender(session, session.plain))
    return fail(yardstick_error("starting it", failure->sentence));
  return {};
}

/// Runs the plain kernel on every case; what it reaches defines what is allowed.
Result<void> learn_allowed_errors(Session& session) {
  std::vector<std::vector<double>> errors;
  if (!session.plain.process) {
    // As if a plain kernel had been as precise as anybody is asked to be.
    std::vector<double> least;
    for (const auto& output : session.problem.outputs) least.push_back(least_allowed_error(output.dtype));
    errors.assign(session.suite.cases().size(), least);
    session.suite.allow_errors(session.problem, errors);
    return session.suite.require_scorable(session.problem, session.options.parallel);
  }
  for (const auto& one : session.suite.cases()) {
    if (session.out_of_time()) return fail(yardstick_error("checking it", k_budget_ended));
    const Patience patience = session.patience(session.options.deadlines.first_launch);
    const CaseMode mode{false, k_nan_poison, patience.time, patience.ends_budget};
    auto run = run_case(session, session.plain, one, mode);
    const auto& workload = session.problem.workloads[one.workload].name;
    if (!run) return fail(yardstick_error("workload " + workload, run.error().sentence));
    AccuracyTable accuracy;
    if (auto failure = judge_case(session, one, *run, mode, &accuracy)) {
      return fail(yardstick_error("workload " + workload, failure->sentence + ": " + failure->detail));
    }
    auto& row = errors.emplace_back();
    for (const auto& entry : accuracy) row.push_back(entry.max_error);
    // A plain kernel this far off is wrong, not imprecise, and must not become the measure of others.
    const double worst = *std::max_element(row.begin(), row.end());
    if (worst > 0.01) return fail(yardstick_error("workload " + workload, fmt::format("its error is {:.2e}", worst)));
  }
  session.suite.allow_errors(session.problem, errors);
  return session.suite.require_scorable(session.problem, session.options.parallel);
}

Result<void> time_plain(Session& session) {
  auto times = time_alone(session, session.plain, k_plain_samples);
  if (!times) return fail(yardstick_error("timing it", times.error().failure.sentence));
  for (std::size_t i = 0; i < times->candidate_ns.size(); ++i) {
    session.request_ns = std::max(session.request_ns, times->observed_ns[i] - times->candidate_ns[i]);
  }
  const Measurement measured = summarise(times->candidate_ns, session.rng);
  session.plain_time = {"plain", measured.median_ns, measured.ci_ns};
  return {};
}

/// Everything that has to be known of the plain kernel before a candidate is judged.
Result<void> prepare_yardstick(Session& session) {
  if (session.options.plain) KW_TRY_VOID(build_plain(session));
  KW_TRY_VOID(learn_allowed_errors(session));
  return session.timed() ? time_plain(session) : Result<void>();
}

Error opening_cut_off() {
  return Error{errc::out_of_time, "the budget ended while the plain kernel was being checked, before any candidate",
               "give the run more time, such as --budget 5m"};
}

/// Interleaved pairs against the plain kernel, then more launches of the champion alone, in the processes just started.
Result<void> time_one_process(Session& session, PairedComparison& comparison, TimingResult& timed,
                              const std::function<bool()>& keep_going) {
  const auto in_time = [&] { return timed.other_ns.empty() || keep_going(); };
  const auto failed = [](const TimingFailure& why) {
    return fail(Error{errc::worker_failed, "the best kernel failed its final measurement: " + why.failure.sentence,
                      "run the same command with --resume to measure it again"});
  };
  // A disturbed pair is taken again, but not for ever: a machine that is never quiet gets "unreliable".
  const std::size_t wanted = timed.other_ns.size() + k_final_pairs;
  for (std::size_t tries = 0; timed.other_ns.size() < wanted && tries < 2 * k_final_pairs && in_time(); ++tries) {
    if (auto done = time_pair(session, *session.incumbent, session.plain, comparison, timed); !done) {
      return failed(done.error());
    }
  }
  if (!in_time()) return {};
  auto alone = time_alone(session, *session.incumbent, k_final_solo_samples);
  if (!alone) return failed(alone.error());
  timed.candidate_ns.insert(timed.candidate_ns.end(), alone->candidate_ns.begin(), alone->candidate_ns.end());
  return {};
}

}  // namespace

Patience Session::patience(Duration usual) const {
  if (deadline == Instant::max()) return {usual, false};
  // At least something: a deadline that has passed is noticed between two steps.
  const Duration left = std::max<Duration>(deadline - clock.now(), std::chrono::milliseconds(1));
  return left < usual ? Patience{left, true} : Patience{usual, false};
}

bool Session::out_of_time() {
  cut_off = cut_off || (deadline != Instant::max() && clock.now() >= deadline);
  return cut_off;
}

Duration Session::launch_deadline() const {
  if (plain_time.median_ns <= 0) return options.deadlines.first_launch;
  const auto patient = Duration(static_cast<std::int64_t>(k_patience * plain_time.median_ns));
  return std::max(options.deadlines.launch_floor, patient);
}

namespace {

/// Operations per second that no kernel for this problem exceeds. Tensor cores take f16 and bf16 at their full rate
/// and f32, as tf32, at half of it.
double peak_flops(const DeviceFacts& device, const Problem& problem) {
  if (!device.gpu) return device.peak_f32_flops;
  const bool narrow = !problem.outputs.empty() && is_16_bit_float(problem.outputs.front().dtype);
  return std::max(device.peak_f32_flops, device.gpu->peak_f16_flops * (narrow ? 1.0 : 0.5));
}

}  // namespace

std::optional<double> Session::roofline_ns() const {
  const auto& device = options.device;
  const double flops = peak_flops(device, problem);
  if (flops <= 0 || device.peak_bytes <= 0) return std::nullopt;
  return 1e9 * std::max(cost.flops / flops, cost.bytes / device.peak_bytes);
}

bool Session::time_for_profiler() const {
  constexpr int k_part = 10;
  return profiling * k_part <= clock.now() - opened;
}

bool becomes_best(const Measurement& measurement) {
  return measurement.versus.empty() || measurement.versus.front().decision == Comparison::faster;
}

struct Verifier::State {
  Session session;
  std::optional<Contender> last_accepted;
};

Verifier::Verifier(std::unique_ptr<State> state) : state_(std::move(state)) {}
Verifier::~Verifier() = default;

Result<std::unique_ptr<Verifier>> Verifier::open(const Problem& problem, Workbench& workbench, const Clock& clock,
                                                 VerifierOptions options) {
  Rng rng(options.secret_seed);
  KW_CHECK(options.plain.has_value() || options.device.kind == DeviceKind::simulator,
           "no plain kernel to time against");
  KW_TRY(auto suite, CheckSuite::make(problem, rng.next(), options.parallel, options.suite));
  auto state = std::make_unique<State>(State{Session{problem,
                                                     workbench,
                                                     clock,
                                                     std::move(options),
                                                     cost(problem, problem.primary()),
                                                     rng.split(1),
                                                     std::move(suite),
                                                     {},
                                                     {},
                                                     {},
                                                     0.0},
                                             {}});
  Session& session = state->session;
  session.opened = clock.now();
  session.deadline = session.options.opening_deadline;
  auto opened = prepare_yardstick(session);
  if (!opened && session.cut_off) return fail(opening_cut_off());
  KW_TRY_VOID(std::move(opened));
  session.deadline = Instant::max();
  return std::unique_ptr<Verifier>(new Verifier(std::move(state)));
}

VerifyResult Verifier::verify(const Candidate& candidate, Instant deadline) {
  Session& session = state_->session;
  session.deadline = deadline;
  session.cut_off = false;
  const double device_before = session.device_seconds;
  state_->last_accepted.reset();
  Trial trial;
  trial.contender.candidate = candidate;
  for (const auto& gate : gates()) {
    if (!session.timed() && (gate.id == GateId::time || gate.id == GateId::profile)) continue;
    if (session.out_of_time()) {
      trial.verdict.cannot_decide(gate.id, k_budget_ended);
      break;
    }
    trial.skipped = false;
    if (!gate.run(session, trial)) break;
    if (!trial.skipped) trial.verdict.pass(gate.id);
  }
  session.deadline = Instant::max();
  if (!session.timed() && trial.verdict.accepted()) {
    trial.verdict.note(GateId::time, "no time was measured: " + session.options.device.id + " is a simulator");
  }
  VerifyResult result{std::move(trial.verdict), std::move(trial.build), std::move(trial.measurement),
                      std::move(trial.accuracy), session.device_seconds - device_before};
  if (!result.verdict.accepted()) result.measurement.reset();  // no time is reported for an output that was not right
  if (result.verdict.accepted()) state_->last_accepted = std::move(trial.contender);
  return result;
}

void Verifier::promote() {
  KW_CHECK(state_->last_accepted.has_value(), "promote() without an accepted candidate");
  state_->session.incumbent = std::move(state_->last_accepted);
  state_->last_accepted.reset();
}

Result<void> Verifier::restore(const Candidate& candidate) {
  Session& session = state_->session;
  Trial trial;
  trial.contender.candidate = candidate;
  for (const auto& gate : gates()) {
    if (gate.id == GateId::time) break;
    if (!gate.run(session, trial)) {
      return fail(Error{errc::yardstick,
                        "the best kernel of the earlier part no longer verifies: " + trial.verdict.message,
                        "start a new run without --resume"});
    }
  }
  session.incumbent = std::move(trial.contender);
  return {};
}

Result<Measurement> Verifier::final_measurement(int processes, const std::function<bool()>& keep_going) {
  Session& session = state_->session;
  KW_CHECK(session.incumbent.has_value(), "a final measurement without a champion");
  ComparisonRule rule = session.options.comparison;
  rule.looks = {processes * static_cast<int>(k_final_pairs)};
  rule.max_discarded = 0.5;
  rule.early_pairs = rule.looks.front() + 1;  // the champion is never given up early
  PairedComparison comparison(rule, session.rng.next());
  TimingResult timed;
  for (int i = 0; i < processes && (i == 0 || keep_going()); ++i) {
    // From the binaries that were checked, not from a new build: the build process has since compiled other candidates.
    for (Contender* contender : {&*session.incumbent, &session.plain}) {
      if (auto failure = start_contender(session, *contender)) {
        return fail(Error{errc::worker_failed, "cannot start a process for the final measurement: " + failure->sentence,
                          "run the same command with --resume"});
      }
    }
    KW_TRY_VOID(time_one_process(session, comparison, timed, keep_going));
  }
  comparison.finish();
  Measurement measurement = summarise(timed.candidate_ns, session.rng);
  measurement.versus.push_back(comparison.result());
  measurement.versus.back().name = session.plain_time.name;
  const Measurement plain_summary = summarise(timed.other_ns, session.rng);
  session.plain_time = {session.plain_time.name, plain_summary.median_ns, plain_summary.ci_ns};
  fill_profile(session, measurement);
  // Why there are no counters was said when the kernel became the best, or is no news at the end.
  if (keep_going()) static_cast<void>(count_in_hardware(session, *session.incumbent, measurement));
  return measurement;
}

const BaselineRecord& Verifier::plain() const {
  return state_->session.plain_time;
}
const CheckSuite& Verifier::suite() const {
  return state_->session.suite;
}
double Verifier::device_seconds() const {
  return state_->session.device_seconds;
}

}  // namespace kw
