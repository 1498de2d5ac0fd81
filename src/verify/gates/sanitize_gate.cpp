// Gate 5, sanitize: a candidate that would become the best runs on a simulating device on the smallest workloads, and
// any finding rejects it. Outputs are not judged here; the check gate did that on the device itself.

#include <algorithm>

#include "verify/case_runner.hpp"
#include "verify/gates/gate.hpp"
#include "verify/oclgrind.hpp"

namespace kw {
namespace {

constexpr std::size_t k_workloads = 2;
/// Interpreting runs at millions of operations a second, not billions: larger workloads are left out. Of scalar code
/// 2e7 took 40 s a workload, and longer than the deadline on a busy machine.
constexpr double k_enough_flops = 4e6;
constexpr double k_most_flops = 2e7;
constexpr Duration k_deadline = std::chrono::seconds(20);

/// Indices of the smallest workloads that are worth simulating.
std::vector<std::size_t> small_workloads(const Problem& problem) {
  std::vector<std::pair<double, std::size_t>> sized;
  for (std::size_t w = 0; w < problem.workloads.size(); ++w) {
    const double flops = cost(problem, problem.workloads[w]).flops;
    if (flops <= k_most_flops) sized.emplace_back(flops, w);
  }
  std::sort(sized.begin(), sized.end());
  // The largest of the small ones: a workload of one row has no tile to leave. Where none is small, the smallest.
  std::vector<std::size_t> chosen;
  for (auto it = sized.rbegin(); it != sized.rend() && chosen.size() < k_workloads; ++it) {
    if (it->first <= k_enough_flops) chosen.push_back(it->second);
  }
  if (chosen.empty() && !sized.empty()) chosen.push_back(sized.front().second);
  return chosen;
}

/// Compiled for the simulator; nothing when that failed.
std::optional<StartRequest> build_simulated(Session& session, Trial& trial, std::size_t workload) {
  Workbench& simulator = *session.options.sanitizer;
  const auto& candidate = trial.contender.candidate;
  const auto& plan = trial.contender.built.plans[workload].plan;
  const auto definitions =
      build_definitions(candidate, session.problem.workloads[workload].axes, session.options.device);
  if (!definitions) return std::nullopt;
  BuildRequest request{simulator.device().id, candidate.bundle.source, {}, plan.launches};
  request.definitions.assign(definitions->begin(), definitions->end());
  auto built = simulator.build(request, session.options.deadlines.build);
  auto* reply = std::get_if<BuildReply>(&built);
  if (reply == nullptr || reply->status != BuildStatus::ok) return std::nullopt;
  StartRequest start;
  start.binaries.push_back(std::move(reply->binary));
  // run_case selects plans by workload.
  start.plans.assign(workload + 1, BuiltPlan{plan, 0});
  return start;
}

const CheckCase& case_of(const Session& session, std::size_t workload) {
  const auto& cases = session.suite.cases();
  return *std::find_if(cases.begin(), cases.end(), [&](const CheckCase& one) { return one.workload == workload; });
}

/// What one simulation showed.
struct Simulation {
  std::optional<SanitizerFinding> finding;
  std::optional<std::string> failure;  ///< why it did not come to its end
};

Simulation simulate_on(Session& session, Workbench& simulator, const Candidate& candidate, const StartRequest& built,
                       std::size_t workload) {
  Contender contender;
  contender.candidate = candidate;
  contender.built = built;
  auto started = simulator.start(contender.built, session.options.deadlines.start);
  auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
  if (process == nullptr) return {std::nullopt, "it does not start"};
  contender.process = std::move(*process);
  const auto run = run_case(session, contender, case_of(session, workload), {false, k_nan_poison, k_deadline});
  Simulation simulation;
  simulation.finding = first_finding(contender.process->output());
  if (!run) simulation.failure = run.error().sentence;
  return simulation;
}

/// False after a rejection. With all checks first; where the tool fails at them, or its finding is not to be trusted,
/// again with those that it can make on every kernel.
bool simulate(Session& session, Trial& trial, std::size_t workload) {
  constexpr std::string_view k_always = "bounds, races, barriers";
  const Workload& simulated = session.problem.workloads[workload];
  const bool hidden = simulated.role == WorkloadRole::held_out;
  const auto& candidate = trial.contender.candidate;
  const auto note = [&](const std::string& text) {
    trial.verdict.note(GateId::sanitize, simulated.name + ": " + text, hidden);
  };
  const auto built = build_simulated(session, trial, workload);
  if (!built) {
    note("not sanitized: the simulator could not build it");
    return true;
  }
  Workbench* fewer = session.options.sanitizer->with_fewer_checks();
  // A finding that would not be trusted is not worth looking for: the two runs differ in nothing else.
  const bool misjudged = fewer != nullptr && !uninitialised_findings_hold(candidate.bundle.source);
  Simulation simulation =
      simulate_on(session, misjudged ? *fewer : *session.options.sanitizer, candidate, *built, workload);
  std::string checks =
      misjudged ? fmt::format("{}; not uninitialised values, which the simulator misjudges in vectors", k_always)
                : fmt::format("{}, uninitialised values", k_always);
  if (!misjudged && fewer != nullptr && !simulation.finding && simulation.failure) {
    simulation = simulate_on(session, *fewer, candidate, *built, workload);
    checks = fmt::format("{}; not uninitialised values, at which the simulator fails", k_always);
  }
  if (simulation.finding) {
    note(simulation.finding->text);
    trial.verdict.reject(GateId::sanitize, Reason::sanitizer_report,
                         hidden ? "a sanitizer finding" : simulation.finding->text);
    return false;
  }
  note(simulation.failure ? "not simulated to the end: " + *simulation.failure
                          : fmt::format("no finding (checked: {})", checks));
  return true;
}

}  // namespace

bool run_sanitize_gate(Session& session, Trial& trial) {
  if (session.options.device.kind == DeviceKind::simulator) {
    trial.verdict.note(
        GateId::sanitize,
        "no finding in any checked launch (checked: bounds, races, barriers, uninitialised shared memory)");
    return true;
  }
  const bool candidate_for_best = trial.measurement && becomes_best(*trial.measurement);
  if (session.options.sanitizer == nullptr || !candidate_for_best) return true;
  const auto workloads = small_workloads(session.problem);
  return std::all_of(workloads.begin(), workloads.end(),
                     [&](std::size_t workload) { return simulate(session, trial, workload); });
}

}  // namespace kw
