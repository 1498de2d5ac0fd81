#include "verify/local_verifier.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <limits>

#include "record/time_use.hpp"
#include "verify/baseline_opening.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/gates/gate.hpp"
#include "verify/state/measure_state.hpp"
#include "verify/state/run_facts.hpp"
#include "verify/timing/doubt.hpp"
#include "verify/timing/final_pairs.hpp"
#include "verify/timing/timing.hpp"
#include "verify/tools/profile.hpp"

namespace kw {
namespace {

/// Two cores need about a second for the oracle's whole answer to such a workload, and there is one for each kind of
/// inputs. Of larger ones the oracle answers some rows, and the plain kernel, which agrees with it there, the rest.
constexpr double k_most_whole_flops = 4e9;
constexpr double k_unlimited = std::numeric_limits<double>::infinity();
constexpr int k_final_solo_samples = 12;  ///< per process; enough for a decision by two launches of the plain kernel

Error opening_hit_deadline() {
  return Error{errc::out_of_time, "the budget ended while the plain kernel was being checked, before any candidate",
               "give the run more time, such as --budget 5m"};
}

/// Interleaved pairs against the plain kernel, then more launches of the champion alone, in the processes just started.
Result<void> time_one_process(const TimingContext& timing, MeasureState& measuring, PairedComparison& comparison,
                              TimingResult& timed, const std::function<bool()>& keep_going) {
  const auto in_time = [&] { return timed.other_ns.empty() || keep_going(); };
  const auto failed = [](const TimingFailure& why) {
    return fail(Error{errc::worker_failed, "the best kernel failed its final measurement: " + why.failure.sentence,
                      "run the same command with --resume to measure it again"});
  };
  LoadedCandidate& champion = *measuring.champion;
  // A disturbed pair is taken again, but not for ever: a machine that is never quiet gets "unreliable". The first pair
  // is worth more tries than the others: without any there is no result.
  constexpr std::size_t k_tries = 2, k_tries_for_the_first = 10;
  const std::size_t pairs = final_pairs(measuring.baseline.time.median_ns);
  const std::size_t wanted = timed.other_ns.size() + pairs;
  const auto may_try = [&](std::size_t tries) {
    if (tries < k_tries * pairs) return in_time();
    return timed.other_ns.empty() && tries < k_tries_for_the_first * pairs && keep_going();
  };
  for (std::size_t tries = 0; timed.other_ns.size() < wanted && may_try(tries); ++tries) {
    if (auto done = time_pair(timing, champion, measuring.baseline.loaded, comparison, timed); !done) {
      return failed(done.error());
    }
  }
  const auto append = [](std::vector<double>& all, const std::vector<double>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  for (int i = 0; i < k_final_solo_samples && in_time(); ++i) {
    const auto alone = time_alone(timing, champion, 1);
    if (!alone) return failed(alone.error());
    append(timed.candidate_ns, alone->candidate_ns);
    append(timed.claimed_ns, alone->claimed_ns);
    append(timed.observed_ns, alone->observed_ns);
  }
  return {};
}

/// Whether those behind the first best are screened.
bool will_screen(const RunFacts& facts) {
  return facts.options.screen && facts.timed();
}

/// Champion and plain kernel in new processes. From the binaries that were checked, not from a new build: the build
/// process has since compiled other candidates.
Result<void> start_afresh(const RunFacts& facts, MeasureState& measuring, const StepClock& clock) {
  const auto starting = clock.doing(time_activity::starting);
  for (LoadedCandidate* loaded : {&*measuring.champion, &measuring.baseline.loaded}) {
    if (auto failure = start_candidate(facts.backend, *loaded, facts.options.deadlines.start)) {
      return fail(Error{errc::worker_failed, "cannot start a process for the final measurement: " + failure->sentence,
                        "run the same command with --resume"});
    }
  }
  return {};
}

}  // namespace

/// A candidate on its way.
struct LocalVerifier::InFlight {
  VerifyTicket ticket;
  GateContext context;
  bool goes_on = true;              ///< no gate has stopped it yet
  bool is_built = false;            ///< its gates of the phase `build` are over
  bool has_run = false;             ///< those of the phase `run` are too, as of one that is screened
  std::future<void> building = {};  ///< of one that was built at once; the last member, for it works on the others
};

struct LocalVerifier::State {
  RunFacts facts;
  MeasureState measuring;
  double device_seconds = 0;
  VerifyTicket next_ticket = 0;
  std::unique_ptr<InFlight> first = {};  ///< what is expected to be submitted first, while it is
  bool first_is_checked = false;         ///< the first candidate of all, of one that screens on a GPU
  std::deque<InFlight> waiting = {};     ///< in the order of submission
  std::optional<LoadedCandidate> last_accepted = {};
  std::vector<std::future<void>> ending = {};  ///< processes of candidates that were judged
};

LocalVerifier::LocalVerifier(std::unique_ptr<State> state) : state_(std::move(state)) {}
LocalVerifier::~LocalVerifier() = default;

Result<std::unique_ptr<LocalVerifier>> LocalVerifier::open(const Problem& problem, ExecutionBackend& backend,
                                                           const Clock& clock, VerifierOptions options) {
  Rng rng(options.secret_seed);
  KW_CHECK(options.plain.has_value() || options.device.kind == DeviceKind::simulator,
           "no plain kernel to time against");
  if (!options.costs) options.costs = std::make_shared<WorkloadCosts>(problem);
  SuiteLimits limits = options.suite;
  limits.whole_flops = options.plain ? std::min(limits.whole_flops, k_most_whole_flops) : k_unlimited;
  const std::uint64_t seed = rng.next();
  MeasureState measuring{{}, {}, options.device, rng.split(1), {options.tools.profiler, {}}};
  StepClock opening(clock, options.opening_deadline, options.ledger);
  auto state = std::make_unique<State>(
      State{RunFacts{problem, backend, clock, std::move(options), CheckSuite(), clock.now()}, std::move(measuring)});
  const VerifierOptions& opened_with = state->facts.options;
  begin_first(*state);
  auto opened = open_baseline(state->facts, state->measuring, opening, [&] {
    return CheckSuite::make(problem, seed, opened_with.parallel, limits, opened_with.costs.get(), opened_with.ledger);
  });
  if (!opened && opening.deadline_hit()) return fail(opening_hit_deadline());
  KW_TRY_VOID(std::move(opened));
  state->device_seconds = opening.device_seconds();
  return std::unique_ptr<LocalVerifier>(new LocalVerifier(std::move(state)));
}

VerifyRequest LocalVerifier::request_for(const Candidate& candidate, std::optional<Duration> budget) const {
  const RunFacts& facts = state_->facts;
  return {facts.problem.source, facts.problem.id(), candidate, facts.options.secret_seed, budget};
}

/// Compiles it in all its variants; nothing else is done with it before the opening is over.
void LocalVerifier::begin_first(State& state) {
  const RunFacts& facts = state.facts;
  const VerifierOptions& options = facts.options;
  if (!options.first || facts.device().kind != DeviceKind::gpu) return;
  const StepClock clock(facts.clock, options.opening_deadline, options.ledger);
  state.first = std::make_unique<InFlight>(InFlight{0, GateContext{facts, state.measuring, clock}});
  InFlight& one = *state.first;
  one.context.loaded.candidate = *options.first;
  one.is_built = true;
  one.building = options.start([&one] { run_builds(one, false); });
}

/// One that was begun with the opening goes on as it is now; others begin here.
LocalVerifier::InFlight& LocalVerifier::enqueue(const Candidate& candidate, const StepClock& clock) {
  State& state = *state_;
  const auto first = std::exchange(state.first, nullptr);
  if (first) {
    const auto compiling = TimeLedger::stage(clock.ledger(), to_string(GateId::build), time_activity::compiling);
    first->building.get();
  }
  const bool is_begun = first && first->goes_on && first->context.loaded.candidate.id() == candidate.id();
  InFlight& one =
      state.waiting.emplace_back(is_begun ? std::move(*first) : InFlight{0, {state.facts, state.measuring, clock}});
  one.context.clock = clock;
  one.context.loaded.candidate = candidate;
  return one;
}

VerifyTicket LocalVerifier::submit(const VerifyRequest& request) {
  const RunFacts& facts = state_->facts;
  const Instant deadline = request.budget ? facts.clock.now() + *request.budget : Instant::max();
  const VerifyTicket ticket = state_->next_ticket++;
  InFlight& one = enqueue(request.candidate, StepClock(facts.clock, deadline, facts.options.ledger));
  one.ticket = ticket;
  if (request.problem_id != facts.problem.id() || request.suite_seed != facts.options.secret_seed) {
    one.context.verdict.cannot_decide(gates().front().id, "this verifier was opened for another problem or suite");
    one.goes_on = false;
  }
  begin_builds();
  return ticket;
}

/// Of all behind the oldest, on a GPU: its time is between two events on the device, where no compiler disturbs it. The
/// first candidate of all is built and checked with all cores.
void LocalVerifier::begin_builds() {
  const RunFacts& facts = state_->facts;
  const bool first_is_due = !state_->first_is_checked && !state_->measuring.champion;
  if (!will_screen(facts) || facts.device().kind != DeviceKind::gpu || first_is_due) return;
  for (std::size_t i = 1; i < state_->waiting.size(); ++i) {
    InFlight& one = state_->waiting[i];
    if (one.is_built) continue;
    one.is_built = true;
    one.building = facts.options.start([&one] { run_builds(one, true); });
  }
}

void LocalVerifier::run_builds(InFlight& one, bool screens) {
  one.context.screens = screens;
  one.goes_on = one.goes_on && run_gates(GatePhase::build, one.context);
}

void LocalVerifier::build(InFlight& one, bool screens) const {
  if (one.is_built) return;
  one.is_built = true;
  run_builds(one, screens);
}

/// With those behind it at the same time where candidates are screened: each needs one compiler then, and nothing takes
/// longer.
void LocalVerifier::build_oldest() {
  auto& waiting = state_->waiting;
  const RunFacts& facts = state_->facts;
  const auto compiling = TimeLedger::stage(facts.options.ledger, to_string(GateId::build), time_activity::compiling);
  if (waiting.front().building.valid()) waiting.front().building.get();
  if (waiting.front().is_built) return;
  const bool screens = is_screened(facts, state_->measuring);
  const std::int64_t count = screens ? std::ssize(waiting) : 1;
  facts.options.parallel(count, [&](std::int64_t i) { build(waiting[static_cast<std::size_t>(i)], screens); });
}

/// Through one phase; if asked for, the next candidate is built beside. Compilers run beside untimed launches, and
/// never beside timed ones.
void LocalVerifier::pass(InFlight& oldest, GatePhase phase, bool build_next) {
  if (!oldest.goes_on) return;
  auto& waiting = state_->waiting;
  const auto go = [&] { oldest.goes_on = run_gates(phase, oldest.context); };
  if (!build_next || waiting.size() < 2 || waiting[1].is_built) return go();
  const auto waiting_for_compiler =
      TimeLedger::stage(oldest.context.clock.ledger(), to_string(GateId::build), time_activity::compiling);
  state_->facts.options.beside(go, [&] { build(waiting[1], will_screen(state_->facts)); });
}

/// A first candidate's check: those of a search, which are right as a rule, are sanitized beside it on a GPU. Both are
/// needed for a first verified kernel, and neither is timed.
void LocalVerifier::check_first(InFlight& oldest) {
  const auto check = [&] {
    oldest.goes_on = oldest.goes_on && run_gates(GatePhase::run, oldest.context);
    state_->first_is_checked = true;
    begin_builds();
  };
  if (!oldest.goes_on) return check();
  const auto waiting_for_tool =
      TimeLedger::stage(oldest.context.clock.ledger(), to_string(GateId::sanitize), time_activity::tool);
  state_->facts.options.beside(check, [&] { run_ahead(oldest.context); });
}

/// What those behind a would-be best need before they can be timed: whether they are right does not depend on who is
/// the best. There will be one if this one is proved, and then they are screened; if it is not, the whole check comes
/// after all. On a GPU one kernel at a time is launched.
void LocalVerifier::go_ahead() {
  auto& waiting = state_->waiting;
  const RunFacts& facts = state_->facts;
  const bool screens = will_screen(facts);
  for (std::size_t i = 1; i < waiting.size(); ++i) {
    build(waiting[i], screens);
    InFlight& one = waiting[i];
    if (i > 1 || !screens || facts.device().kind == DeviceKind::gpu || !one.goes_on || one.has_run) continue;
    one.has_run = true;
    one.context.screens = true;
    one.goes_on = run_gates(GatePhase::run, one.context);
  }
}

/// Sanitizers take one core, for seconds.
void LocalVerifier::prove(InFlight& oldest) {
  const auto& measurement = oldest.context.measurement;
  const bool proves = oldest.goes_on && measurement && state_->measuring.would_be_best(*measurement);
  if (!proves) return pass(oldest, GatePhase::prove, false);
  const auto waiting_for_others =
      TimeLedger::stage(oldest.context.clock.ledger(), to_string(GateId::build), time_activity::compiling);
  state_->facts.options.beside([&] { oldest.goes_on = run_gates(GatePhase::prove, oldest.context); },
                               [&] { go_ahead(); });
}

std::optional<VerifyResult> LocalVerifier::poll() {
  auto& waiting = state_->waiting;
  if (waiting.empty()) return std::nullopt;
  state_->last_accepted.reset();
  InFlight& oldest = waiting.front();
  build_oldest();
  // There may be a champion since it was built.
  oldest.context.screens = is_screened(state_->facts, state_->measuring);
  // A screening is over sooner than a build, and would wait for it with idle cores: see build_oldest(). The check of a
  // first candidate has all cores, for a first verified kernel comes before anything else: see prove().
  const RunFacts& facts = state_->facts;
  const bool is_first = oldest.ticket == 0 && !oldest.context.screens;
  if (is_first && will_screen(facts) && facts.device().kind == DeviceKind::gpu) {
    check_first(oldest);
  } else if (!oldest.has_run || !oldest.context.screens) {
    pass(oldest, GatePhase::run, !will_screen(facts));
  }
  // A GPU's time is between two events on the device, where no compiler disturbs it.
  pass(oldest, GatePhase::measure, facts.device().kind == DeviceKind::gpu && !oldest.context.screens);
  prove(oldest);
  pass(oldest, GatePhase::count, false);
  VerifyResult result = settle(oldest);
  let_go(oldest.context.loaded);
  waiting.pop_front();
  return result;
}

/// A process that had a GPU takes a tenth of a second to end. Nobody waits for that.
void LocalVerifier::let_go(LoadedCandidate& loaded) {
  const RunFacts& facts = state_->facts;
  if (facts.device().kind != DeviceKind::gpu || !loaded.process) return;
  auto& ending = state_->ending;
  std::erase_if(ending, [](const std::future<void>& end) {
    return end.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
  });
  auto judged = std::make_shared<LoadedCandidate>(std::move(loaded));
  ending.push_back(facts.options.start([judged]() mutable { judged.reset(); }));
}

/// The result of a candidate that a gate has stopped or all have let through.
VerifyResult LocalVerifier::settle(InFlight& one) {
  GateContext& context = one.context;
  if (context.untimed && context.verdict.accepted()) {
    const std::string& device = state_->facts.device().id;
    context.verdict.note(*context.untimed, "no time was measured: " + device + " is a simulator");
  }
  if (!std::ranges::count(context.verdict.gates_passed, GateId::check)) {
    context.verdict.screen("not faster than the best so far, so that it was not checked on everything");
  }
  state_->device_seconds += context.clock.device_seconds();
  VerifyResult result{one.ticket,
                      std::move(context.verdict),
                      std::move(context.build),
                      std::move(context.measurement),
                      std::move(context.accuracy),
                      context.clock.device_seconds(),
                      std::move(context.accesses)};
  if (!result.verdict.right_so_far())
    result.measurement.reset();  // no time is reported for an output that was not right
  if (result.verdict.accepted()) state_->last_accepted = std::move(context.loaded);
  if (result.verdict.accepted() && result.measurement) state_->measuring.note_proved(*result.measurement);
  return result;
}

std::size_t LocalVerifier::in_flight() const {
  return state_->waiting.size();
}
void LocalVerifier::cancel() {
  state_->waiting.clear();
}

void LocalVerifier::promote() {
  KW_CHECK(state_->last_accepted.has_value(), "promote() without an accepted candidate");
  state_->measuring.champion = std::move(state_->last_accepted);
  state_->measuring.proved_speedup = 1;
  state_->last_accepted.reset();
}

Result<void> LocalVerifier::restore(const Candidate& candidate) {
  GateContext context{state_->facts, state_->measuring,
                      StepClock(state_->facts.clock, Instant::max(), state_->facts.options.ledger)};
  context.loaded.candidate = candidate;
  const bool verifies = run_gates(GatePhase::build, context) && run_gates(GatePhase::run, context);
  state_->device_seconds += context.clock.device_seconds();
  if (!verifies) {
    return fail(Error{errc::champion_lost,
                      "the best kernel of the earlier part no longer verifies: " + context.verdict.message,
                      "start a new run without --resume"});
  }
  state_->measuring.champion = std::move(context.loaded);
  return {};
}

Result<Measurement> LocalVerifier::final_measurement(int processes, const std::function<bool()>& keep_going) {
  const RunFacts& facts = state_->facts;
  MeasureState& measuring = state_->measuring;
  KW_CHECK(measuring.champion.has_value(), "a final measurement without a champion");
  ComparisonRule rule = facts.options.comparison;
  rule.looks = {processes * static_cast<int>(final_pairs(measuring.baseline.time.median_ns))};
  rule.max_discarded = 1;  // judged at the end: until then disturbed pairs are taken again
  rule.early.clear();      // the champion is never given up early
  PairedComparison comparison(rule, measuring.rng.next());
  StepClock clock(facts.clock, Instant::max(), facts.options.ledger);
  TimingResult timed;
  for (int i = 0; i < processes && (i == 0 || keep_going()); ++i) {
    KW_TRY_VOID(start_afresh(facts, measuring, clock));
    const TimingContext timing{facts, measuring.baseline, clock, measuring.rng, measuring.spare};
    KW_TRY_VOID(time_one_process(timing, measuring, comparison, timed, keep_going));
  }
  comparison.finish();
  if (timed.other_ns.empty()) {
    return fail(Error{errc::disturbed, "the best kernel was not measured at the end: every launch was disturbed",
                      "run the same command with --resume when the machine is quiet"});
  }
  BaselineRecord& plain = measuring.baseline.time;
  Measurement measurement = summarise(timed.candidate_ns, measuring.rng);
  const TimingContext timing{facts, measuring.baseline, clock, measuring.rng, measuring.spare};
  const auto doubt = timed.candidate_ns.empty()
                         ? std::nullopt
                         : doubt_about(timing, measuring, *measuring.champion, timed, measurement.median_ns);
  if (doubt) {
    return fail(Error{errc::worker_failed, "the best kernel's final time cannot be believed: " + doubt->sentence,
                      "run the same command with --resume to measure it again"});
  }
  Versus& versus = measurement.versus.emplace_back(comparison.result());
  versus.name = plain.name;
  // A plain kernel that takes seconds is launched too few times for a decision by pairs.
  if (versus.decision == Comparison::undecided &&
      all_below(timed.candidate_ns, timed.other_ns, 1 + rule.equivalence, rule.total_alpha)) {
    versus.decision = Comparison::faster;
  }
  if (versus.discarded_pairs > versus.pairs) versus.decision = Comparison::unreliable;
  const Measurement plain_summary = summarise(timed.other_ns, measuring.rng);
  plain = {plain.name, plain_summary.median_ns, plain_summary.ci_ns};
  fill_profile(facts, measuring, measurement);
  // Why there are no counters was said when the kernel became the best, or is no news at the end.
  constexpr Duration k_short = std::chrono::seconds(5);
  const LaunchPlan& plan = measuring.champion->built.plans.front().plan;
  const bool is_short = profiling_time(plan, measurement.median_ns) <= k_short;
  if (keep_going() && (is_short || measuring.profiling.has_time(facts, plan, measurement.median_ns))) {
    static_cast<void>(count_in_hardware(facts, measuring.profiling, *measuring.champion, clock, measurement));
  }
  state_->device_seconds += clock.device_seconds();
  return measurement;
}

const BaselineRecord& LocalVerifier::plain() const {
  return state_->measuring.baseline.time;
}
const DeviceFacts& LocalVerifier::device() const {
  return state_->measuring.device;
}
CheckedCases LocalVerifier::checked() const {
  CheckedCases checked;
  for (const auto& one : suite().cases()) {
    const std::string& name = state_->facts.problem.workloads[one.workload].name;
    const auto known = std::find(checked.workloads.begin(), checked.workloads.end(), name);
    if (known == checked.workloads.end()) checked.workloads.push_back(name);
  }
  checked.left_out = suite().cases_left_out();
  const CheckSuite::Sampled sampled = suite().sampled();
  if (sampled.cases > 0) checked.sampled_rows = sampled.rows;
  return checked;
}
const CheckSuite& LocalVerifier::suite() const {
  return state_->facts.suite;
}
double LocalVerifier::device_seconds() const {
  return state_->device_seconds;
}

}  // namespace kw
