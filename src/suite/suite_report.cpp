#include "suite/suite_report.hpp"

#include <set>

#include "base/text.hpp"
#include "suite/suite_directory.hpp"

namespace kw {
namespace {

Value seconds_or_nothing(const std::optional<double>& seconds) {
  return seconds ? Value{Number{*seconds, Unit::seconds, {}}} : Value{};
}
Value time_or_nothing(const std::optional<double>& ns, const std::optional<Interval>& interval) {
  if (!ns) return {};
  const bool known = interval && interval->high > 0 && interval->confidence > 0;
  return Number{*ns, Unit::nanoseconds, known ? interval : std::nullopt};
}
Value times_or_nothing(const std::optional<double>& ratio, const std::optional<Interval>& interval = {}) {
  return ratio ? Value{Number{*ratio, Unit::times, interval}} : Value{};
}
Value share(double value) {
  return Number{value, Unit::share, {}};
}
Value whole(std::int64_t value) {
  return Number{static_cast<double>(value), Unit::count, {}};
}

std::string headline(const SuiteFigures& figures) {
  std::string text =
      fmt::format("{} of {} problems have a verified kernel", figures.count(SuiteStatus::solved), figures.problems);
  const std::pair<SuiteStatus, const char*> others[] = {{SuiteStatus::unsolved, "not solved in their budget"},
                                                        {SuiteStatus::unscorable, "cannot be scored"},
                                                        {SuiteStatus::failed, "failed"},
                                                        {SuiteStatus::interrupted, "interrupted"},
                                                        {SuiteStatus::running, "running"},
                                                        {SuiteStatus::waiting, "not begun"}};
  for (const auto& [status, words] : others) {
    if (figures.count(status) > 0) text += fmt::format(", {} {}", figures.count(status), words);
  }
  return text + ".";
}

Table baselines_table(const SuiteFigures& figures) {
  Table table{"baselines", "Share of problems solved and more than p times as fast", {}, {}, "No time was measured."};
  table.columns = {{"baseline", "Baseline"}, {"problems", "Problems", true}};
  for (const double p : k_fast_p_thresholds) {
    table.columns.push_back({fmt::format("fast_{:g}", p), fmt::format("p = {:g}", p), true});
  }
  table.columns.push_back({"geometric_mean", "Geometric mean", true});
  for (const auto& one : figures.baselines) {
    std::vector<Value> row{one.name, whole(one.problems)};
    for (const double fast : one.fast) row.push_back(one.problems > 0 ? share(fast) : Value{});
    row.push_back(times_or_nothing(one.mean));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Curve solved_curve(const SuiteFigures& figures) {
  Curve curve{"solved",
              "Problems with a verified kernel, over the seconds of their own budget",
              "seconds of a problem's budget",
              "problems",
              {},
              figures.problems,
              figures.longest_seconds};
  for (const auto& step : figures.solved) curve.steps.push_back({step.seconds, step.solved});
  return curve;
}

std::string note_of(const SuiteRow& row) {
  std::string note = row.message;
  if (row.as_kernelbench) note += "; " + kernelbench_words(row) + " by KernelBench's rule";
  for (const auto& remark : row.remarks) note += (note.empty() ? "" : "; ") + remark;
  return on_one_line(note);
}

Table problems_table(const SuiteState& state, std::span<const SuiteBaseline> others) {
  Table table{"problems", "Every problem; its name leads to the report of its run", {}, {}, "No problem."};
  table.columns = {{"problem", "Problem"},
                   {"status", "Result"},
                   {"time", "Time", true},
                   {"plain", "Plain", true},
                   {"over_plain", "Over plain", true}};
  for (const auto& other : others) table.columns.push_back({"over_" + other.name, "Over " + other.name, true});
  table.columns.push_back({"first_correct", "First correct", true});
  table.columns.push_back({"candidates", "Kernels", true});
  table.columns.push_back({"note", "Note"});
  for (const auto& row : state.rows) {
    std::vector<Value> cells{row.item.name, std::string(to_string(row.status)),
                             time_or_nothing(row.best_ns, row.best_ci_ns), time_or_nothing(row.plain_ns, {}),
                             times_or_nothing(row.speedup, row.speedup_ci)};
    for (const auto& other : others) cells.push_back(times_or_nothing(speedup_over(row, other)));
    cells.push_back(seconds_or_nothing(row.first_correct_seconds));
    cells.push_back(whole(row.used.candidates));
    const std::string note = note_of(row);
    cells.push_back(note.empty() ? Value{} : Value{note});
    table.rows.push_back(std::move(cells));
    table.links.push_back(row.run_id.empty() ? "" : SuiteDirectory::report_link(row.run_id));
  }
  return table;
}

Notes unscorable_notes(const SuiteState& state) {
  Notes notes{"unscorable", "Problems that cannot be scored, by both rules", {}};
  for (const auto& row : state.rows) {
    if (row.status != SuiteStatus::unscorable) continue;
    notes.items.push_back(fmt::format("{}: {} by KernelBench's rule; here: {}", row.item.name, kernelbench_words(row),
                                      on_one_line(row.message)));
  }
  return notes;
}

/// Those that problems ran on, or else those that were asked for.
std::string devices_of(const SuiteState& state) {
  std::set<std::string> devices;
  for (const auto& row : state.rows) {
    if (!row.device.empty()) devices.insert(row.device);
  }
  if (!devices.empty()) return join(devices);
  return join(state.settings.devices, ", ", [](const auto& one) { return one.empty() ? "the first" : one; });
}

Facts setup_facts(const SuiteState& state) {
  const SuiteSettings& settings = state.settings;
  const auto text = [](const std::string& value, const char* otherwise) { return value.empty() ? otherwise : value; };
  return {
      "suite",
      "The suite",
      {{"devices", "Devices", devices_of(state)},
       {"target", "Target", settings.target},
       {"style", "Style", text(settings.style, "the fastest of each problem")},
       {"mode", "Mode of modules", settings.mode},
       {"precision", "Precision of modules", settings.precision},
       {"per_problem", "Budget of each problem", text(settings.budget_per_problem, "no limit of its own")},
       {"budget", "Budget of all", text(settings.budget, "no limit")},
       {"fit", "Sizes",
        settings.most_steps > 0 ? fmt::format("halved until a plain evaluation takes {:g} steps", settings.most_steps)
                                : std::string("as the files say, where they fit the memory")},
       {"elapsed", "Took", Number{state.elapsed_seconds, Unit::seconds, {}}}}};
}

Notes meaning(const SuiteFigures& figures, const std::string& precision) {
  Notes notes{"meaning", "What the figures say", {}};
  notes.items.emplace_back(
      "Solved: a kernel passed every gate of the verifier. Shares are of all problems, also of those that failed or "
      "cannot be scored.");
  notes.items.emplace_back(
      "Times over plain are interleaved pairs in the same run. Times of other baselines were measured elsewhere.");
  if (precision != "strict") {
    notes.items.push_back(
        fmt::format("Precision of modules is {}: these kernels may round what strict ones may not.", precision));
  }
  for (const auto& one : figures.baselines) {
    if (one.smaller == 0) continue;
    notes.items.push_back(fmt::format(
        "{} problems ran at smaller sizes than their files say and are not compared with {}.", one.smaller, one.name));
  }
  return notes;
}

}  // namespace

std::string kernelbench_words(const SuiteRow& row) {
  if (!row.as_kernelbench) return "";
  const KernelBenchVerdict& verdict = *row.as_kernelbench;
  if (!verdict.not_judged.empty()) return "not judged: " + verdict.not_judged;
  return fmt::format("{} ({} of {} trials within the tolerance)", verdict.correct() ? "correct" : "wrong",
                     verdict.passed, verdict.trials);
}

ReportModel build_suite_report(const SuiteState& state, const SuiteFigures& figures,
                               std::span<const SuiteBaseline> others, const std::string& folder) {
  ReportModel model;
  model.made_by = "suite";
  model.run_id = folder;
  model.title = fmt::format("{} problems", figures.problems);
  model.headline = headline(figures);
  model.highlights = {
      {"solved", "Solved", whole(figures.count(SuiteStatus::solved)), fmt::format("of {} problems", figures.problems)},
      {"median", "Median to the first correct kernel", seconds_or_nothing(figures.median_seconds),
       "seconds of a problem's budget"}};
  for (const auto& one : figures.baselines) {
    if (one.problems == 0) continue;
    model.highlights.push_back(
        {"mean_" + one.name, "Speed over " + one.name, times_or_nothing(one.mean), "geometric mean of those solved"});
  }
  model.sections = {{"figures",
                     "What came out",
                     {baselines_table(figures), solved_curve(figures), meaning(figures, state.settings.precision)}},
                    {"problems", "Problems", {problems_table(state, others)}}};
  if (figures.count(SuiteStatus::unscorable) > 0) {
    model.sections.push_back({"unscorable", "Not scored", {unscorable_notes(state)}});
  }
  model.sections.push_back({"setup", "How it was set up", {setup_facts(state)}});
  return model;
}

}  // namespace kw
