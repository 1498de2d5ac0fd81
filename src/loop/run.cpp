#include "loop/run.hpp"

#include <algorithm>
#include <deque>
#include <memory>

#include "base/time_ledger.hpp"
#include "loop/attempt_of.hpp"
#include "loop/device_peaks.hpp"
#include "loop/model_share.hpp"
#include "loop/run_directory.hpp"
#include "loop/run_opening.hpp"
#include "loop/run_start.hpp"
#include "loop/static_ranking.hpp"
#include "loop/time_uses.hpp"
#include "loop/verifier_setup.hpp"
#include "propose/registry.hpp"
#include "propose/search/static_estimate.hpp"
#include "record/dispatch.hpp"
#include "verify/local_verifier.hpp"
#include "verify/state/measure_state.hpp"
#include "verify/timing/copy_comparison.hpp"

namespace kw {
namespace {

/// One run in progress; a class because the loop's steps share all of this.
class Run {
 public:
  Run(const RunSetup& setup, RunServices& world)
      : setup_(setup),
        world_(world),
        began_(world.began.value_or(world.clock.now())),
        ledger_(world.clock, began_, time_stage::opening, time_activity::device) {}
  Result<RunRecord> go();

 private:
  Result<void> open_record();
  Result<void> open_verifier();
  Result<void> prepare();
  Result<void> open_proposer(Instant models);
  Result<void> propose_first();
  [[nodiscard]] ProposerContext proposer_context() const;
  Result<void> replay(Budget& budget);
  Result<void> search(Budget& budget);
  Result<void> keep_turns(Budget& budget);
  Result<void> end_without_model(const Error& error);
  [[nodiscard]] std::size_t most_in_flight() const;
  Result<std::optional<Proposal>> propose(Budget& budget);
  Result<void> submit_proposals(Budget& budget);
  Result<void> take_result(Budget& budget);
  Result<void> keep_attempt(const Proposal& proposal, VerifyResult result, Budget& budget);
  Result<void> accept_best(const Attempt& attempt);
  void end_asking(Budget& budget);
  Result<void> finish(const Budget& budget);
  Result<void> save();
  void record_use(const Budget& budget);
  [[nodiscard]] Duration plain_launch() const { return from_seconds(1e-9 * verifier_->plain().median_ns); }
  [[nodiscard]] Duration reserve() const {
    const bool beside_copy = compares_with_copy(verifier_->device(), costs_->primary());
    return kept_back(left_, final_reserve(plain_launch(), verifier_->data_of_launch(), beside_copy));
  }

  const RunSetup& setup_;
  const std::shared_ptr<const WorkloadCosts> costs_ = std::make_shared<WorkloadCosts>(setup_.problem);
  std::string style_;  ///< as RunStart has it
  RunServices& world_;
  const Instant began_;
  Duration left_ = Duration::max();  ///< of the wall clock when the search begins; of a run without a limit this
  TimeLedger ledger_;
  DevicePeaks peaks_{setup_, world_};
  std::vector<TimeUse> time_before_;  ///< of the parts of a resumed run that ended
  double beside_before_ = 0;
  std::int64_t found_before_ = 0;
  const std::int64_t found_at_start_ = world_.backend.builds_found();  ///< a suite has many runs of one backend
  std::optional<FileLock> lock_;                                       ///< as RunStart has it
  RunRecord record_;
  std::vector<Attempt> attempts_;
  std::vector<Turn> turns_;
  std::vector<Attempt> past_;         ///< of earlier runs, for exemplars
  std::vector<std::string> lessons_;  ///< of earlier runs
  std::unique_ptr<Verifier> verifier_;
  std::unique_ptr<LlmDriver> models_;  ///< outlives the proposer, which asks it
  const ProposerEntry* entry_ = nullptr;
  std::unique_ptr<Proposer> proposer_;
  std::deque<Proposal> proposed_;         ///< by a replay, and not submitted yet
  std::deque<Proposal> in_flight_;        ///< in the verifier, oldest first
  double began_seconds_ = 0;              ///< budget wall clock at which work on the oldest of them began
  std::optional<StaticRanking> ranking_;  ///< where nothing is timed
};

/// What was used so far, and what the wall clock went to.
void Run::record_use(const Budget& budget) {
  record_.used = budget.used();
  record_.time_uses = joined_uses(time_before_, ledger_.entries());
  record_.beside_seconds = beside_before_ + ledger_.beside_seconds();
  const std::int64_t found = found_before_ + world_.backend.builds_found() - found_at_start_;
  if (found > 0) record_.found_builds = found;
}

Result<void> Run::open_record() {
  KW_TRY(auto start, start_run(setup_, record_.device, world_));
  lock_ = std::move(start.lock);
  record_ = std::move(start.record);
  style_ = std::move(start.style);
  attempts_ = std::move(start.attempts);
  turns_ = std::move(start.turns);
  past_ = std::move(start.past);
  lessons_ = std::move(start.lessons);
  time_before_ = record_.time_uses;
  beside_before_ = record_.beside_seconds.value_or(0);
  found_before_ = record_.found_builds.value_or(0);
  record_.status = RunStatus::running;
  note_conditions(record_, setup_, world_, costs_->primary());
  return setup_.resume ? world_.archive.update_run(record_) : world_.archive.begin_run(record_);
}

Result<void> Run::open_verifier() {
  world_.observer.phase("computing the oracle's answers and the plain kernel's accuracy and time");
  KW_TRY(auto options, opening_options(setup_, world_, record_.device, began_));
  options.costs = costs_;
  options.ledger = &ledger_;
  if (!proposed_.empty()) options.first = proposed_.front().candidate;
  std::optional<ShareWatch> share;
  if (setup_.model && setup_.limits.wall_seconds) {
    const double before = used_before(setup_, record_, attempts_, turns_).wall_seconds;
    share.emplace(
        *setup_.limits.wall_seconds - before, [this] { return world_.clock.now() - began_; },
        [this](const std::string& text) { world_.observer.warning(text); });
    options.foresee = [&share](Duration launch, Duration rest) { share->see(launch, rest); };
  }
  KW_TRY(verifier_, LocalVerifier::open(setup_.problem, world_.backend, world_.clock, std::move(options)));
  if (share) record_.model_use->budget_share = share->see(plain_launch(), Duration::zero());
  return {};
}

Result<void> Run::prepare() {
  const auto opening = TimeLedger::stage(&ledger_, time_stage::opening);
  KW_TRY(record_.device, peaks_.measure(ledger_));
  peaks_.keep(record_.device);
  KW_TRY_VOID(require_checkable(setup_.requirements, record_.device));
  KW_TRY_VOID(require_sanitizer(setup_.requirements, world_.tools, record_.device, setup_.target));
  KW_TRY_VOID(open_record());
  KW_TRY_VOID(propose_first());
  KW_TRY_VOID(open_verifier());
  if (record_.device.kind == DeviceKind::simulator) {
    ranking_.emplace(static_estimate(setup_.problem, record_.device, setup_.target, style_));
  } else {
    record_.baselines = {verifier_->plain()};
  }
  note_checked(record_, verifier_->checked());
  return {};
}

ProposerContext Run::proposer_context() const {
  ProposerContext context;
  context.problem = &setup_.problem;
  context.costs = costs_.get();
  context.device = record_.device;
  context.measured = &record_.device;
  context.target = setup_.target;
  context.style = style_;
  context.seed = record_.seed;
  context.archived = record_.archive_seeds;
  context.past = past_;
  context.lessons = lessons_;
  if (verifier_) context.plain = verifier_->plain();
  context.requirements = setup_.requirements;
  context.token_limit = setup_.limits.tokens;
  context.parallel = world_.parallel;
  return context;
}

/// `models`: until when they are asked; unused where none is.
Result<void> Run::open_proposer(Instant models) {
  ProposerContext context = proposer_context();
  if (setup_.start) {
    KW_TRY(context.start, start_of_tuning(setup_, record_, attempts_));
  }
  if (setup_.model) {
    models_ = std::make_unique<LlmDriver>(*setup_.model, models);
    context.model = &models_->open(turns_, setup_.resume, *record_.model_use);
  }
  KW_TRY(proposer_, entry_->make(context));
  return {};
}

/// A search's first does not depend on the plain kernel's time, so that it can be built while that one is checked. A
/// model has to know the time, and a resumed run has had its first.
Result<void> Run::propose_first() {
  if (setup_.model || setup_.resume || record_.device.kind != DeviceKind::gpu) return {};
  KW_TRY_VOID(open_proposer(Instant::max()));
  if (auto first = proposer_->next()) proposed_.push_back(*std::move(first));
  return {};
}

/// Archives what models said since the last call, and tells who watches.
Result<void> Run::keep_turns(Budget& budget) {
  if (models_ == nullptr) return {};
  KW_TRY(const auto kept, models_->keep_turns(world_.archive, record_, budget));
  for (const auto& turn : kept) world_.observer.turn(record_, turn, budget.used());
  return {};
}

std::size_t Run::most_in_flight() const {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, record_.candidates_in_flight.value_or(1)));
}

/// Archives what models said meanwhile. Nothing when there is nothing to try now.
Result<std::optional<Proposal>> Run::propose(Budget& budget) {
  const auto proposing = TimeLedger::stage(&ledger_, time_stage::proposing);
  auto proposal = proposer_->next();
  KW_TRY_VOID(keep_turns(budget));
  return proposal;
}

/// Asks as the search did: as far ahead of what is observed as it kept candidates in flight.
Result<void> Run::replay(Budget& budget) {
  for (const auto& attempt : attempts_) {
    while (proposed_.size() < most_in_flight()) {
      KW_TRY(auto proposal, propose(budget));
      if (proposal) {
        proposed_.push_back(*std::move(proposal));
      } else if (!proposed_.empty() || proposer_->idle().why != Idle::Why::again) {
        break;
      }
    }
    if (proposed_.empty() || proposed_.front().candidate.id() != attempt.candidate.id()) {
      return fail(
          Error{errc::resume_mismatch,
                fmt::format("attempt {} of run {} is not what this version would propose", attempt.ordinal, record_.id),
                "start a new run: its search is seeded with the best kernels of the archive"});
    }
    proposed_.pop_front();
    proposer_->observe(attempt);
    if (ranking_) (void)ranking_->becomes_best(attempt);
  }
  if (!style_.empty()) record_.style = style_;  // of a run that did not keep it, it is certain only now
  // A kill between the attempt and the run's summary leaves the summary behind: the attempts are the truth.
  const auto best = std::find_if(attempts_.rbegin(), attempts_.rend(), [](const Attempt& a) { return a.became_best; });
  if (best == attempts_.rend()) return {};
  record_.best_ordinal = best->ordinal;
  record_.best_path = RunDirectory(setup_.root, record_.id).best_bundle(record_.target).string();
  return verifier_->restore(best->candidate);
}

Result<void> Run::accept_best(const Attempt& attempt) {
  verifier_->promote();
  record_.best_ordinal = attempt.ordinal;
  const auto path = RunDirectory(setup_.root, record_.id).best_bundle(record_.target);
  record_.best_path = path.string();
  return world_.files.write_atomic(path, with_defaults(attempt.candidate).to_text());
}

/// Until as many candidates are in flight as the run keeps, or there is nothing to propose now.
Result<void> Run::submit_proposals(Budget& budget) {
  const auto& most = budget.limits().candidates;
  while (in_flight_.size() < most_in_flight()) {
    if (most && budget.used().candidates + std::ssize(in_flight_) >= *most) return {};
    if (proposed_.empty()) {
      KW_TRY(auto proposal, propose(budget));
      if (!proposal) return {};
      proposed_.push_back(*std::move(proposal));
    }
    if (in_flight_.empty()) began_seconds_ = budget.used().wall_seconds;
    std::optional<Duration> left;
    const Instant deadline = last_verdict(budget.deadline(), reserve());
    if (deadline != Instant::max()) left = deadline - world_.clock.now();
    verifier_->submit(verifier_->request_for(proposed_.front().candidate, left));
    in_flight_.push_back(std::move(proposed_.front()));
    proposed_.pop_front();
  }
  return {};
}

Result<void> Run::take_result(Budget& budget) {
  auto result = verifier_->poll();
  if (!result) {
    verifier_->wait(budget.deadline());
    return {};
  }
  const Proposal proposal = std::move(in_flight_.front());
  in_flight_.pop_front();
  return keep_attempt(proposal, *std::move(result), budget);
}

Result<void> Run::keep_attempt(const Proposal& proposal, VerifyResult result, Budget& budget) {
  const auto keeping = TimeLedger::stage(&ledger_, time_stage::keeping);
  // Peaks may have been measured again: record, report and prompts show those that the verdict was given by.
  record_.device = verifier_->device();
  budget.count_candidate();
  budget.add_device_seconds(result.device_seconds);
  Attempt attempt = attempt_of(proposal, std::move(result));
  attempt.ordinal = static_cast<std::int64_t>(attempts_.size());
  attempt.elapsed_seconds = budget.used().wall_seconds;
  attempt.wall_seconds = attempt.elapsed_seconds - std::exchange(began_seconds_, attempt.elapsed_seconds);
  attempt.became_best =
      ranking_ ? ranking_->becomes_best(attempt) : attempt.measurement && becomes_best(*attempt.measurement);
  // The best kernel's file comes before the archive row: whatever fails later, the kernel itself is safe.
  if (attempt.became_best) {
    KW_TRY_VOID(accept_best(attempt));
    record_.best_accuracy = *attempt.accuracy;
  }
  record_use(budget);
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
    KW_TRY_VOID(submit_proposals(budget));
    if (!in_flight_.empty()) {
      KW_TRY_VOID(take_result(budget));
      continue;
    }
    const Idle idle = proposer_->idle();
    if (idle.why == Idle::Why::failed) return end_without_model(idle.error);
    if (idle.why == Idle::Why::exhausted) {
      record_.status = RunStatus::exhausted;
      return {};
    }
    if (idle.why != Idle::Why::waiting) continue;
    KW_CHECK(models_ != nullptr, "{} waits, and asks no model", setup_.proposer);
    const auto waiting = TimeLedger::stage(&ledger_, time_stage::proposing, time_activity::model);
    models_->wait(budget.deadline());
  }
  return {};
}

/// Requests that are out are given up before anything is measured.
void Run::end_asking(Budget& budget) {
  proposer_.reset();
  if (models_ != nullptr) models_->close(*record_.model_use, budget);
  models_.reset();
}

Result<void> Run::finish(const Budget& budget) {
  verifier_->cancel();
  if (world_.stop) record_.status = RunStatus::interrupted;
  if (!record_.best_ordinal || world_.stop || ranking_) return {};
  world_.observer.phase("measuring the best kernel against the plain one in fresh processes");
  const auto finishing = TimeLedger::stage(&ledger_, time_stage::final);
  const Instant deadline = budget.deadline();
  auto final = verifier_->final_measurement(k_final_processes, [&](Duration needed) {
    // An unlimited budget ends at the last instant there is.
    return !world_.stop && needed < deadline - world_.clock.now();
  });
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
  peaks_.keep(record_.device);
  KW_TRY_VOID(world_.archive.update_run(record_));
  KW_TRY(const auto turns, world_.archive.turns(record_.id));
  return write_report_files(RunDirectory(setup_.root, record_.id), record_, attempts_, turns, world_.files);
}

Result<RunRecord> Run::go() {
  KW_TRY(entry_, find_proposer(setup_.proposer));
  KW_CHECK(entry_->asks_model == setup_.model.has_value() && entry_->needs_start == setup_.start.has_value(), "{}",
           setup_.proposer);
  KW_TRY_VOID(reach_model(setup_, world_));
  KW_TRY_VOID(prepare());
  BudgetUse used = used_before(setup_, record_, attempts_, turns_);
  used.wall_seconds += to_seconds(world_.clock.now() - began_);
  used.device_seconds += verifier_->device_seconds();
  Budget budget(setup_.limits, used, world_.clock);
  const bool limited = budget.deadline() != Instant::max();
  if (limited) left_ = budget.deadline() - world_.clock.now();
  if (proposer_ == nullptr) {
    KW_TRY_VOID(open_proposer(limited ? budget.deadline() - reserve() : Instant::max()));
  }
  KW_TRY_VOID(replay(budget));
  auto searched = search(budget);
  end_asking(budget);
  if (searched) KW_TRY_VOID(finish(budget));
  record_use(budget);
  verifier_->release();
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
  peaks_.complete(record_.device, budget.deadline());
  return record_;
}

}  // namespace

Result<RunRecord> run_loop(const RunSetup& setup, RunServices& services) {
  return Run(setup, services).go();
}

}  // namespace kw
