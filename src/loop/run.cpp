#include "loop/run.hpp"

#include <algorithm>
#include <memory>

#include "loop/report_files.hpp"
#include "loop/run_start.hpp"
#include "loop/static_ranking.hpp"
#include "loop/verifier_setup.hpp"
#include "propose/search/bundle_tuner.hpp"
#include "record/dispatch.hpp"
#include "verify/calibrate.hpp"
#include "verify/verifier.hpp"

namespace kw {
namespace {

constexpr int k_final_processes = 3;
/// Kept back from the wall clock for the final measurement: this many launches of the plain kernel, and start-up.
constexpr double k_reserved_plain_launches = 14;
constexpr double k_reserved_seconds = 2.0;
/// Of a simulated run, for which time is dear, all checks of a candidate together: some five seconds of a core for each
/// of its two launches. A few candidates then fit in a minute, as few as they are. `verify` has no such limit.
constexpr double k_most_simulated_suite_flops = 1e8;

/// One run in progress; a class because the loop's steps share all of this.
class Run {
 public:
  Run(const RunSetup& setup, RunWorld& world) : setup_(setup), world_(world), began_(world.clock.now()) {}
  Result<RunRecord> go();

 private:
  Result<void> open_record();
  Result<void> prepare();
  [[nodiscard]] std::vector<std::string> checked_workloads() const;
  Result<void> open_proposer(const Budget& budget);
  Result<std::unique_ptr<Proposer>> open_search() const;
  Result<Candidate> start_of_tuning() const;
  Result<void> replay(Budget& budget);
  Result<void> search(Budget& budget);
  Result<void> keep_turns(Budget& budget);
  Result<void> end_without_model(const Error& error);
  [[nodiscard]] BudgetUse used_before() const;
  Result<void> one_attempt(const Proposal& proposal, Budget& budget);
  Result<void> accept_best(const Attempt& attempt);
  Result<void> finish(const Budget& budget);
  Result<void> save();
  [[nodiscard]] Duration plain_launch() const;
  [[nodiscard]] Duration reserve() const;

  const RunSetup& setup_;
  std::string style_;  ///< of the built-in search
  RunWorld& world_;
  const Instant began_;
  RunRecord record_;
  std::vector<Attempt> attempts_;
  std::vector<Turn> turns_;
  std::vector<Attempt> past_;  ///< of earlier runs, for exemplars
  std::unique_ptr<Verifier> verifier_;
  std::unique_ptr<ModelSide> models_;  ///< outlives the proposer, which asks it
  std::unique_ptr<Proposer> proposer_;
  std::optional<StaticRanking> ranking_;  ///< where nothing is timed
};

Result<void> Run::open_record() {
  KW_TRY(auto start, start_run(setup_, record_.device, world_.archive));
  record_ = std::move(start.record);
  attempts_ = std::move(start.attempts);
  turns_ = std::move(start.turns);
  past_ = std::move(start.past);
  record_.status = RunStatus::running;
  record_.environment = setup_.environment;
  record_.sandbox_tier = std::string(to_string(world_.workbench.sandbox().tier));
  record_.workloads.clear();
  record_.distributions.clear();
  for (const auto& workload : setup_.problem.workloads) record_.workloads.push_back(workload.name);
  for (const auto distribution : all_distributions()) record_.distributions.emplace_back(to_string(distribution));
  record_.sanitizers.clear();
  for (const Sanitizer* sanitizer : world_.tools.sanitizers) record_.sanitizers.push_back(sanitizer->name());
  const WorkloadCost work = cost(setup_.problem, setup_.problem.primary());
  record_.useful_flops = work.flops;
  record_.useful_bytes = work.bytes;
  KW_TRY_VOID(world_.files.create_directories(RunDirectory(setup_.root, record_.id).folder()));
  return setup_.resume ? world_.archive.update_run(record_) : world_.archive.begin_run(record_);
}

Result<void> Run::prepare() {
  world_.observer.phase("measuring the device's peaks");
  KW_TRY(record_.device, calibrate(world_.workbench));
  style_ = setup_.start           ? style_that_writes(setup_.start->bundle, setup_.problem, record_.device)
           : setup_.style.empty() ? fastest_style(setup_.problem, setup_.target, record_.device)
                                  : setup_.style;
  KW_TRY_VOID(require_checkable(setup_.requirements, record_.device));
  KW_TRY_VOID(open_record());
  world_.observer.phase("computing the oracle's answers and the plain kernel's accuracy and time");
  KW_TRY(auto options, verifier_options(setup_.problem, setup_.target, record_.device, world_.parallel, world_.tools));
  options.comparison = search_rule();
  options.requirements = setup_.requirements;
  if (record_.device.kind == DeviceKind::simulator) {
    options.suite.suite_flops = k_most_simulated_suite_flops;
    if (setup_.limits.wall_seconds) options.opening_deadline = began_ + from_seconds(*setup_.limits.wall_seconds);
  }
  KW_TRY(verifier_, Verifier::open(setup_.problem, world_.workbench, world_.clock, std::move(options)));
  if (record_.device.kind == DeviceKind::simulator) {
    ranking_.emplace(setup_.problem, record_.device, setup_.target, style_);
  } else {
    record_.baselines = {verifier_->plain()};
  }
  record_.workloads = checked_workloads();
  record_.cases_left_out.reset();
  const std::size_t left_out = verifier_->suite().cases_left_out();
  if (left_out > 0) record_.cases_left_out = static_cast<std::int64_t>(left_out);
  return {};
}

/// In the order of their first check; a simulator leaves out those that are too large for it.
std::vector<std::string> Run::checked_workloads() const {
  std::vector<std::string> names;
  for (const auto& one : verifier_->suite().cases()) {
    const std::string& name = setup_.problem.workloads[one.workload].name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

Result<std::unique_ptr<Proposer>> Run::open_search() const {
  SearchOptions search;
  search.problem = &setup_.problem;
  search.device = record_.device;
  search.target = setup_.target;
  search.style = style_;
  search.seed = record_.seed;
  search.archived = record_.archive_seeds;
  if (!setup_.start) return make_search_proposer(search);
  KW_TRY(const Candidate start, start_of_tuning());
  return make_bundle_search(start, search);
}

/// A resumed run goes on with the bundle that it began with: rows may have been written into the file since.
Result<Candidate> Run::start_of_tuning() const {
  if (attempts_.empty()) return *setup_.start;
  const Bundle& begun = attempts_.front().candidate.bundle;
  if (begun.source == setup_.start->bundle.source) return make_candidate(begun);
  return fail(Error{errc::resume_mismatch, fmt::format("run {} tunes another source", record_.id),
                    "give the bundle it began with, or leave out --resume"});
}

Result<void> Run::open_proposer(const Budget& budget) {
  std::unique_ptr<Proposer> search;
  if (setup_.proposer != "llm") {
    KW_TRY(search, open_search());
  }
  if (!setup_.model) {
    proposer_ = std::move(search);
    return {};
  }
  const bool limited = budget.deadline() != Instant::max();
  models_ = std::make_unique<ModelSide>(*setup_.model, limited ? budget.deadline() - reserve() : Instant::max());
  LlmOptions options;
  options.prompt.problem = &setup_.problem;
  options.prompt.device = record_.device;
  options.prompt.target = setup_.target;
  options.prompt.plain = verifier_->plain();
  options.prompt.requirements = setup_.requirements;
  options.past = past_;
  options.token_limit = setup_.limits.tokens;
  options.seed = record_.seed;
  options.search = std::move(search);
  proposer_ = models_->open(std::move(options), turns_, setup_.resume);
  return {};
}

/// Archives what models said since the last call, and tells who watches.
Result<void> Run::keep_turns(Budget& budget) {
  if (models_ == nullptr) return {};
  KW_TRY(const auto kept, models_->keep_turns(*proposer_, world_.archive, record_, budget));
  for (const auto& turn : kept) world_.observer.turn(record_, turn, budget.used());
  return {};
}

Result<void> Run::replay(Budget& budget) {
  for (const auto& attempt : attempts_) {
    auto proposal = proposer_->next();
    while (!proposal && proposer_->idle().why == Idle::Why::again) proposal = proposer_->next();
    KW_TRY_VOID(keep_turns(budget));
    if (!proposal || proposal->candidate.id() != attempt.candidate.id()) {
      return fail(
          Error{errc::resume_mismatch,
                fmt::format("attempt {} of run {} is not what this version would propose", attempt.ordinal, record_.id),
                "start a new run: its search is seeded with the best kernels of the archive"});
    }
    proposer_->observe(attempt);
    if (ranking_) (void)ranking_->becomes_best(attempt);
  }
  // A kill between the attempt and the run's summary leaves the summary behind: the attempts are the truth.
  const auto best = std::find_if(attempts_.rbegin(), attempts_.rend(), [](const Attempt& a) { return a.became_best; });
  if (best == attempts_.rend()) return {};
  record_.best_ordinal = best->ordinal;
  record_.best_path = RunDirectory(setup_.root, record_.id).best_bundle(record_.target).string();
  return verifier_->restore(best->candidate);
}

Duration Run::plain_launch() const {
  return from_seconds(1e-9 * verifier_->plain().median_ns);
}

Duration Run::reserve() const {
  return from_seconds(k_reserved_seconds + k_reserved_plain_launches * to_seconds(plain_launch()));
}

Result<void> Run::accept_best(const Attempt& attempt) {
  verifier_->promote();
  record_.best_ordinal = attempt.ordinal;
  const auto path = RunDirectory(setup_.root, record_.id).best_bundle(record_.target);
  record_.best_path = path.string();
  return world_.files.write_atomic(path, with_defaults(attempt.candidate).to_text());
}

Result<void> Run::one_attempt(const Proposal& proposal, Budget& budget) {
  const double started = budget.used().wall_seconds;
  VerifyResult result = verifier_->verify(proposal.candidate, budget.deadline());
  budget.count_candidate();
  budget.add_device_seconds(result.device_seconds);
  Attempt attempt;
  attempt.ordinal = static_cast<std::int64_t>(attempts_.size());
  attempt.proposer = proposal.proposer;
  attempt.origin = proposal.origin;
  attempt.turn = proposal.turn;
  attempt.chain = proposal.chain;
  attempt.candidate = proposal.candidate;
  attempt.verdict = std::move(result.verdict);
  attempt.build = std::move(result.build);
  attempt.measurement = std::move(result.measurement);
  attempt.device_seconds = result.device_seconds;
  attempt.elapsed_seconds = budget.used().wall_seconds;
  attempt.wall_seconds = attempt.elapsed_seconds - started;
  attempt.became_best =
      ranking_ ? ranking_->becomes_best(attempt) : attempt.measurement && becomes_best(*attempt.measurement);
  // The best kernel's file comes before the archive row: whatever fails later, the kernel itself is safe.
  if (attempt.became_best) {
    KW_TRY_VOID(accept_best(attempt));
    record_.best_accuracy = std::move(result.accuracy);
  }
  record_.used = budget.used();
  KW_TRY_VOID(world_.archive.append(record_.id, attempt));
  if (attempt.became_best) KW_TRY_VOID(world_.archive.update_run(record_));
  proposer_->observe(attempt);
  world_.observer.attempt(record_, attempt, record_.used);
  attempts_.push_back(std::move(attempt));
  return {};
}

/// What was found before is still a result; without any, the model's failure is the run's.
Result<void> Run::end_without_model(const Error& error) {
  if (!record_.best_ordinal) return fail(error);
  record_.status = RunStatus::failed;
  record_.failure = error.message;
  world_.observer.warning(error.to_string());
  return {};
}

Result<void> Run::search(Budget& budget) {
  world_.observer.phase("searching");
  record_.status = RunStatus::finished;
  while (!budget.exhausted(reserve())) {
    if (world_.stop) return {};
    const auto proposal = proposer_->next();
    KW_TRY_VOID(keep_turns(budget));
    if (proposal) {
      KW_TRY_VOID(one_attempt(*proposal, budget));
      continue;
    }
    const Idle idle = proposer_->idle();
    if (idle.why == Idle::Why::failed) return end_without_model(idle.error);
    if (idle.why == Idle::Why::exhausted) {
      record_.status = RunStatus::exhausted;
      return {};
    }
    if (idle.why == Idle::Why::waiting) models_->wait(budget.deadline());
  }
  return {};
}

Result<void> Run::finish(const Budget& budget) {
  if (world_.stop) record_.status = RunStatus::interrupted;
  // Requests that are out are given up before anything is measured.
  proposer_.reset();
  models_.reset();
  if (!record_.best_ordinal || world_.stop || ranking_) return {};
  world_.observer.phase("measuring the best kernel against the plain one in fresh processes");
  const Instant deadline = budget.deadline() - plain_launch();
  auto final =
      verifier_->final_measurement(k_final_processes, [&] { return !world_.stop && world_.clock.now() < deadline; });
  if (world_.stop) record_.status = RunStatus::interrupted;
  if (!final) {
    world_.observer.warning(final.error().to_string());
    return {};
  }
  record_.best_final = *std::move(final);
  record_.baselines = {verifier_->plain()};
  return {};
}

Result<void> Run::save() {
  KW_TRY_VOID(world_.archive.update_run(record_));
  KW_TRY(const auto turns, world_.archive.turns(record_.id));
  return write_report_files(RunDirectory(setup_.root, record_.id), record_, attempts_, turns, world_.files);
}

/// By earlier parts of a resumed run, and by this one until now.
BudgetUse Run::used_before() const {
  BudgetUse already;
  already.candidates = std::ssize(attempts_);
  for (const auto& attempt : attempts_) already.device_seconds += attempt.device_seconds;
  if (!attempts_.empty()) already.wall_seconds = attempts_.back().elapsed_seconds;
  for (const auto& turn : setup_.resume ? turns_ : std::vector<Turn>()) {
    already.tokens += turn.reply.usage.prompt + turn.reply.usage.completion;
    already.dollars += turn.dollars;
    already.wall_seconds = std::max(already.wall_seconds, turn.finished_seconds);
    if (turn.fault != ReplyFault::none) ++already.candidates;
  }
  already.wall_seconds += to_seconds(world_.clock.now() - began_);
  already.device_seconds += verifier_->device_seconds();
  return already;
}

Result<RunRecord> Run::go() {
  KW_TRY_VOID(prepare());
  Budget budget(setup_.limits, used_before(), world_.clock);
  KW_TRY_VOID(open_proposer(budget));
  KW_TRY_VOID(replay(budget));
  auto searched = search(budget);
  if (searched) KW_TRY_VOID(finish(budget));
  record_.used = budget.used();
  if (!searched) {
    record_.status = RunStatus::failed;
    record_.failure = searched.error().message;
    if (record_.best_ordinal) {
      searched.error().context.push_back("the best kernel so far is safe at " + record_.best_path);
    }
    // The archive may be what failed; the first cause is what the user needs to hear.
    (void)world_.archive.update_run(record_);
    return fail(std::move(searched).error());
  }
  KW_TRY_VOID(save());
  return record_;
}

}  // namespace

Result<RunRecord> run_loop(const RunSetup& setup, RunWorld& world) {
  return Run(setup, world).go();
}

}  // namespace kw
