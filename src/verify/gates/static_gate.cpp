// The gate `static`: what the compiler reported against what the device has, and against what the user requires. Absent
// figures are not judged against the device: PoCL reports none of them. Spills and a low occupancy cost time and are no
// mistake: they are noted, and the time decides.

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
bool check_requirements(GateContext& context) {
  const PlanFigures plan = plan_figures(context.loaded.built.plans.front().plan);
  for (const auto& requirement : context.facts.options.requirements) {
    if (needs_sanitizer(requirement)) continue;
    const auto value = figure_of(requirement, context.build, plan);
    if (!value) {
      context.verdict.cannot_decide(GateId::static_check,
                                    fmt::format("{} is required, and the compiler did not report {}",
                                                to_string(requirement), requirement.quantity));
      return false;
    }
    if (holds(requirement, *value)) continue;
    context.verdict.reject(GateId::static_check, Reason::constraint_violated,
                           fmt::format("{} is required ({}), and this kernel has {}", to_string(requirement),
                                       in_words(requirement), *value));
    return false;
  }
  return true;
}

std::string figures(const BuildReport& build) {
  std::string text = fmt::format("{} registers, {} bytes spilled", *build.registers, build.spill_bytes.value_or(0));
  if (build.shared_bytes) text += fmt::format(", {} bytes of shared memory", *build.shared_bytes);
  if (build.occupancy) text += fmt::format(", occupancy {:.0f} %", 100 * *build.occupancy);
  if (build.tensor_core_instructions) {
    text += fmt::format(", {} tensor-core instructions", *build.tensor_core_instructions);
  }
  if (build.local_memory_instructions.value_or(0) > 0) {
    text += fmt::format(", {} accesses of local memory", *build.local_memory_instructions);
  }
  return text;
}

}  // namespace

bool run_static_gate(GateContext& context) {
  const auto& device = context.facts.device();
  const auto shared = context.build.shared_bytes;
  if (shared && device.shared_bytes_per_block > 0 && *shared > device.shared_bytes_per_block) {
    context.verdict.reject(GateId::static_check, Reason::resource_limit,
                           fmt::format("the kernel needs {} bytes of shared memory, the device has {} per block",
                                       *shared, device.shared_bytes_per_block));
    return false;
  }
  if (context.build.registers) context.verdict.note(GateId::static_check, figures(context.build));
  return context.is_baseline || check_requirements(context);
}

}  // namespace kw
