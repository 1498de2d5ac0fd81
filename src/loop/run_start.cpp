#include "loop/run_start.hpp"

#include <algorithm>
#include <utility>

#include "archive/damage.hpp"
#include "codegen/codegen.hpp"
#include "loop/verifier_setup.hpp"
#include "propose/llm/prompts/lesson.hpp"
#include "propose/registry.hpp"
#include "propose/search/bundle_tuner.hpp"

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

bool tunes_one_bundle(const std::string& proposer) {
  const auto entry = find_proposer(proposer);
  return entry && (*entry)->needs_start;
}

/// Runs that tune one bundle are no parts of runs that write kernels.
bool tunes_as(const RunRecord& run, const RunSetup& setup) {
  return tunes_one_bundle(run.proposer) == tunes_one_bundle(setup.proposer);
}

/// Of a new run, and of one that did not keep its style.
std::string style_for(const RunSetup& setup, const DeviceFacts& device) {
  if (setup.start) return style_that_writes(setup.start->bundle, setup.problem, device);
  return setup.style.empty() ? fastest_style(setup.problem, setup.target, device) : setup.style;
}

tl::unexpected<Error> made_otherwise(const RunRecord& run, const char* what, const std::string& made,
                                     const std::string& asked) {
  return fail(Error{errc::resume_mismatch,
                    fmt::format("run {} was made with --{} {}, not {}", run.id, what, made, asked),
                    fmt::format("resume it with the {} it began with", what)});
}

/// Makes the run's folder where there is none.
Result<FileLock> lock_run(const RunSetup& setup, const std::string& id, FileSystem& files) {
  const RunDirectory directory(setup.root, id);
  KW_TRY_VOID(files.create_directories(directory.folder()));
  KW_TRY(auto lock, FileLock::try_take(directory.lock_file(), FileLock::Kind::exclusive));
  if (lock) return *std::move(lock);
  return fail(Error{errc::run_in_progress, fmt::format("run {} is going on in another process", id),
                    "wait for it to end, or stop it; without --resume another run begins beside it"});
}

/// Nothing when it is damaged. Locked before it is read: what is read is then all there is.
Result<std::optional<RunStart>> read_to_resume(const RunSetup& setup, const std::string& id, const Archive& archive,
                                               FileSystem& files) {
  RunStart start;
  KW_TRY(start.lock, lock_run(setup, id, files));
  const auto read = [&]() -> Result<void> {
    KW_TRY(start.record, archive.run(id));
    KW_TRY(start.attempts, archive.attempts(id));
    KW_TRY(start.turns, archive.turns(id));
    return {};
  };
  auto whole = read();
  if (whole) return start;
  if (whole.error().code == errc::archive_corrupt) return std::nullopt;
  return fail(std::move(whole).error());
}

/// The newest whole one.
Result<std::optional<RunStart>> find_to_resume(const RunSetup& setup, const DeviceFacts& device, const Archive& archive,
                                               FileSystem& files) {
  KW_TRY(auto runs, archive.runs());
  std::erase_if(runs, [&](const RunRecord& run) { return !is_of(run, setup, device) || !tunes_as(run, setup); });
  for (const auto& run : runs) {
    KW_TRY(auto start, read_to_resume(setup, run.id, archive, files));
    if (start) return start;
  }
  return std::nullopt;
}

/// From the turns, which are all there after a kill. What was sent is known from before the kill alone.
void recount(ModelUse& use, const ModelSetup& setup, const std::vector<Turn>& turns) {
  const ModelUse before = std::exchange(use, describe_model(setup));
  for (const auto& turn : turns) {
    count_turn(use, turn, before.dollars ? std::optional(turn.dollars) : std::nullopt);
  }
  if (!use.requests) return;
  use.requests = before.requests.value_or(use.turns);
  use.request_tokens = before.request_tokens.value_or(*use.answered_tokens);
}

Result<RunStart> resume(const RunSetup& setup, const DeviceFacts& device, const Archive& archive, FileSystem& files) {
  KW_TRY(auto found, find_to_resume(setup, device, archive, files));
  if (!found) {
    return fail(Error{errc::resume_nothing,
                      fmt::format("there is no run of {} on {} in {} to go on with", setup.problem.name, device.id,
                                  setup.root.string()),
                      "leave out --resume, or name the folder of the earlier run with --out"});
  }
  RunStart start = *std::move(found);
  RunRecord& record = start.record;
  if (record.proposer != setup.proposer) return made_otherwise(record, "proposer", record.proposer, setup.proposer);
  if (record.style && !setup.style.empty() && setup.style != *record.style) {
    return made_otherwise(record, "style", *record.style, setup.style);
  }
  start.style = record.style ? *record.style : style_for(setup, device);
  record.limits = setup.limits;
  if (!record.problem_source) record.problem_source = setup.problem.source;  // it is the same problem
  record.failure.clear();
  // A kill between a turn and the run's summary leaves the summary behind: the turns are the truth.
  if (setup.model && record.model_use) {
    recount(*record.model_use, *setup.model, start.turns);
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
  record.problem_source = setup.problem.source;
  record.op = setup.problem.op;
  record.target = setup.target;
  record.proposer = setup.proposer;
  start.style = style_for(setup, device);
  if (!start.style.empty()) record.style = start.style;
  record.seed = setup.seed;
  record.limits = setup.limits;
  if (setup.model) record.model_use = describe_model(*setup.model);
  if (setup.in_flight > 1 && !setup.model && device.kind != DeviceKind::simulator) {
    record.candidates_in_flight = setup.in_flight;
  }
  if (!setup.replay.empty()) {
    KW_TRY(const auto replayed, archive.run(setup.replay));
    KW_TRY(start.turns, archive.turns(replayed.id));
    if (start.turns.empty()) {
      return fail(Error{errc::resume_mismatch, fmt::format("no model took part in run {}", replayed.id),
                        "replay a run that was made with --proposer " + one_of(proposer_names(true))});
    }
    record.seed = replayed.seed;
    record.archive_seeds = replayed.archive_seeds;
    if (replayed.style && setup.style.empty()) {
      record.style = replayed.style;
      start.style = *replayed.style;
    }
    return start;
  }
  KW_TRY(auto bests, archive.bests(record.op, record.target, k_archive_seeds, {record.problem, device.name}));
  for (auto& best : bests) record.archive_seeds.push_back(std::move(best.candidate));
  return start;
}

/// What one earlier run leaves to a model; nothing where it is damaged.
Result<void> learn_from(const std::string& id, const Archive& archive, RunStart& start) {
  auto attempts = archive.attempts(id);
  auto turns = attempts ? archive.turns(id) : std::vector<Turn>();
  if (!attempts || !turns) {
    Error error = attempts ? std::move(turns).error() : std::move(attempts).error();
    if (error.code == errc::archive_corrupt) return {};
    return fail(std::move(error));
  }
  for (auto& lesson : lessons_of(*turns, *attempts)) start.lessons.push_back(std::move(lesson));
  for (auto& attempt : *attempts) {
    attempt.provenance.chain.reset();  // another run's chains are no islands of this one
    if (attempt.verdict.accepted() && attempt.measurement) start.past.push_back(std::move(attempt));
  }
  return {};
}

/// Fills past and lessons. The same for a run and for its resumption or replay: only runs on the problem and the device
/// that had ended when it began.
Result<void> learn_from_past(const RunSetup& setup, const DeviceFacts& device, const Archive& archive,
                             RunStart& start) {
  KW_TRY(const auto runs, archive.runs());
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const bool earlier = run->started_utc < start.record.started_utc && run->status != RunStatus::running;
    if (run->id == start.record.id || !earlier || !is_of(*run, setup, device)) continue;
    KW_TRY_VOID(learn_from(run->id, archive, start));
  }
  auto& past = start.past;
  if (past.size() > k_past_attempts) past.erase(past.begin(), past.end() - k_past_attempts);
  return {};
}

}  // namespace

Result<RunStart> start_run(const RunSetup& setup, const DeviceFacts& device, RunServices& services) {
  const Archive& archive = services.archive;
  const auto read = [&]() -> Result<RunStart> {
    FileSystem& files = services.files;
    KW_TRY(auto start, setup.resume ? resume(setup, device, archive, files) : begin(setup, device, archive));
    if (!start.lock) {
      KW_TRY(start.lock, lock_run(setup, start.record.id, files));
    }
    start.record.device = device;
    if (setup.model) {
      KW_TRY_VOID(learn_from_past(setup, device, archive, start));
    }
    return start;
  };
  auto start = read();
  const auto damage = damage_warning(archive.file(), archive.passed_over());
  if (!damage.empty()) services.observer.warning(damage);
  return start;
}

Result<Candidate> start_of_tuning(const RunSetup& setup, const RunRecord& record,
                                  const std::vector<Attempt>& attempts) {
  if (attempts.empty()) return *setup.start;
  const Bundle& begun = attempts.front().candidate.bundle;
  if (begun.source == setup.start->bundle.source) return make_candidate(begun);
  return fail(Error{errc::resume_mismatch, fmt::format("run {} tunes another source", record.id),
                    "give the bundle it began with, or leave out --resume"});
}

BudgetUse used_before(const RunSetup& setup, const RunRecord& record, const std::vector<Attempt>& attempts,
                      const std::vector<Turn>& turns) {
  BudgetUse already;
  if (!setup.resume) return already;
  if (setup.model && record.model_use) {
    const OpenRequests open = open_requests(*record.model_use);
    already.tokens += open.tokens;
    already.dollars += open_dollars(*setup.model, open);
  }
  already.candidates = std::ssize(attempts);
  for (const auto& attempt : attempts) already.device_seconds += attempt.device_seconds;
  if (!attempts.empty()) already.wall_seconds = attempts.back().elapsed_seconds;
  for (const auto& turn : turns) {
    already.tokens += turn.reply.usage.prompt + turn.reply.usage.completion;
    already.dollars += turn.dollars;
    already.wall_seconds = std::max(already.wall_seconds, turn.finished_seconds);
    if (is_failed_try(turn)) ++already.candidates;
  }
  return already;
}

}  // namespace kw
