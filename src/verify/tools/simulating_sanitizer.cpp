// Sanitizers that are devices themselves: the candidate is built for them and run there.

#include <algorithm>
#include <deque>
#include <iterator>
#include <mutex>

#include "record/time_use.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/checking/source_policy.hpp"
#include "verify/processes/build_deadline.hpp"
#include "verify/tools/oclgrind.hpp"
#include "verify/tools/sanitizer.hpp"

namespace kw {
namespace {

/// Interpreting runs at millions of operations a second, not billions. Of scalar code 2e7 took Oclgrind 40 s a
/// workload, and longer than the deadline on a busy machine. A part of the primary workload is looked at besides the
/// small ones: of 2e6 useful operations, of which a scalar kernel made three times as many, it took 20 s on two busy
/// cores (2026-11-23). For each byte of a buffer it keeps some fifty: 12 MiB took it 0.4 s to start, and 96 MiB ended
/// after 12 s for want of memory, of which nothing was learnt (2026-11-23). So did 125 MiB of a log-softmax after 4 s.
/// Oclgrind had some 4e5 operations a second of a pooling in three dimensions, on two cores that others used too.
constexpr std::int64_t k_most_bytes = std::int64_t{1} << 25;
constexpr SanitizerReach k_simulation_reach{4e6, 2e7, 4e5, k_most_bytes, SliceKind::boxes, 4e5, false, k_most_bytes};
constexpr Duration k_simulation_deadline = std::chrono::seconds(20);

/// What came of compiling for the simulator; neither where that failed.
struct SimulatedBuild {
  std::optional<std::string> binary;
  std::optional<SanitizerFinding>
      finding;  ///< what the program does by which it could tell the simulator from a device
};

/// What one simulation showed.
struct Simulation {
  std::optional<SanitizerFinding> finding;
  std::optional<std::string> failure;  ///< why it did not come to its end
  Duration took{};
};

/// One plan of those that were started, on the inputs of a case.
struct SimulatedPlan {
  std::size_t plan = 0;
  const CheckCase& one;
  const BufferContents* before = nullptr;
};

class SimulatingSanitizer final : public Sanitizer {
 public:
  explicit SimulatingSanitizer(std::unique_ptr<ExecutionBackend> simulator) : simulator_(std::move(simulator)) {}

  [[nodiscard]] std::string name() const override {
    return simulated_gpu() ? "the simulator (" + simulator_->device().id + ")" : simulator_->device().driver;
  }
  [[nodiscard]] SanitizerReach reach() const override { return k_simulation_reach; }
  [[nodiscard]] ExecutionBackend* counting_simulator() override { return simulated_gpu() ? simulator_.get() : nullptr; }

  std::vector<Sanitized> run(const RunFacts& facts, const LoadedCandidate& loaded, const SanitizerWork& work,
                             StepClock& clock) override {
    std::vector<Sanitized> results;
    for (const std::size_t workload : work.workloads) {
      results.push_back(run_on(facts, loaded, workload, clock));
      if (results.back().finding) return results;
    }
    if (!work.slices.empty())
      std::ranges::move(run_slices(facts, loaded, work.slices, clock), std::back_inserter(results));
    return results;
  }

 private:
  std::vector<Sanitized> run_slices(const RunFacts& facts, const LoadedCandidate& loaded,
                                    const std::vector<WatchedSlice>& slices, StepClock& clock);
  [[nodiscard]] bool simulated_gpu() const { return simulator_->device().kind == DeviceKind::simulator; }
  SimulatedBuild build(const RunFacts& facts, const LoadedCandidate& loaded, std::size_t workload,
                       const std::vector<PlannedLaunch>& launches, const StepClock& clock);
  [[nodiscard]] std::optional<std::string> last_build(const Hash& asked);
  void keep_build(const Hash& asked, const std::string& binary);
  tl::expected<StartRequest, SimulatedBuild> build_slices(const RunFacts& facts, const LoadedCandidate& loaded,
                                                          const std::vector<WatchedSlice>& slices,
                                                          const StepClock& clock);
  static Simulation simulate(const RunFacts& facts, ExecutionBackend& backend, LoadedCandidate& simulated,
                             const SimulatedPlan& what, StepClock& clock);
  Sanitized run_on(const RunFacts& facts, const LoadedCandidate& loaded, std::size_t workload, StepClock& clock);
  /// What it can be asked on any kernel; null where the same backend is.
  [[nodiscard]] ExecutionBackend* for_vectors(const Candidate& candidate) {
    ExecutionBackend* fewer = simulator_->with_fewer_checks();
    return fewer == nullptr || uninitialised_findings_hold(candidate.bundle.source) ? nullptr : fewer;
  }
  [[nodiscard]] std::string all_checks() const {
    return fmt::format("{}, uninitialised {}", k_always, simulated_gpu() ? "shared memory" : "values");
  }
  [[nodiscard]] Sanitized result_of(std::size_t workload, Simulation simulation, std::string_view checks) const;

  static Sanitized not_built(std::size_t workload, SimulatedBuild failed) {
    const bool checked = failed.finding.has_value();
    return {workload, std::move(failed.finding), "not sanitized: the simulator could not build it", checked};
  }

  static constexpr std::string_view k_always = "bounds, races, barriers";
  std::unique_ptr<ExecutionBackend> simulator_;
  std::mutex mutex_;
  std::deque<std::pair<Hash, std::string>> last_builds_;  ///< requests and binaries
};

/// For these launches of that workload. Where workloads differ in nothing that a compiler sees, one build serves all.
SimulatedBuild SimulatingSanitizer::build(const RunFacts& facts, const LoadedCandidate& loaded, std::size_t workload,
                                          const std::vector<PlannedLaunch>& launches, const StepClock& clock) {
  const auto compiling = clock.doing(time_activity::compiling);
  const auto& candidate = loaded.candidate;
  const auto definitions = build_definitions(candidate, facts.problem.workloads[workload].axes, facts.device());
  if (!definitions) return {};
  const Bundle& bundle = candidate.bundle;
  BuildRequest request{simulator_->device().id,
                       guarded_source(bundle.source, bundle.target, *definitions),
                       {},
                       simulated_gpu() ? launch_shapes(launches) : launches};
  request.definitions.assign(definitions->begin(), definitions->end());
  const Hash asked = hash_bytes(encode(HostMessage(request)));
  if (auto known = last_build(asked)) return {std::move(known), std::nullopt};
  auto built = simulator_->build(request, build_deadline(clock, facts.options.deadlines.build), candidate.origin);
  auto* reply = std::get_if<BuildReply>(&built);
  if (reply != nullptr && reply->status == BuildStatus::forbidden) {
    return {std::nullopt, finding_of_build(reply->log)};
  }
  if (reply == nullptr || reply->status != BuildStatus::ok) return {};
  keep_build(asked, reply->binary);
  return {std::move(reply->binary), std::nullopt};
}

std::optional<std::string> SimulatingSanitizer::last_build(const Hash& asked) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(last_builds_, asked, &std::pair<Hash, std::string>::first);
  return known == last_builds_.end() ? std::nullopt : std::optional(known->second);
}

void SimulatingSanitizer::keep_build(const Hash& asked, const std::string& binary) {
  constexpr std::size_t k_of_a_candidate = 3;
  const std::lock_guard lock(mutex_);
  last_builds_.emplace_back(asked, binary);
  if (last_builds_.size() > k_of_a_candidate) last_builds_.pop_front();
}

/// One plan per slice. Groups of OpenCL know their grid by a number in the text, so each grid is a build; of a
/// simulated GPU one build serves all.
tl::expected<StartRequest, SimulatedBuild> SimulatingSanitizer::build_slices(const RunFacts& facts,
                                                                             const LoadedCandidate& loaded,
                                                                             const std::vector<WatchedSlice>& slices,
                                                                             const StepClock& clock) {
  StartRequest start;
  std::vector<std::vector<PlannedLaunch>> builds;
  for (const auto& [slice, before] : slices) {
    const auto& launches = slice.plan.launches;
    const auto same = std::ranges::find_if(builds, [&](const std::vector<PlannedLaunch>& build) {
      return simulated_gpu() || std::ranges::equal(build.front().grid, launches.front().grid);
    });
    start.plans.push_back({slice.plan, static_cast<std::size_t>(same - builds.begin())});
    auto& build = same == builds.end() ? builds.emplace_back() : *same;
    build.insert(build.end(), launches.begin(), launches.end());
  }
  for (const auto& launches : builds) {
    // All of a GPU's, also those without a slice: so the build may be that of a whole workload.
    const auto& all = simulated_gpu() ? loaded.built.plans.front().plan.launches : launches;
    auto built = build(facts, loaded, 0, all, clock);
    if (!built.binary) return tl::unexpected(std::move(built));
    start.binaries.push_back(*std::move(built.binary));
  }
  return start;
}

/// In the process that is there, or in a new one; after a failure there is none.
Simulation SimulatingSanitizer::simulate(const RunFacts& facts, ExecutionBackend& backend, LoadedCandidate& simulated,
                                         const SimulatedPlan& what, StepClock& clock) {
  Simulation simulation;
  if (!simulated.process) {
    const StepTimeout starting = clock.timeout(facts.options.deadlines.start);
    const auto spending = clock.doing(time_activity::starting);
    auto started = backend.start(simulated.built, starting.time);
    auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
    if (process == nullptr) {
      simulation.failure = starting.ends_budget ? k_budget_ended : "it does not start";
      return simulation;
    }
    simulated.process = std::move(*process);
  }
  const StepTimeout running = clock.timeout(k_simulation_deadline);
  const CaseMode mode{false, k_nan_poison, running.time, running.ends_budget, what.before};
  const auto run = run_plan(facts.problem, simulated, what.plan, what.one, mode, clock);
  simulation.finding = first_finding(simulated.process->output());
  if (run) {
    simulation.took = Duration(run->time.observed_ns);
    return simulation;
  }
  if (run.error().reason == Reason::sanitizer_report) {
    simulation.finding = SanitizerFinding{"the simulator found " + run.error().detail, false};
  }
  simulation.failure = run.error().sentence;
  simulated.process.reset();
  return simulation;
}

Sanitized SimulatingSanitizer::result_of(std::size_t workload, Simulation simulation, std::string_view checks) const {
  Sanitized result;
  result.workload = workload;
  result.checked = !simulation.failure || simulation.finding;
  result.took = simulation.took;
  const std::string_view by = simulated_gpu() ? "by the simulator" : "checked";
  result.note = simulation.failure ? "not simulated to the end: " + *simulation.failure
                                   : fmt::format("no finding ({}: {})", by, checks);
  result.finding = std::move(simulation.finding);
  return result;
}

/// With all checks first; where the tool fails at them, or its finding is not to be trusted, again with those that it
/// can make on every kernel.
Sanitized SimulatingSanitizer::run_on(const RunFacts& facts, const LoadedCandidate& loaded, std::size_t workload,
                                      StepClock& clock) {
  const auto& candidate = loaded.candidate;
  const LaunchPlan& plan = loaded.built.plans[workload].plan;
  auto simulator_build = build(facts, loaded, workload, plan.launches, clock);
  if (!simulator_build.binary) return not_built(workload, std::move(simulator_build));
  const StartRequest built{{*std::move(simulator_build.binary)}, {BuiltPlan{plan, 0}}};
  const SimulatedPlan what{0, case_of(facts.suite, workload)};
  LoadedCandidate simulated{candidate, built, nullptr};
  // A finding that would not be trusted is not worth looking for: the two runs differ in nothing else.
  if (ExecutionBackend* only = for_vectors(candidate)) {
    return result_of(workload, simulate(facts, *only, simulated, what, clock),
                     fmt::format("{}; not uninitialised values, which the simulator misjudges in vectors", k_always));
  }
  Simulation simulation = simulate(facts, *simulator_, simulated, what, clock);
  ExecutionBackend* fewer = simulator_->with_fewer_checks();
  if (fewer == nullptr || simulation.finding || !simulation.failure) {
    return result_of(workload, std::move(simulation), all_checks());
  }
  LoadedCandidate again{candidate, built, nullptr};
  return result_of(workload, simulate(facts, *fewer, again, what, clock),
                   fmt::format("{}; not uninitialised values, at which the simulator fails", k_always));
}

std::vector<Sanitized> SimulatingSanitizer::run_slices(const RunFacts& facts, const LoadedCandidate& loaded,
                                                       const std::vector<WatchedSlice>& slices, StepClock& clock) {
  auto built = build_slices(facts, loaded, slices, clock);
  if (!built) {
    Sanitized failed = not_built(0, std::move(built.error()));
    failed.slice = 0;
    return {std::move(failed)};
  }
  LoadedCandidate simulated{loaded.candidate, *std::move(built), nullptr};
  // Without uninitialised values: to Oclgrind all scratch is uninitialised that this process did not write, and here
  // earlier launches wrote it elsewhere.
  ExecutionBackend* fewer = simulator_->with_fewer_checks();
  ExecutionBackend& backend = fewer != nullptr ? *fewer : *simulator_;
  std::vector<Sanitized> results;
  for (std::size_t i = 0; i < slices.size() && !clock.out_of_time(); ++i) {
    const BufferContents* before = slices[i].before.empty() ? nullptr : &slices[i].before;
    results.push_back(result_of(0, simulate(facts, backend, simulated, {i, case_of(facts.suite, 0), before}, clock),
                                fewer != nullptr ? std::string(k_always) : all_checks()));
    results.back().slice = i;
    if (results.back().finding) break;
  }
  return results;
}

}  // namespace

std::unique_ptr<Sanitizer> simulating_sanitizer(std::unique_ptr<ExecutionBackend> simulator) {
  return std::make_unique<SimulatingSanitizer>(std::move(simulator));
}

}  // namespace kw
