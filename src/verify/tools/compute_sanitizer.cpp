#include "verify/tools/compute_sanitizer.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "record/time_use.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/tools/gpu_tool_probe.hpp"

namespace kw {
namespace {

/// racecheck slows a kernel down by some hundreds; a GPU has billions of operations to spare.
/// CUDA has no launch that begins at another block than the first: of a larger primary the first ones are looked at,
/// and the simulator looks at others.
constexpr SanitizerReach k_sanitizer_reach{
    1e9, 1e10, 1e9, std::int64_t{1} << 28, SliceKind::smaller, std::numeric_limits<double>::infinity(), true};
constexpr Duration k_sanitized_launch_deadline = std::chrono::seconds(20);
constexpr Duration k_sanitizer_end_deadline = std::chrono::seconds(20);
constexpr std::size_t k_max_sanitizer_finding_chars = 300;
constexpr std::size_t k_max_finding_lines = 4;
constexpr std::string_view k_line_start = "=========";

std::string printable_line(std::string_view text) {
  std::string line = on_one_line(text);
  std::erase_if(line, [](char c) { return c < ' ' || c > '~'; });
  return line;
}

/// What the tool says of itself, and not of the kernel.
bool about_the_tool(std::string_view text) {
  for (const std::string_view start : {"COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK SUMMARY", "Error: Target app",
                                       "Error: No attach", "Internal", "Warning", "Default timeout", "Target app"}) {
    if (text.starts_with(start)) return true;
  }
  return text.empty();
}

/// Lines of the tool without its prefix; others are left out.
std::vector<std::string_view> tool_lines(std::string_view report) {
  std::vector<std::string_view> lines;
  while (!report.empty()) {
    const std::size_t end = std::min(report.find('\n'), report.size() - 1);
    std::string_view line = report.substr(0, end + 1);
    report.remove_prefix(end + 1);
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (!line.starts_with(k_line_start)) continue;
    line.remove_prefix(k_line_start.size());
    if (line.starts_with(' ')) line.remove_prefix(1);
    lines.push_back(line);
  }
  return lines;
}

/// The plans of these workloads; nothing, which needs no memory, in the place of the others.
StartRequest only(const StartRequest& built, const std::vector<std::size_t>& workloads) {
  StartRequest some{built.binaries, {}};
  some.plans.resize(built.plans.size());
  for (const std::size_t workload : workloads) some.plans[workload] = built.plans[workload];
  return some;
}

/// A plan of those that are started, and what it runs on.
struct WatchedPlan {
  std::size_t plan = 0;
  std::size_t workload = 0;
  const BufferContents* before = nullptr;  ///< null: poison
  std::optional<std::size_t> slice = {};   ///< as in Sanitized
};

/// What one tool came to.
struct PassResult {
  std::optional<SanitizerFinding> finding;
  std::size_t last = 0;  ///< index into the plans: where it was found, or the last one run
  std::string failure;   ///< why it did not come to its end; empty when it did
};

class ComputeSanitizer final : public Sanitizer {
 public:
  ComputeSanitizer(const std::string& version, std::vector<SanitizerPass> passes)
      : name_(version.empty() ? "compute-sanitizer" : "compute-sanitizer " + version), passes_(std::move(passes)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] SanitizerReach reach() const override { return k_sanitizer_reach; }
  std::vector<Sanitized> run(const RunFacts& facts, const LoadedCandidate& loaded, const SanitizerWork& work,
                             StepClock& clock) override;

 private:
  std::vector<Sanitized> run_all(const RunFacts& facts, const Candidate& candidate, const StartRequest& built,
                                 const std::vector<WatchedPlan>& plans, StepClock& clock);
  static PassResult run_pass(const RunFacts& facts, LoadedCandidate loaded, const std::vector<WatchedPlan>& plans,
                             const SanitizerPass& pass, StepClock& clock);
  [[nodiscard]] std::string note(const std::vector<std::string>& done, const std::vector<std::string>& failed) const;

  std::string name_;
  std::vector<SanitizerPass> passes_;
};

PassResult ComputeSanitizer::run_pass(const RunFacts& facts, LoadedCandidate loaded,
                                      const std::vector<WatchedPlan>& plans, const SanitizerPass& pass,
                                      StepClock& clock) {
  PassResult result;
  // What fails as the budget ends may have failed for that.
  const auto fail_with = [&](const StepTimeout& timeout, std::string why) {
    if (timeout.ends_budget) clock.hit_deadline();
    result.failure = std::move(why);
  };
  const StepTimeout starting = clock.timeout(facts.options.deadlines.start);
  auto started = pass.backend->start(loaded.built, starting.time);
  if (auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started)) {
    loaded.process = std::move(*process);
  } else {
    fail_with(starting, "it does not start");
    return result;
  }
  for (std::size_t i = 0; i < plans.size() && result.failure.empty(); ++i) {
    result.last = i;
    const StepTimeout running = clock.timeout(k_sanitized_launch_deadline);
    const auto run = run_plan(facts.problem, loaded, plans[i].plan, case_of(facts.suite, plans[i].workload),
                              {false, k_nan_poison, running.time, running.ends_budget, plans[i].before}, clock,
                              facts.options.parallel);
    if (!run) result.failure = run.error().sentence;
    if (first_tool_finding(loaded.process->tool_report().text)) break;
  }
  const StepTimeout ending = clock.timeout(k_sanitizer_end_deadline);
  const ToolReport report = loaded.process->finish(ending.time);
  if (report.exit_status == k_sanitizer_found) {
    const auto text = first_tool_finding(report.text);
    result.finding =
        SanitizerFinding{pass.tool + ": " + text.value_or("an error, of which nothing more is said"), false};
  } else if (report.exit_status != 0 && result.failure.empty()) {
    if (report.exit_status) {
      result.failure = fmt::format("exit status {}", *report.exit_status);
    } else {
      fail_with(ending, "it does not end");
    }
  }
  return result;
}

std::string ComputeSanitizer::note(const std::vector<std::string>& done, const std::vector<std::string>& failed) const {
  std::string text = done.empty() ? "not sanitized" : fmt::format("no finding ({}: {})", name_, fmt::join(done, ", "));
  for (const std::string& one : failed) text += "; " + one;
  return text;
}

std::vector<Sanitized> ComputeSanitizer::run_all(const RunFacts& facts, const Candidate& candidate,
                                                 const StartRequest& built, const std::vector<WatchedPlan>& plans,
                                                 StepClock& clock) {
  // Each takes seconds to start and to end, all of them together not much longer.
  for (const SanitizerPass& pass : passes_) pass.backend->prepare();
  std::vector<PassResult> passed(passes_.size());
  std::vector<StepClock> clocks(passes_.size(), clock.beside());
  {
    const auto watching = clock.doing(time_activity::tool);
    facts.options.parallel(std::ssize(passes_), [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      passed[at] = run_pass(facts, {candidate, built, nullptr}, plans, passes_[at], clocks[at]);
    });
  }
  for (const StepClock& one : clocks) {
    clock.add_device_seconds(one.device_seconds());
    if (one.deadline_hit()) clock.hit_deadline();
  }
  std::vector<std::string> done;
  std::vector<std::string> failed;
  const auto without_finding = [&](const WatchedPlan& plan) {
    return Sanitized{plan.workload, std::nullopt, note(done, failed), !done.empty(), {}, plan.slice};
  };
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    PassResult& result = passed[i];
    if (result.finding) {
      std::vector<Sanitized> results;
      for (std::size_t k = 0; k < result.last; ++k) results.push_back(without_finding(plans[k]));
      const WatchedPlan& guilty = plans[result.last];
      results.push_back({guilty.workload, std::move(result.finding), "", true, {}, guilty.slice});
      return results;
    }
    if (result.failure.empty()) {
      done.push_back(passes_[i].tool);
    } else {
      failed.push_back(fmt::format("{} did not come to its end: {}", passes_[i].tool, result.failure));
    }
  }
  std::vector<Sanitized> results;
  for (const WatchedPlan& plan : plans) results.push_back(without_finding(plan));
  return results;
}

/// Slices first: a finding that the tool tells late, at its end, is taken for the last plan's, and most small workloads
/// are held out, so that less is said of it.
std::vector<Sanitized> ComputeSanitizer::run(const RunFacts& facts, const LoadedCandidate& loaded,
                                             const SanitizerWork& work, StepClock& clock) {
  StartRequest built = only(loaded.built, work.workloads);
  std::vector<WatchedPlan> plans;
  for (std::size_t i = 0; i < work.slices.size(); ++i) {
    const WatchedSlice& watched = work.slices[i];
    plans.push_back({built.plans.size(), 0, watched.before.empty() ? nullptr : &watched.before, i});
    built.plans.push_back({watched.slice.plan, loaded.built.plans.front().binary});
  }
  for (const std::size_t workload : work.workloads) plans.push_back({workload, workload});
  return run_all(facts, loaded.candidate, built, plans, clock);
}

Result<std::unique_ptr<ExecutionBackend>> open_pass(const BackendOptions& options, const ExecutionBackend& backend,
                                                    const std::filesystem::path& program, const std::string& tool) {
  BackendOptions watched = options;
  watched.tool = compute_sanitizer(program, tool);
  return open_watched_backend(watched, backend);
}

}  // namespace

std::optional<std::string> first_tool_finding(const std::string& report) {
  std::string text;
  std::size_t lines = 0;
  for (const std::string_view line : tool_lines(report)) {
    const bool begins = !line.starts_with(' ');
    if (text.empty() && (!begins || about_the_tool(line))) continue;
    // The end of the finding: another begins, or the tool goes on about the host.
    if (!text.empty() && (begins || trimmed(line).starts_with("Saved host") || lines == k_max_finding_lines)) break;
    text += (text.empty() ? "" : "; ") + printable_line(line);
    ++lines;
  }
  if (text.empty()) return std::nullopt;
  return text.substr(0, k_max_sanitizer_finding_chars);
}

std::unique_ptr<Sanitizer> compute_sanitizer_over(const std::string& version, std::vector<SanitizerPass> passes) {
  return std::make_unique<ComputeSanitizer>(version, std::move(passes));
}

Result<std::unique_ptr<Sanitizer>> open_compute_sanitizer(const BackendOptions& options, ExecutionBackend& backend) {
  const auto program = find_gpu_tool("compute-sanitizer");
  if (!program) {
    return fail(Error{errc::gpu_tool, "compute-sanitizer is not installed",
                      "it comes with the CUDA toolkit; set CUDA_HOME or PATH if it lies elsewhere"});
  }
  std::vector<SanitizerPass> passes;
  for (const char* tool : {"memcheck", "racecheck", "synccheck"}) {
    KW_TRY(auto watched, open_pass(options, backend, *program, tool));
    passes.push_back({tool, std::move(watched)});
  }
  KW_TRY(const ToolReport report, launch_planted_mistake(backend, *passes.front().backend));
  if (report.exit_status != k_sanitizer_found) {
    const auto lines = tool_lines(report.text);
    const auto said =
        std::find_if(lines.begin(), lines.end(), [](std::string_view line) { return line.starts_with("Error"); });
    return fail(errc::gpu_tool, "compute-sanitizer does not find a planted mistake here{}{}",
                said == lines.end() ? "" : ": ", said == lines.end() ? "" : printable_line(*said));
  }
  return compute_sanitizer_over(gpu_tool_version(*program), std::move(passes));
}

}  // namespace kw
