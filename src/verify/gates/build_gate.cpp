// Gate 2, build: compiles in persistent sandboxed processes. Workloads whose definitions are equal share one build;
// different ones are built at the same time.

#include <algorithm>

#include "verify/gates/gate.hpp"

namespace kw {
namespace {

Reason reason_of(BuildStatus status) {
  switch (status) {
    case BuildStatus::kernel_missing:
    case BuildStatus::kernel_args:
      return Reason::kernel_missing;
    case BuildStatus::resource:
      return Reason::resource_limit;
    case BuildStatus::ok:
    case BuildStatus::source_error:
      return Reason::build_failed;
  }
  return Reason::build_failed;
}

Reason reason_of(WorkerLoss loss) {
  switch (loss) {
    case WorkerLoss::timed_out:
      return Reason::build_timeout;
    case WorkerLoss::out_of_memory:
      return Reason::memory_limit;
    case WorkerLoss::crashed:
    case WorkerLoss::not_started:
      return Reason::build_crashed;
  }
  return Reason::build_crashed;
}

std::optional<std::int64_t> reported(std::int64_t value) {
  return value < 0 ? std::nullopt : std::optional<std::int64_t>(value);
}

std::string first_errors(const std::string& log) {
  std::string lines;
  std::size_t start = 0;
  int kept = 0;
  while (start < log.size() && kept < 3) {
    const std::size_t end = std::min(log.find('\n', start), log.size());
    const std::string line = log.substr(start, end - start);
    if (line.find("error") != std::string::npos) {
      lines += (kept > 0 ? "; " : "") + line;
      ++kept;
    }
    start = end + 1;
  }
  return lines.empty() ? log.substr(0, 300) : lines;
}

using BuildOutcome = std::variant<BuildReply, LostWorker>;

/// Records one build; false after a rejection.
bool record_build(Trial& trial, BuildOutcome& outcome) {
  if (const auto* lost = std::get_if<LostWorker>(&outcome)) {
    if (lost->how == WorkerLoss::not_started) {
      trial.verdict.cannot_decide(GateId::build, "no compiler process could be started: " + lost->detail);
      return false;
    }
    trial.verdict.reject(GateId::build, reason_of(lost->how),
                         fmt::format("the compiler did not finish: {}", lost->detail));
    return false;
  }
  auto& reply = std::get<BuildReply>(outcome);
  trial.build.log += reply.log;
  trial.build.build_ms += static_cast<double>(reply.build_ns) / 1e6;
  if (reply.status != BuildStatus::ok) {
    trial.verdict.reject(GateId::build, reason_of(reply.status), first_errors(reply.log));
    return false;
  }
  trial.build.binary_bytes += static_cast<std::int64_t>(reply.binary.size());
  trial.build.registers = reported(reply.registers);
  trial.build.spill_bytes = reported(reply.spill_bytes);
  trial.build.stack_bytes = reported(reply.stack_bytes);
  trial.build.shared_bytes = reported(reply.shared_bytes);
  trial.contender.built.binaries.push_back(std::move(reply.binary));
  return true;
}

/// One request per distinct set of definitions; tells every plan which of them is its own. Empty after a rejection.
std::vector<BuildRequest> plan_builds(Session& session, Trial& trial) {
  std::vector<IntBindings> distinct;
  std::vector<BuildRequest> requests;
  for (std::size_t w = 0; w < session.problem.workloads.size(); ++w) {
    auto definitions =
        build_definitions(trial.contender.candidate, session.problem.workloads[w].axes, session.options.device);
    if (!definitions) {
      trial.verdict.reject(GateId::build, Reason::bundle_invalid, definitions.error().message);
      return {};
    }
    auto& plan = trial.contender.built.plans[w];
    const auto known = std::find(distinct.begin(), distinct.end(), *definitions);
    plan.binary = static_cast<std::size_t>(known - distinct.begin());
    if (known != distinct.end()) continue;
    requests.push_back({session.options.device.id, trial.contender.candidate.bundle.source, {}, plan.plan.launches});
    requests.back().definitions.assign(definitions->begin(), definitions->end());
    distinct.push_back(*std::move(definitions));
  }
  return requests;
}

}  // namespace

bool run_build_gate(Session& session, Trial& trial) {
  const auto requests = plan_builds(session, trial);
  if (requests.empty()) return false;
  std::vector<BuildOutcome> outcomes(requests.size());
  session.options.parallel(std::ssize(requests), [&](std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    outcomes[index] = session.bench.build(requests[index], session.options.deadlines.build);
  });
  for (auto& outcome : outcomes) {
    if (!record_build(trial, outcome)) return false;
  }
  Hasher hasher;
  for (const auto& binary : trial.contender.built.binaries) hasher.add(binary);
  trial.build.binary_hash = hasher.finish();
  return true;
}

}  // namespace kw
