// kernelwright sweep: a table of times of one style's space.

#include "loop/sweep.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/time_ledger.hpp"
#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/environment.hpp"
#include "cli/inputs.hpp"
#include "cli/print.hpp"
#include "cli/stop_signals.hpp"
#include "cli/version.hpp"
#include "loop/budget.hpp"
#include "loop/threads.hpp"
#include "loop/time_uses.hpp"
#include "report/stage_times.hpp"

namespace kw {
namespace {

/// What a table holds, for one line.
struct SweepCounts {
  std::size_t rows = 0, timed = 0, rejected = 0, undecided = 0;
  std::optional<double> best_ns;
};

SweepCounts counts_of(const SweepTable& table) {
  SweepCounts counts;
  counts.rows = table.rows.size();
  for (const auto& row : table.rows) {
    counts.rejected += row.status == VerdictStatus::rejected ? 1 : 0;
    counts.undecided += row.status == VerdictStatus::unverified ? 1 : 0;
    const auto cost = row.cost_ns();
    if (!cost) continue;
    ++counts.timed;
    counts.best_ns = std::min(counts.best_ns.value_or(*cost), *cost);
  }
  return counts;
}

std::string counts_text(const SweepCounts& counts) {
  std::string text = fmt::format("{} rows, {} timed, {} rejected", counts.rows, counts.timed, counts.rejected);
  if (counts.undecided > 0) text += fmt::format(", {} undecided", counts.undecided);
  if (counts.best_ns) text += fmt::format(", best {:.4f} ms", *counts.best_ns / 1e6);
  return text;
}

/// One line for each phase, and one every few seconds while candidates are timed.
class SweepProgress final : public SweepObserver {
 public:
  explicit SweepProgress(const Clock& clock) : clock_(clock), began_(clock.now()), said_(began_) {}
  void phase(const std::string& doing) override { line(doing); }
  void row(const SweepTable& table, const SweepRow&) override {
    constexpr Duration k_between_lines = std::chrono::seconds(5);
    if (clock_.now() - said_ < k_between_lines) return;
    line(counts_text(counts_of(table)));
  }

 private:
  void line(const std::string& text) {
    said_ = clock_.now();
    print_text(stderr, "{:6.1f} s  {}\n", to_seconds(said_ - began_), text);
  }

  const Clock& clock_;
  const Instant began_;
  Instant said_;
};

/// "ROWS=2,4" is two assignments of ROWS.
Result<AllowedValues> read_values(const std::vector<std::string>& texts) {
  AllowedValues allowed;
  for (const auto& text : texts) {
    const std::size_t equals = text.find('=');
    std::string name = text.substr(0, equals);
    std::string values = equals == std::string::npos ? "" : text.substr(equals + 1);
    while (true) {
      const std::size_t comma = values.find(',');
      KW_TRY(const auto one, read_assignments({fmt::format("{}={}", name, values.substr(0, comma))}, "--values"));
      allowed[name].push_back(one.at(name));
      if (comma == std::string::npos) break;
      values = values.substr(comma + 1);
    }
  }
  return allowed;
}

Result<SweepSetup> read_sweep_setup(const SweepOptions& options) {
  SweepSetup setup;
  KW_TRY(setup.problem, read_problem(options.input));
  if (!options.budget.empty()) {
    KW_TRY(setup.limits, parse_budget(options.budget));
  }
  setup.target = options.target;
  setup.style = options.style;
  setup.seed = options.seed;
  KW_TRY(setup.allowed, read_values(options.values));
  if (!options.all) setup.count = options.count;
  setup.file = options.out;
  setup.in_flight = std::max(2, usable_processors());
  setup.version = std::string(k_version);
  setup.started_utc = utc_now();
  setup.environment = describe_environment();
  return setup;
}

}  // namespace

Result<ExitCode> run_sweep_command(const SweepOptions& options) {
  KW_TRY(const auto setup, read_sweep_setup(options));
  RealFileSystem files;
  const SteadyClock clock;
  const auto& stop = watch_stop_signals();
  const Instant began = clock.now();
  SweepProgress progress(clock);
  progress.phase("opening the device");
  KW_TRY(const auto device, open_device(options.device, options.target, options.require_sandbox));
  TimeLedger ledger(clock, began, time_stage::opening, time_activity::device);
  SweepServices services{*device.backend, files,    clock, progress, stop, ledger, parallel_for(usable_processors()),
                         run_beside,      start_now};
  KW_TRY(const auto table, run_sweep(setup, services));
  print_text("{} of {} points\ntable    {}\n", counts_text(counts_of(table)), table.of.space, options.out.string());
  for (const auto& line : stage_lines(joined_uses({}, ledger.entries()))) print_text("time     {}\n", line);
  if (stop) return ExitCode::interrupted;
  return counts_of(table).timed > 0 ? ExitCode::success : ExitCode::rejected;
}

}  // namespace kw
