// Gate 5, sanitize: a candidate that would become the best runs on a simulating device on the smallest workloads, and
// any finding rejects it. Outputs are not judged here; the check gate did that on the device itself.

#include <algorithm>

#include "verify/case_runner.hpp"
#include "verify/gates/gate.hpp"
#include "verify/oclgrind.hpp"

namespace kw {
namespace {

constexpr std::size_t k_workloads = 2;
/// Interpreting runs at millions of operations a second, not billions: larger workloads are left out.
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
  // The largest of the small ones: a workload of one row has no tile to leave.
  std::vector<std::size_t> chosen;
  for (auto it = sized.rbegin(); it != sized.rend() && chosen.size() < k_workloads; ++it) chosen.push_back(it->second);
  return chosen;
}

/// Builds for the simulator and starts a process; a failure of the simulator is a note, not a verdict.
std::optional<Contender> start_simulated(Session& session, Trial& trial, std::size_t workload) {
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
  Contender contender;
  contender.candidate = candidate;
  contender.built.binaries.push_back(std::move(reply->binary));
  // run_case selects plans by workload.
  contender.built.plans.assign(workload + 1, BuiltPlan{plan, 0});
  auto started = simulator.start(contender.built, session.options.deadlines.start);
  auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
  if (process == nullptr) return std::nullopt;
  contender.process = std::move(*process);
  return contender;
}

const CheckCase& case_of(const Session& session, std::size_t workload) {
  const auto& cases = session.suite.cases();
  return *std::find_if(cases.begin(), cases.end(), [&](const CheckCase& one) { return one.workload == workload; });
}

/// False after a rejection.
bool simulate(Session& session, Trial& trial, std::size_t workload) {
  const auto& name = session.problem.workloads[workload].name;
  const bool hidden = session.problem.workloads[workload].role == WorkloadRole::held_out;
  auto contender = start_simulated(session, trial, workload);
  if (!contender) {
    trial.verdict.note(GateId::sanitize, "the simulator could not build or start it; not sanitized on " + name, hidden);
    return true;
  }
  const auto run = run_case(session, *contender, case_of(session, workload), {false, 0xffffffffU, k_deadline});
  const auto finding = first_finding(contender->process->output());
  if (finding) {
    trial.verdict.note(GateId::sanitize, fmt::format("{}: {}", name, *finding), hidden);
    trial.verdict.reject(GateId::sanitize, Reason::sanitizer_report, hidden ? "a sanitizer finding" : *finding);
    return false;
  }
  trial.verdict.note(GateId::sanitize,
                     run ? fmt::format("{}: no finding", name)
                         : fmt::format("{}: not simulated to the end: {}", name, run.error().sentence),
                     hidden);
  return true;
}

}  // namespace

bool run_sanitize_gate(Session& session, Trial& trial) {
  const bool candidate_for_best = trial.measurement && becomes_best(*trial.measurement);
  if (session.options.sanitizer == nullptr || !candidate_for_best) return true;
  const auto workloads = small_workloads(session.problem);
  return std::all_of(workloads.begin(), workloads.end(),
                     [&](std::size_t workload) { return simulate(session, trial, workload); });
}

}  // namespace kw
