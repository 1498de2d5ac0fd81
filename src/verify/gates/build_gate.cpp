// The gate `build`: compiles in persistent sandboxed processes. Workloads whose definitions are equal share one build;
// different ones are built at the same time.

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <utility>

#include "record/time_use.hpp"
#include "verify/checking/source_policy.hpp"
#include "verify/checking/worker_words.hpp"
#include "verify/gates/gate.hpp"
#include "verify/processes/build_deadline.hpp"

namespace kw {
namespace {

Reason reason_of(BuildStatus status) {
  switch (status) {
    case BuildStatus::kernel_missing:
    case BuildStatus::kernel_args:
      return Reason::kernel_missing;
    case BuildStatus::resource:
      return Reason::resource_limit;
    case BuildStatus::forbidden:
      return Reason::source_forbidden;
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
    case WorkerLoss::starved:
      return Reason::build_crashed;
  }
  return Reason::build_crashed;
}

void keep_largest(std::optional<std::int64_t>& largest, std::int64_t reported) {
  if (reported >= 0) largest = std::max(largest.value_or(0), reported);
}

void add_up(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& part) {
  if (part) sum = sum.value_or(0) + *part;
}

/// What only a compiler for GPUs reports. Several builds of one candidate: the worst of each figure.
void record_kernels(const std::vector<KernelReport>& kernels, BuildReport& build) {
  std::optional<std::int64_t> tensor;
  std::optional<std::int64_t> local;
  for (const KernelReport& kernel : kernels) {
    add_up(tensor, kernel.tensor_core_instructions);
    add_up(local, kernel.local_memory_instructions);
    if (kernel.occupancy) build.occupancy = std::min(build.occupancy.value_or(1), *kernel.occupancy);
  }
  if (tensor) build.tensor_core_instructions = std::min(build.tensor_core_instructions.value_or(*tensor), *tensor);
  if (local) build.local_memory_instructions = std::max(build.local_memory_instructions.value_or(0), *local);
}

/// Of the primary workload's build, the first. A worker's words are bounded and printable from here on.
void keep_machine_code(std::vector<InstructionMix> reported, BuildReport& build) {
  if (!build.machine_code.empty()) return;
  if (reported.size() > k_max_machine_code) reported.resize(k_max_machine_code);
  for (InstructionMix& mix : reported) {
    mix.kernel = plain_name(mix.kernel);
    if (mix.called.size() > k_max_machine_code) mix.called.resize(k_max_machine_code);
    for (std::string& name : mix.called) name = plain_name(name);
  }
  build.machine_code = std::move(reported);
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

/// Notes the log for feedback. A log of a build for held-out sizes alone names those sizes, in macro expansions and
/// array bounds: it stays in the archive, and so does everything a compiler says about that build.
void reject_build(GateContext& context, const BuildReply& reply, bool hidden) {
  constexpr std::size_t k_most_noted = 4096;
  if (const auto why = forbidden_identifier(reply.log)) {
    // Not the log: it may quote a file of the machine that the source tried to include.
    return context.verdict.reject(GateId::build, Reason::source_forbidden, *why);
  }
  context.verdict.note(GateId::build, reply.log.substr(0, k_most_noted), hidden);
  context.verdict.reject(GateId::build, reason_of(reply.status),
                         hidden
                             ? "it does not compile with the definitions of a held-out workload (other sizes than the "
                               "primary)"
                             : first_errors(reply.log));
}

void record_loss(GateContext& context, const LostWorker& lost) {
  const bool late = lost.how == WorkerLoss::timed_out || lost.how == WorkerLoss::starved;
  if (lost.how == WorkerLoss::not_started) {
    context.verdict.cannot_decide(GateId::build, "no compiler process could be started: " + lost.detail);
  } else if (late && context.clock.out_of_time()) {
    context.verdict.cannot_decide(GateId::build, k_budget_ended);
  } else if (lost.how == WorkerLoss::starved) {
    context.verdict.cannot_decide(GateId::build, "the machine was too busy to compile it: " + lost.detail);
  } else {
    context.verdict.reject(GateId::build, reason_of(lost.how),
                           fmt::format("the compiler did not finish: {}", lost.detail));
  }
}

/// Records one build; false after a rejection. `hidden`: it is for held-out workloads alone.
bool record_build(GateContext& context, BuildReply& reply, bool hidden) {
  reply.log = without_guard(reply.log);
  if (!forbidden_identifier(reply.log)) context.build.log += reply.log;
  context.build.build_ms += static_cast<double>(reply.build_ns) / 1e6;
  if (reply.status != BuildStatus::ok) {
    reject_build(context, reply, hidden);
    return false;
  }
  context.build.binary_bytes += static_cast<std::int64_t>(reply.binary.size());
  keep_largest(context.build.registers, reply.registers);
  keep_largest(context.build.spill_bytes, reply.spill_bytes);
  keep_largest(context.build.stack_bytes, reply.stack_bytes);
  keep_largest(context.build.shared_bytes, reply.shared_bytes);
  record_kernels(reply.kernels, context.build);
  if (!hidden) keep_machine_code(std::move(reply.machine_code), context.build);
  context.loaded.built.binaries.push_back(std::move(reply.binary));
  return true;
}

/// One request per distinct set of definitions; tells every plan which of them is its own. Empty after a rejection.
std::vector<PlannedBuild> plan_builds(GateContext& context) {
  std::vector<IntBindings> distinct;
  std::vector<PlannedBuild> builds;
  for (std::size_t w = 0; w < context.facts.problem.workloads.size(); ++w) {
    auto definitions =
        build_definitions(context.loaded.candidate, context.facts.problem.workloads[w].axes, context.facts.device());
    if (!definitions) {
      const bool hidden = context.facts.problem.workloads[w].role == WorkloadRole::held_out;
      context.verdict.note(GateId::build, definitions.error().to_string(), hidden);
      context.verdict.reject(GateId::build, Reason::bundle_invalid,
                             hidden
                                 ? "the definitions cannot be computed for a held-out workload (other sizes than the "
                                   "primary)"
                                 : definitions.error().message);
      return {};
    }
    auto& plan = context.loaded.built.plans[w];
    const auto known = std::find(distinct.begin(), distinct.end(), *definitions);
    plan.binary = static_cast<std::size_t>(known - distinct.begin());
    const bool held_out = context.facts.problem.workloads[w].role == WorkloadRole::held_out;
    if (known != distinct.end()) {
      builds[plan.binary].hidden = builds[plan.binary].hidden && held_out;
      continue;
    }
    const Bundle& bundle = context.loaded.candidate.bundle;
    BuildRequest request{
        context.facts.device().id, guarded_source(bundle.source, bundle.target, *definitions), {}, plan.plan.launches};
    request.definitions.assign(definitions->begin(), definitions->end());
    builds.push_back({std::move(request), held_out});
    distinct.push_back(*std::move(definitions));
  }
  return builds;
}

/// All at once, with one deadline together, however many there are: when one is lost, no other is begun. False after a
/// rejection.
bool build_all(GateContext& context, const std::vector<PlannedBuild>& builds) {
  std::vector<std::optional<BuildOutcome>> outcomes(builds.size());  // nothing: not begun, because another was lost
  const AnswerDeadline together = build_deadline(context.clock, context.facts.options.deadlines.build);
  const Clock& clock = context.clock.clock();
  const Instant began = clock.now();
  std::atomic<bool> given_up = false;
  const auto compiling = context.clock.doing(time_activity::compiling);
  context.facts.options.parallel(std::ssize(builds), [&](std::int64_t i) {
    const Duration waited = clock.now() - began;
    if (given_up || waited >= together.wall) return;
    // On a busy machine those before it may have taken long without having had much.
    const Duration left = std::max(together.processor - waited, together.processor / k_build_patience);
    const auto index = static_cast<std::size_t>(i);
    outcomes[index] = context.facts.backend.build(builds[index].request, {left, together.wall - waited},
                                                  context.loaded.candidate.origin);
    if (std::holds_alternative<LostWorker>(*outcomes[index])) given_up = true;
  });
  const LostWorker not_begun{WorkerLoss::starved, "its other builds took all the time"};
  for (std::size_t i = 0; i < builds.size(); ++i) {
    if (!outcomes[i] && given_up) continue;  // one that is lost stands further on
    const auto* lost = outcomes[i] ? std::get_if<LostWorker>(&*outcomes[i]) : &not_begun;
    if (lost != nullptr) {
      record_loss(context, *lost);
      return false;
    }
    if (!record_build(context, std::get<BuildReply>(*outcomes[i]), builds[i].hidden)) return false;
  }
  Hasher hasher;
  for (const auto& binary : context.loaded.built.binaries) hasher.add(binary);
  context.build.binary_hash = hasher.finish();
  return true;
}

}  // namespace

bool run_build_gate(GateContext& context) {
  auto builds = plan_builds(context);
  if (builds.empty()) return false;
  // The first one is the primary's.
  if (context.screens) {
    context.unbuilt.assign(std::make_move_iterator(builds.begin() + 1), std::make_move_iterator(builds.end()));
    builds.resize(1);
  }
  return build_all(context, builds);
}

bool build_the_rest(GateContext& context) {
  if (context.unbuilt.empty()) return true;
  if (build_all(context, std::exchange(context.unbuilt, {})) && run_static_gate(context)) return true;
  // That they pass was said too early.
  std::erase(context.verdict.gates_passed, context.verdict.failed_gate.value());
  return false;
}

}  // namespace kw
