#include "suite/suite_loop.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include "base/hash.hpp"
#include "suite/budget_shares.hpp"
#include "suite/row_outcome.hpp"
#include "verify/verifier.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_problem_bytes = std::int64_t{1} << 20;

/// After these, no other problem can be kept either.
bool ends_suite(const Error& error) {
  return error.code == errc::disk_full || error.code == errc::archive_open || error.code == errc::archive_version ||
         error.code == errc::archive_busy;
}

/// Passes on what a run says, with the row that it is about.
class RowObserver final : public RunObserver {
 public:
  RowObserver(SuiteObserver& observer, std::mutex& mutex, const SuiteRow& row)
      : observer_(observer), mutex_(mutex), row_(row) {}
  void phase(const std::string& doing) override {
    const std::scoped_lock lock(mutex_);
    observer_.phase(row_, doing);
  }
  void attempt(const RunRecord& run, const Attempt& attempt, const BudgetUse& used) override {
    const std::scoped_lock lock(mutex_);
    observer_.attempt(row_, run, attempt, used);
  }
  void turn(const RunRecord&, const Turn&, const BudgetUse&) override {}
  void warning(const std::string& text) override {
    const std::scoped_lock lock(mutex_);
    observer_.warning(row_, text);
  }

 private:
  SuiteObserver& observer_;
  std::mutex& mutex_;
  const SuiteRow& row_;
};

/// The devices take rows from here and bring them back.
class SuiteRun {
 public:
  SuiteRun(SuiteState state, const SuiteDirectory& directory, SuiteServices& world)
      : state_(std::move(state)),
        directory_(directory),
        world_(world),
        began_(world.clock.now()),
        earlier_seconds_(state_.elapsed_seconds) {}

  Result<SuiteState> go() {
    KW_TRY(per_problem_, limits_of(state_.settings.budget_per_problem));
    KW_TRY(all_, limits_of(state_.settings.budget));
    reopen_changed_rows();
    world_.parallel(std::ssize(world_.devices),
                    [&](std::int64_t i) { work_on(*world_.devices[static_cast<std::size_t>(i)]); });
    if (failure_) return tl::unexpected(*std::move(failure_));
    return std::move(state_);
  }

 private:
  struct Task {
    std::size_t index = 0;
    SuiteRow row;  ///< as the device works on it
    BudgetLimits limits;
    bool begun_before = false;  ///< its run may be in the archive
  };

  static Result<BudgetLimits> limits_of(const std::string& text) {
    if (text.empty()) return BudgetLimits{};
    return parse_budget(text);
  }

  /// A problem whose file has another text now is another problem. Where the file is gone, the row says what it was.
  void reopen_changed_rows() {
    for (auto& row : state_.rows) {
      if (row.status == SuiteStatus::waiting) continue;
      const auto text = text_of(row);
      if (text && hash_bytes(*text).hex() != row.file_hash) row = fresh_row(row.item);
    }
  }

  [[nodiscard]] Result<std::string> text_of(const SuiteRow& row) const {
    std::string file = row.item.input;
    if (const auto mark = file.rfind(".py:"); mark != std::string::npos) file.resize(mark + 3);
    return world_.files.read(file, k_max_problem_bytes);
  }

  static SuiteRow fresh_row(const SuiteItem& item) {
    SuiteRow row;
    row.item = item;
    return row;
  }

  void work_on(SuiteDevice& device) {
    while (auto task = take(device)) {
      RowObserver observer(world_.observer, mutex_, task->row);
      auto failure = carry_out(*task, device, observer);
      keep(*task, std::move(failure));
    }
  }

  std::optional<Task> take(const SuiteDevice& device) {
    const std::scoped_lock lock(mutex_);
    update_clock();
    if (world_.stop || failure_ || is_used_up(all_, state_.used())) return std::nullopt;
    const auto is_open = [&](const SuiteRow& row) {
      return !is_over(row.status) && !in_work_.contains(row.item.name) && !left_.contains(row.item.name);
    };
    const auto next = std::ranges::find_if(state_.rows, is_open);
    if (next == state_.rows.end()) return std::nullopt;
    const auto waiting = std::ranges::count_if(state_.rows, is_open);
    Task task;
    task.index = static_cast<std::size_t>(next - state_.rows.begin());
    task.limits = budget_share(per_problem_, all_, state_.used(), waiting, std::ssize(world_.devices));
    task.begun_before = next->status != SuiteStatus::waiting;
    in_work_.insert(next->item.name);
    // Kept before the run begins: after a kill it says whether that run is of the same text.
    if (const auto text = text_of(*next)) next->file_hash = hash_bytes(*text).hex();
    next->status = SuiteStatus::running;
    next->device = device.id();
    task.row = fresh_row(next->item);
    task.row.file_hash = next->file_hash;
    task.row.device = next->device;
    save();
    world_.observer.begun(state_, *next);
    return task;
  }

  /// Fills the task's row. An error is the suite's.
  Result<void> carry_out(Task& task, SuiteDevice& device, RunObserver& observer) {
    SuiteRow& row = task.row;
    auto problem = world_.read(row);
    if (!problem) {
      note_failure(row, problem.error());
      return {};
    }
    row.remarks = problem->remarks;
    row.is_smaller = problem->is_smaller;
    const RunSetup setup = setup_for(task, *problem);
    auto run = run_or_begin_again(setup, device, observer);
    if (!run && ends_suite(run.error())) return tl::unexpected(std::move(run).error());
    if (!run) {
      note_failure(row, run.error());
      if (run.error().code == errc::unscorable) row.as_kernelbench = device.judge_as_kernelbench(problem->problem);
      return {};
    }
    KW_TRY(const auto attempts, device.archive().attempts(run->id));
    note_outcome(row, *run, attempts);
    return {};
  }

  [[nodiscard]] RunSetup setup_for(const Task& task, const SuiteProblem& problem) const {
    RunSetup setup = world_.common;
    setup.problem = problem.problem;
    setup.problem_input = problem.problem_input;
    setup.target = state_.settings.target;
    setup.style = state_.settings.style;
    setup.seed = state_.settings.seed;
    setup.limits = task.limits;
    setup.root = directory_.root();
    setup.resume = task.begun_before;
    return setup;
  }

  /// A run that was killed before it was archived, or by another version, is begun again.
  static Result<RunRecord> run_or_begin_again(RunSetup setup, SuiteDevice& device, RunObserver& observer) {
    auto run = device.run(setup, observer);
    if (run || !setup.resume) return run;
    const ErrorCode code = run.error().code;
    if (code != errc::resume_nothing && code != errc::resume_mismatch && code != errc::champion_lost) return run;
    setup.resume = false;
    return device.run(setup, observer);
  }

  void keep(Task& task, Result<void> carried_out) {
    const std::scoped_lock lock(mutex_);
    update_clock();
    SuiteRow& row = state_.rows[task.index];
    in_work_.erase(row.item.name);
    if (!carried_out) {
      if (!failure_) failure_ = std::move(carried_out).error();
      return;
    }
    row = std::move(task.row);
    if (!is_over(row.status)) left_.insert(row.item.name);
    save();
    world_.observer.ended(state_, row);
  }

  void update_clock() { state_.elapsed_seconds = earlier_seconds_ + to_seconds(world_.clock.now() - began_); }

  void save() {
    auto written = world_.files.write_atomic(directory_.state(), encode_suite(state_));
    if (!written && !failure_) failure_ = std::move(written).error();
  }

  SuiteState state_;
  const SuiteDirectory& directory_;
  SuiteServices& world_;
  const Instant began_;
  const double earlier_seconds_;
  BudgetLimits per_problem_;
  BudgetLimits all_;
  std::mutex mutex_;  ///< of all that follows, and of state_
  std::set<std::string> in_work_;
  std::set<std::string> left_;  ///< interrupted in this part of the suite
  std::optional<Error> failure_;
};

}  // namespace

Result<SuiteState> run_suite(SuiteState state, const SuiteDirectory& directory, SuiteServices& services) {
  return SuiteRun(std::move(state), directory, services).go();
}

}  // namespace kw
