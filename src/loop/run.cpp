#include "loop/run.hpp"

#include <algorithm>
#include <memory>

#include "loop/report_files.hpp"
#include "loop/verifier_setup.hpp"
#include "propose/search/search_proposer.hpp"
#include "verify/calibrate.hpp"
#include "verify/verifier.hpp"

namespace kw {
namespace {

constexpr int k_final_processes = 3;
constexpr int k_archive_seeds = 6;
/// Kept back from the wall clock for the final measurement: this many launches of the plain kernel, and start-up.
constexpr double k_reserved_plain_launches = 14;
constexpr double k_reserved_seconds = 2.0;

std::string new_run_id() {
  return fmt::format("{:016x}", secret_seed());
}

/// One run in progress; a class because the loop's steps share all of this.
class Run {
 public:
  Run(const RunSetup& setup, RunWorld& world) : setup_(setup), world_(world) {}
  Result<RunRecord> go();

 private:
  Result<void> open_record();
  Result<void> find_resumable();
  Result<void> start_record();
  Result<void> prepare();
  Result<void> replay();
  Result<void> search(Budget& budget);
  Result<void> one_attempt(const Proposal& proposal, Budget& budget);
  Result<void> accept_best(const Attempt& attempt);
  Result<void> finish(const Budget& budget);
  Result<void> save();
  [[nodiscard]] Duration plain_launch() const;
  [[nodiscard]] Duration reserve() const;

  const RunSetup& setup_;
  RunWorld& world_;
  RunRecord record_;
  std::vector<Attempt> attempts_;
  std::unique_ptr<Verifier> verifier_;
  std::unique_ptr<Proposer> proposer_;
};

Result<void> Run::find_resumable() {
  KW_TRY(auto runs, world_.archive.runs());
  const std::string text = setup_.problem.canonical_text();
  std::optional<RunRecord> newest;
  for (auto& run : runs) {
    const bool same = run.problem_text == text && run.target == setup_.target && run.device.id == record_.device.id;
    if (same && (!newest || run.started_utc >= newest->started_utc)) newest = std::move(run);
  }
  if (!newest) {
    return fail(Error{errc::resume_nothing,
                      fmt::format("there is no run of {} on {} in {} to go on with", setup_.problem.name,
                                  record_.device.id, setup_.root.string()),
                      "leave out --resume, or name the folder of the earlier run with --out"});
  }
  KW_TRY(attempts_, world_.archive.attempts(newest->id));
  const DeviceFacts device = record_.device;
  record_ = *std::move(newest);
  record_.device = device;
  record_.limits = setup_.limits;
  record_.failure.clear();
  return {};
}

Result<void> Run::start_record() {
  record_.id = new_run_id();
  record_.started_utc = setup_.started_utc;
  record_.version = setup_.version;
  record_.problem = setup_.problem.name;
  record_.problem_text = setup_.problem.canonical_text();
  record_.mod_text = setup_.problem.mod_text();
  record_.op = setup_.problem.op;
  record_.target = setup_.target;
  record_.proposer = "search";
  record_.seed = setup_.seed;
  record_.limits = setup_.limits;
  KW_TRY(auto bests,
         world_.archive.bests(record_.op, record_.target, k_archive_seeds, {record_.problem, record_.device.name}));
  for (auto& best : bests) record_.archive_seeds.push_back(std::move(best.candidate));
  return {};
}

Result<void> Run::open_record() {
  if (setup_.resume) {
    KW_TRY_VOID(find_resumable());
  } else {
    KW_TRY_VOID(start_record());
  }
  record_.status = RunStatus::running;
  record_.environment = setup_.environment;
  record_.sandbox_tier = std::string(to_string(world_.workbench.sandbox().tier));
  record_.workloads.clear();
  record_.distributions.clear();
  for (const auto& workload : setup_.problem.workloads) record_.workloads.push_back(workload.name);
  for (const auto distribution : all_distributions()) record_.distributions.emplace_back(to_string(distribution));
  record_.sanitizers.clear();
  if (world_.sanitizer != nullptr) record_.sanitizers.push_back(world_.sanitizer->device().driver);
  const WorkloadCost work = cost(setup_.problem, setup_.problem.primary());
  record_.useful_flops = work.flops;
  record_.useful_bytes = work.bytes;
  KW_TRY_VOID(world_.files.create_directories(RunDirectory(setup_.root, record_.id).folder()));
  return setup_.resume ? world_.archive.update_run(record_) : world_.archive.begin_run(record_);
}

Result<void> Run::prepare() {
  world_.observer.phase("measuring the device's peaks");
  KW_TRY(record_.device, calibrate(world_.workbench));
  KW_TRY_VOID(open_record());
  world_.observer.phase("computing the oracle's answers and the plain kernel's accuracy and time");
  KW_TRY(auto options,
         verifier_options(setup_.problem, setup_.target, record_.device, world_.parallel, world_.sanitizer));
  options.comparison = search_rule();
  KW_TRY(verifier_, Verifier::open(setup_.problem, world_.workbench, world_.clock, std::move(options)));
  record_.baselines = {verifier_->plain()};
  SearchOptions search;
  search.problem = &setup_.problem;
  search.device = record_.device;
  search.target = setup_.target;
  search.style = setup_.style;
  search.seed = record_.seed;
  search.archived = record_.archive_seeds;
  KW_TRY(proposer_, make_search_proposer(search));
  return {};
}

Result<void> Run::replay() {
  for (const auto& attempt : attempts_) {
    const auto proposal = proposer_->next();
    if (!proposal || proposal->candidate.id() != attempt.candidate.id()) {
      return fail(
          Error{errc::resume_mismatch,
                fmt::format("attempt {} of run {} is not what this version would propose", attempt.ordinal, record_.id),
                "start a new run: its search is seeded with the best kernels of the archive"});
    }
    proposer_->observe(attempt);
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
  VerifyResult result = verifier_->verify(proposal.candidate);
  budget.count_candidate();
  budget.add_device_seconds(result.device_seconds);
  Attempt attempt;
  attempt.ordinal = static_cast<std::int64_t>(attempts_.size());
  attempt.proposer = proposal.proposer;
  attempt.origin = proposal.origin;
  attempt.candidate = proposal.candidate;
  attempt.verdict = std::move(result.verdict);
  attempt.build = std::move(result.build);
  attempt.measurement = std::move(result.measurement);
  attempt.device_seconds = result.device_seconds;
  attempt.elapsed_seconds = budget.used().wall_seconds;
  attempt.wall_seconds = attempt.elapsed_seconds - started;
  attempt.became_best = attempt.measurement && becomes_best(*attempt.measurement);
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

Result<void> Run::search(Budget& budget) {
  world_.observer.phase("searching");
  record_.status = RunStatus::finished;
  while (!budget.exhausted(reserve())) {
    if (world_.stop) return {};
    const auto proposal = proposer_->next();
    if (!proposal) {
      record_.status = RunStatus::exhausted;
      return {};
    }
    KW_TRY_VOID(one_attempt(*proposal, budget));
  }
  return {};
}

Result<void> Run::finish(const Budget& budget) {
  if (world_.stop) record_.status = RunStatus::interrupted;
  if (!record_.best_ordinal || world_.stop) return {};
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
  return write_report_files(RunDirectory(setup_.root, record_.id), record_, attempts_, world_.files);
}

Result<RunRecord> Run::go() {
  BudgetUse already;
  const Instant began = world_.clock.now();
  KW_TRY_VOID(prepare());
  if (!attempts_.empty()) {
    already.wall_seconds = attempts_.back().elapsed_seconds;
    already.candidates = static_cast<std::int64_t>(attempts_.size());
    for (const auto& attempt : attempts_) already.device_seconds += attempt.device_seconds;
  }
  already.wall_seconds += to_seconds(world_.clock.now() - began);
  already.device_seconds += verifier_->device_seconds();
  Budget budget(setup_.limits, already, world_.clock);
  KW_TRY_VOID(replay());
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
