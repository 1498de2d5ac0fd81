// Gate 3, static: what the compiler reported against what the device has, and against what the user requires. Absent
// figures are not judged against the device: PoCL reports none of them.

#include <algorithm>

#include "verify/gates/gate.hpp"

namespace kw {
namespace {

/// Of the primary workload, the first.
PlanFigures plan_figures(const LaunchPlan& plan) {
  PlanFigures figures;
  figures.launches = std::ssize(plan.launches);
  for (const auto& buffer : plan.buffers) {
    if (buffer.role == BufferRole::scratch) figures.scratch_bytes += buffer.bytes;
  }
  for (const auto& launch : plan.launches) figures.shared_bytes = std::max(figures.shared_bytes, launch.shared_bytes);
  return figures;
}

/// False after the first requirement that the candidate breaks, or that cannot be judged.
bool check_requirements(const Session& session, Trial& trial) {
  const PlanFigures plan = plan_figures(trial.contender.built.plans.front().plan);
  for (const auto& requirement : session.options.requirements) {
    const auto value = figure_of(requirement, trial.build, plan);
    if (!value) {
      trial.verdict.cannot_decide(GateId::statics, fmt::format("{} is required, and the compiler did not report {}",
                                                               to_string(requirement), requirement.quantity));
      return false;
    }
    if (holds(requirement, *value)) continue;
    trial.verdict.reject(GateId::statics, Reason::constraint_violated,
                         fmt::format("{} is required ({}), and this kernel has {}", to_string(requirement),
                                     in_words(requirement), *value));
    return false;
  }
  return true;
}

}  // namespace

bool run_static_gate(Session& session, Trial& trial) {
  const auto& device = session.options.device;
  const auto shared = trial.build.shared_bytes;
  if (shared && device.shared_bytes_per_block > 0 && *shared > device.shared_bytes_per_block) {
    trial.verdict.reject(GateId::statics, Reason::resource_limit,
                         fmt::format("the kernel needs {} bytes of shared memory, the device has {} per block", *shared,
                                     device.shared_bytes_per_block));
    return false;
  }
  if (trial.build.registers) {
    trial.verdict.note(GateId::statics, fmt::format("{} registers, {} bytes spilled", *trial.build.registers,
                                                    trial.build.spill_bytes.value_or(0)));
  }
  return trial.yardstick || check_requirements(session, trial);
}

}  // namespace kw
