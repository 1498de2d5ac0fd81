#include "verify/local_verifier.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <limits>

#include "record/time_use.hpp"
#include "verify/baseline_opening.hpp"
#include "verify/champion_measurement.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/gates/gate.hpp"
#include "verify/state/measure_state.hpp"
#include "verify/state/run_facts.hpp"

namespace kw {
namespace {

/// Two cores that compile beside it need a quarter of a second for the oracle's whole answer to such a workload, and
/// there is one for each kind of inputs, seven of attention. Of larger ones the oracle answers some rows, and the plain
/// kernel, which agrees with it there, the rest.
constexpr double k_most_whole_flops = 1e9;
constexpr double k_unlimited = std::numeric_limits<double>::infinity();

Error opening_hit_deadline() {
  return Error{errc::out_of_time, "the budget ended while the plain kernel was being checked, before any candidate",
               "give the run more time, such as --budget 5m"};
}

/// Whether those behind the first best are screened.
bool will_screen(const RunFacts& facts) {
  return facts.options.screen && facts.timed();
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
  backend.expect(std::nullopt);
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
/// first candidate of all is built and checked with all cores. While that may become the first verified kernel, which
/// comes before anything else, two are built beside its sanitizers: those took 6.2 s beside nine builds that have all
/// cores each, and 5.2 s beside two (a transformer block, 16 cores of a virtual machine, 2026-11-28).
void LocalVerifier::begin_builds() {
  const RunFacts& facts = state_->facts;
  const bool first_is_due = !state_->first_is_checked && !state_->measuring.champion;
  if (!will_screen(facts) || facts.device().kind != DeviceKind::gpu || first_is_due) return;
  constexpr std::size_t k_ahead_of_the_first = 2;
  const bool is_first_open = !state_->measuring.champion && state_->waiting.front().ticket == 0;
  const std::size_t ahead = is_first_open ? k_ahead_of_the_first : state_->waiting.size();
  for (std::size_t i = 1; i < state_->waiting.size() && i <= ahead; ++i) {
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
  // Those of a first candidate were asked beside its check, and what they said is waiting; the builds behind it wait
  // too.
  const bool were_asked = oldest.context.inquiries != nullptr;
  if (!proves || were_asked) return pass(oldest, GatePhase::prove, false);
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
  const RunFacts& facts = state_->facts;
  const bool is_first = oldest.ticket == 0 && !oldest.context.screens;
  // A screening is over sooner than a build, and would wait for it with idle cores: see build_oldest(). The check of a
  // first candidate has all cores, for a first verified kernel comes before anything else: see prove().
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

Result<Measurement> LocalVerifier::final_measurement(int processes, const HasTime& has_time) {
  KW_CHECK(state_->measuring.champion.has_value(), "a final measurement without a champion");
  StepClock clock(state_->facts.clock, Instant::max(), state_->facts.options.ledger);
  auto measured = measure_champion(state_->facts, state_->measuring, processes, has_time, clock);
  if (measured) state_->device_seconds += clock.device_seconds();
  return measured;
}

void LocalVerifier::release() {
  cancel();
  MeasureState& measuring = state_->measuring;
  if (measuring.champion) let_go(*measuring.champion);
  if (measuring.baseline.reference) let_go(*measuring.baseline.reference);
  let_go(measuring.baseline.loaded);
  state_->facts.backend.expect(0);
}

const BaselineRecord& LocalVerifier::plain() const {
  return state_->measuring.baseline.time;
}

Duration LocalVerifier::data_of_launch() const {
  return state_->measuring.data_of_launch;
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
