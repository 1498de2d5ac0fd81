// Sanitizers that are devices themselves: the candidate is built for them and run there.

#include "verify/case_runner.hpp"
#include "verify/oclgrind.hpp"
#include "verify/sanitizer.hpp"
#include "verify/session.hpp"

namespace kw {
namespace {

/// Interpreting runs at millions of operations a second, not billions. Of scalar code 2e7 took Oclgrind 40 s a
/// workload, and longer than the deadline on a busy machine.
constexpr SanitizerReach k_reach{4e6, 2e7};
constexpr Duration k_deadline = std::chrono::seconds(20);

/// What one simulation showed.
struct Simulation {
  std::optional<SanitizerFinding> finding;
  std::optional<std::string> failure;  ///< why it did not come to its end
};

class SimulatingSanitizer final : public Sanitizer {
 public:
  explicit SimulatingSanitizer(std::unique_ptr<Workbench> simulator) : simulator_(std::move(simulator)) {}

  [[nodiscard]] std::string name() const override {
    return simulated_gpu() ? "the simulator (" + simulator_->device().id + ")" : simulator_->device().driver;
  }
  [[nodiscard]] SanitizerReach reach() const override { return k_reach; }

  std::vector<Sanitized> run(Session& session, const Trial& trial, const std::vector<std::size_t>& workloads) override {
    std::vector<Sanitized> results;
    for (const std::size_t workload : workloads) {
      results.push_back(run_on(session, trial, workload));
      if (results.back().finding) break;
    }
    return results;
  }

 private:
  [[nodiscard]] bool simulated_gpu() const { return simulator_->device().kind == DeviceKind::simulator; }
  std::optional<StartRequest> build(Session& session, const Trial& trial, std::size_t workload);
  static Simulation simulate(Session& session, Workbench& bench, const Candidate& candidate, const StartRequest& built,
                             std::size_t workload);
  Sanitized run_on(Session& session, const Trial& trial, std::size_t workload);

  std::unique_ptr<Workbench> simulator_;
};

/// Compiled for the simulator; nothing when that failed.
std::optional<StartRequest> SimulatingSanitizer::build(Session& session, const Trial& trial, std::size_t workload) {
  const auto& candidate = trial.contender.candidate;
  const auto& plan = trial.contender.built.plans[workload].plan;
  const auto definitions =
      build_definitions(candidate, session.problem.workloads[workload].axes, session.options.device);
  if (!definitions) return std::nullopt;
  BuildRequest request{simulator_->device().id, candidate.bundle.source, {}, plan.launches};
  request.definitions.assign(definitions->begin(), definitions->end());
  auto built = simulator_->build(request, session.options.deadlines.build);
  auto* reply = std::get_if<BuildReply>(&built);
  if (reply == nullptr || reply->status != BuildStatus::ok) return std::nullopt;
  StartRequest start;
  start.binaries.push_back(std::move(reply->binary));
  // run_case selects plans by workload.
  start.plans.assign(workload + 1, BuiltPlan{plan, 0});
  return start;
}

Simulation SimulatingSanitizer::simulate(Session& session, Workbench& bench, const Candidate& candidate,
                                         const StartRequest& built, std::size_t workload) {
  Contender contender;
  contender.candidate = candidate;
  contender.built = built;
  auto started = bench.start(contender.built, session.options.deadlines.start);
  auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
  if (process == nullptr) return {std::nullopt, "it does not start"};
  contender.process = std::move(*process);
  const auto run = run_case(session, contender, case_of(session, workload), {false, k_nan_poison, k_deadline});
  Simulation simulation;
  simulation.finding = first_finding(contender.process->output());
  if (!run && run.error().reason == Reason::sanitizer_report) {
    simulation.finding = SanitizerFinding{"the simulator found " + run.error().detail, false};
  }
  if (!run) simulation.failure = run.error().sentence;
  return simulation;
}

/// With all checks first; where the tool fails at them, or its finding is not to be trusted, again with those that it
/// can make on every kernel.
Sanitized SimulatingSanitizer::run_on(Session& session, const Trial& trial, std::size_t workload) {
  constexpr std::string_view k_always = "bounds, races, barriers";
  const auto& candidate = trial.contender.candidate;
  Sanitized result;
  result.workload = workload;
  const auto built = build(session, trial, workload);
  if (!built) {
    result.note = "not sanitized: the simulator could not build it";
    return result;
  }
  Workbench* fewer = simulator_->with_fewer_checks();
  // A finding that would not be trusted is not worth looking for: the two runs differ in nothing else.
  const bool misjudged = fewer != nullptr && !uninitialised_findings_hold(candidate.bundle.source);
  Simulation simulation = simulate(session, misjudged ? *fewer : *simulator_, candidate, *built, workload);
  std::string checks = fmt::format("{}, uninitialised {}", k_always, simulated_gpu() ? "shared memory" : "values");
  if (misjudged) {
    checks = fmt::format("{}; not uninitialised values, which the simulator misjudges in vectors", k_always);
  } else if (fewer != nullptr && !simulation.finding && simulation.failure) {
    simulation = simulate(session, *fewer, candidate, *built, workload);
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

std::unique_ptr<Sanitizer> simulating_sanitizer(std::unique_ptr<Workbench> simulator) {
  return std::make_unique<SimulatingSanitizer>(std::move(simulator));
}

}  // namespace kw
