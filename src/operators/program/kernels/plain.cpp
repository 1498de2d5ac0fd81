#include "operators/program/kernels/plain.hpp"

#include "operators/program/kernels/program_bundle.hpp"
#include "operators/program/kernels/recurrences.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "operators/program/program_detail.hpp"
#include "program/stages/lower.hpp"
#include "program/stages/rounding.hpp"
#include "program/stages/row_groups.hpp"

namespace kw {

GroupKernels plain_kernels(const GroupContext& context, const StageGroup& group) {
  if (recurrences_take(context, group)) return plain_recurrence_kernels(context, group);
  KW_CHECK(group.stages.size() == 1, "a plain kernel of {} stages", group.stages.size());
  return stage_kernel(context, context.program.stages[group.stages[0]]);
}

Result<Bundle> emit_program_plain(Dialect dialect, const Problem& problem) {
  const auto& detail = program_detail(problem);
  GroupedProgram grouped;
  grouped.graph = detail.program.graph;
  KW_TRY(grouped.program, lower(grouped.graph, detail.outputs));
  mark_rounded(grouped.program, grouped.graph, detail.module.precision);
  round_factors(grouped.program);
  for (auto& stages : in_running_order(grouped.program, recurrences_of(grouped.program)))
    grouped.groups.push_back({std::move(stages), {}});
  return program_bundle(dialect, problem, std::move(grouped),
                        {"plain", "plain 1", {}, "a kernel per step, in the order of the module", plain_kernels});
}

}  // namespace kw
