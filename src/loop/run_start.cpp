#include "loop/run_start.hpp"

#include <algorithm>
#include <utility>

#include "loop/verifier_setup.hpp"

namespace kw {
namespace {

constexpr int k_archive_seeds = 6;
/// Exemplars are drawn from these; more would only be more of the same speeds.
constexpr std::size_t k_past_attempts = 200;

std::string new_run_id() {
  return fmt::format("{:016x}", secret_seed());
}

bool is_of(const RunRecord& run, const RunSetup& setup, const DeviceFacts& device) {
  return run.problem_text == setup.problem.canonical_text() && run.target == setup.target && run.device.id == device.id;
}

/// Runs that tune one bundle are no parts of runs that write kernels.
bool tunes_as(const RunRecord& run, const RunSetup& setup) {
  return (run.proposer == k_retune) == (setup.proposer == k_retune);
}

Result<RunStart> resume(const RunSetup& setup, const DeviceFacts& device, const Archive& archive) {
  KW_TRY(auto runs, archive.runs());
  std::optional<RunRecord> newest;
  for (auto& run : runs) {
    if (is_of(run, setup, device) && tunes_as(run, setup) && (!newest || run.started_utc >= newest->started_utc))
      newest = std::move(run);
  }
  if (!newest) {
    return fail(Error{errc::resume_nothing,
                      fmt::format("there is no run of {} on {} in {} to go on with", setup.problem.name, device.id,
                                  setup.root.string()),
                      "leave out --resume, or name the folder of the earlier run with --out"});
  }
  if (newest->proposer != setup.proposer) {
    return fail(
        Error{errc::resume_mismatch,
              fmt::format("run {} was made with --proposer {}, not {}", newest->id, newest->proposer, setup.proposer),
              "resume it with the proposer it began with"});
  }
  RunStart start;
  KW_TRY(start.attempts, archive.attempts(newest->id));
  KW_TRY(start.turns, archive.turns(newest->id));
  start.record = *std::move(newest);
  start.record.limits = setup.limits;
  start.record.failure.clear();
  // A kill between a turn and the run's summary leaves the summary behind: the turns are the truth.
  if (setup.model && start.record.model_use) {
    const auto priced = start.record.model_use->dollars.has_value();
    start.record.model_use = describe_model(*setup.model);
    for (const auto& turn : start.turns) {
      count_turn(*start.record.model_use, turn, priced ? std::optional(turn.dollars) : std::nullopt);
    }
  }
  return start;
}

Result<RunStart> begin(const RunSetup& setup, const DeviceFacts& device, const Archive& archive) {
  RunStart start;
  RunRecord& record = start.record;
  record.id = new_run_id();
  record.started_utc = setup.started_utc;
  record.version = setup.version;
  record.problem = setup.problem.name;
  record.problem_text = setup.problem.canonical_text();
  record.mod_text = setup.problem.mod_text();
  if (!setup.problem_input.empty()) record.problem_input = setup.problem_input;
  record.op = setup.problem.op;
  record.target = setup.target;
  record.proposer = setup.proposer;
  record.seed = setup.seed;
  record.limits = setup.limits;
  if (setup.model) record.model_use = describe_model(*setup.model);
  if (!setup.replay.empty()) {
    KW_TRY(const auto replayed, archive.run(setup.replay));
    KW_TRY(start.turns, archive.turns(replayed.id));
    if (start.turns.empty()) {
      return fail(Error{errc::resume_mismatch, fmt::format("no model took part in run {}", replayed.id),
                        "replay a run that was made with --proposer llm or hybrid"});
    }
    record.seed = replayed.seed;
    record.archive_seeds = replayed.archive_seeds;
    return start;
  }
  KW_TRY(auto bests, archive.bests(record.op, record.target, k_archive_seeds, {record.problem, device.name}));
  for (auto& best : bests) record.archive_seeds.push_back(std::move(best.candidate));
  return start;
}

/// The same for a run and for its resumption or replay: only runs that had ended when it began.
Result<std::vector<Attempt>> past_attempts(const RunSetup& setup, const RunRecord& record, const DeviceFacts& device,
                                           const Archive& archive) {
  std::vector<Attempt> past;
  KW_TRY(const auto runs, archive.runs());
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const bool earlier = run->started_utc < record.started_utc && run->status != RunStatus::running;
    if (run->id == record.id || !earlier || !is_of(*run, setup, device)) continue;
    KW_TRY(auto attempts, archive.attempts(run->id));
    for (auto& attempt : attempts) {
      attempt.chain.reset();  // another run's chains are no islands of this one
      if (attempt.verdict.accepted() && attempt.measurement) past.push_back(std::move(attempt));
    }
  }
  if (past.size() > k_past_attempts) past.erase(past.begin(), past.end() - k_past_attempts);
  return past;
}

}  // namespace

Result<RunStart> start_run(const RunSetup& setup, const DeviceFacts& device, const Archive& archive) {
  KW_TRY(auto start, setup.resume ? resume(setup, device, archive) : begin(setup, device, archive));
  start.record.device = device;
  if (setup.model) {
    KW_TRY(start.past, past_attempts(setup, start.record, device, archive));
  }
  return start;
}

}  // namespace kw
