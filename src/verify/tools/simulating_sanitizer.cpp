// Sanitizers that are devices themselves: the candidate is built for them and run there.

#include "record/time_use.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/checking/source_policy.hpp"
#include "verify/tools/oclgrind.hpp"
#include "verify/tools/sanitizer.hpp"

namespace kw {
namespace {

/// Interpreting runs at millions of operations a second, not billions. Of scalar code 2e7 took Oclgrind 40 s a
/// workload, and longer than the deadline on a busy machine. A part of the primary workload is looked at besides the
/// small ones: of 2e6 useful operations, of which a scalar kernel made three times as many, it took 20 s on two busy
/// cores (2026-11-23). For each byte of a buffer it keeps some fifty: 12 MiB took it 0.4 s to start, and 96 MiB ended
/// after 12 s for want of memory, of which nothing was learnt (2026-11-23).
/// Oclgrind had some 4e5 operations a second of a pooling in three dimensions, on two cores that others used too.
constexpr SanitizerReach k_simulation_reach{4e6, 2e7, 4e5, std::int64_t{1} << 25, 4e5};
constexpr Duration k_simulation_deadline = std::chrono::seconds(20);

/// What one simulation showed.
struct Simulation {
  std::optional<SanitizerFinding> finding;
  std::optional<std::string> failure;  ///< why it did not come to its end
};

class SimulatingSanitizer final : public Sanitizer {
 public:
  explicit SimulatingSanitizer(std::unique_ptr<ExecutionBackend> simulator) : simulator_(std::move(simulator)) {}

  [[nodiscard]] std::string name() const override {
    return simulated_gpu() ? "the simulator (" + simulator_->device().id + ")" : simulator_->device().driver;
  }
  [[nodiscard]] SanitizerReach reach() const override { return k_simulation_reach; }
  [[nodiscard]] ExecutionBackend* counting_simulator() override { return simulated_gpu() ? simulator_.get() : nullptr; }

  std::vector<Sanitized> run(const RunFacts& facts, const LoadedCandidate& loaded,
                             const std::vector<std::size_t>& workloads, StepClock& clock) override {
    std::vector<Sanitized> results;
    for (const std::size_t workload : workloads) {
      results.push_back(run_on(facts, loaded, workload, clock));
      if (results.back().finding) break;
    }
    return results;
  }

 private:
  [[nodiscard]] bool simulated_gpu() const { return simulator_->device().kind == DeviceKind::simulator; }
  std::optional<StartRequest> build(const RunFacts& facts, const LoadedCandidate& loaded, std::size_t workload,
                                    const StepClock& clock);
  static Simulation simulate(const RunFacts& facts, ExecutionBackend& backend, LoadedCandidate simulated,
                             std::size_t workload, StepClock& clock);
  Sanitized run_on(const RunFacts& facts, const LoadedCandidate& loaded, std::size_t workload, StepClock& clock);

  std::unique_ptr<ExecutionBackend> simulator_;
};

/// Compiled for the simulator; nothing when that failed.
std::optional<StartRequest> SimulatingSanitizer::build(const RunFacts& facts, const LoadedCandidate& loaded,
                                                       std::size_t workload, const StepClock& clock) {
  const auto& candidate = loaded.candidate;
  const auto& plan = loaded.built.plans[workload].plan;
  const auto definitions = build_definitions(candidate, facts.problem.workloads[workload].axes, facts.device());
  if (!definitions) return std::nullopt;
  const Bundle& bundle = candidate.bundle;
  BuildRequest request{
      simulator_->device().id, guarded_source(bundle.source, bundle.target, *definitions), {}, plan.launches};
  request.definitions.assign(definitions->begin(), definitions->end());
  auto built = simulator_->build(request, clock.timeout(facts.options.deadlines.build).time);
  auto* reply = std::get_if<BuildReply>(&built);
  if (reply == nullptr || reply->status != BuildStatus::ok) return std::nullopt;
  StartRequest start;
  start.binaries.push_back(std::move(reply->binary));
  // run_case selects plans by workload.
  start.plans.assign(workload + 1, BuiltPlan{plan, 0});
  return start;
}

Simulation SimulatingSanitizer::simulate(const RunFacts& facts, ExecutionBackend& backend, LoadedCandidate simulated,
                                         std::size_t workload, StepClock& clock) {
  const StepTimeout starting = clock.timeout(facts.options.deadlines.start);
  auto started = [&] {
    const auto spending = clock.doing(time_activity::starting);
    return backend.start(simulated.built, starting.time);
  }();
  auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
  if (process == nullptr) return {std::nullopt, starting.ends_budget ? k_budget_ended : "it does not start"};
  simulated.process = std::move(*process);
  const StepTimeout running = clock.timeout(k_simulation_deadline);
  const auto run = run_case(facts.problem, simulated, case_of(facts.suite, workload),
                            {false, k_nan_poison, running.time, running.ends_budget}, clock);
  Simulation simulation;
  simulation.finding = first_finding(simulated.process->output());
  if (!run && run.error().reason == Reason::sanitizer_report) {
    simulation.finding = SanitizerFinding{"the simulator found " + run.error().detail, false};
  }
  if (!run) simulation.failure = run.error().sentence;
  return simulation;
}

/// With all checks first; where the tool fails at them, or its finding is not to be trusted, again with those that it
/// can make on every kernel.
Sanitized SimulatingSanitizer::run_on(const RunFacts& facts, const LoadedCandidate& loaded, std::size_t workload,
                                      StepClock& clock) {
  constexpr std::string_view k_always = "bounds, races, barriers";
  const auto& candidate = loaded.candidate;
  Sanitized result;
  result.workload = workload;
  const auto built = [&] {
    const auto compiling = clock.doing(time_activity::compiling);
    return build(facts, loaded, workload, clock);
  }();
  if (!built) {
    result.note = "not sanitized: the simulator could not build it";
    return result;
  }
  ExecutionBackend* fewer = simulator_->with_fewer_checks();
  // A finding that would not be trusted is not worth looking for: the two runs differ in nothing else.
  const bool misjudged = fewer != nullptr && !uninitialised_findings_hold(candidate.bundle.source);
  Simulation simulation =
      simulate(facts, misjudged ? *fewer : *simulator_, {candidate, *built, nullptr}, workload, clock);
  std::string checks = fmt::format("{}, uninitialised {}", k_always, simulated_gpu() ? "shared memory" : "values");
  if (misjudged) {
    checks = fmt::format("{}; not uninitialised values, which the simulator misjudges in vectors", k_always);
  } else if (fewer != nullptr && !simulation.finding && simulation.failure) {
    simulation = simulate(facts, *fewer, {candidate, *built, nullptr}, workload, clock);
    checks = fmt::format("{}; not uninitialised values, at which the simulator fails", k_always);
  }
  result.finding = std::move(simulation.finding);
  result.checked = !simulation.failure || result.finding;
  const std::string_view by = simulated_gpu() ? "by the simulator" : "checked";
  result.note = simulation.failure ? "not simulated to the end: " + *simulation.failure
                                   : fmt::format("no finding ({}: {})", by, checks);
  return result;
}

}  // namespace

std::unique_ptr<Sanitizer> simulating_sanitizer(std::unique_ptr<ExecutionBackend> simulator) {
  return std::make_unique<SimulatingSanitizer>(std::move(simulator));
}

}  // namespace kw
