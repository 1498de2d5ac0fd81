#include "operators/program/kernels/launch_list.hpp"

#include "operators/program/kernels/buffer_names.hpp"
#include "operators/program/kernels/families.hpp"
#include "operators/program/kernels/grouping.hpp"
#include "operators/program/program_detail.hpp"
#include "program/stages/lower.hpp"

namespace kw {

Result<LaunchList> launch_list(Dialect dialect, const Problem& problem, const DeviceFacts& device) {
  const auto& detail = program_detail(problem);
  KW_TRY(auto lowered, lower(detail.program.graph, detail.outputs));
  auto grouped = grouped_for(std::move(lowered), dialect, device);
  auto& program = grouped.program;
  const auto buffers = named_buffers(problem, program, scratch_memory(grouped, taken_names(problem)));
  const GroupContext context{program, buffers, dialect, device};
  LaunchList list;
  list.fusions = std::move(grouped.fusions);
  for (const auto& group : grouped.groups) {
    const auto& family = family_of(context, group);
    ListedGroup listed{family.name, family.write(context, group).launches.size(), {}};
    for (const auto stage : group.stages) listed.stages.push_back(stage_text(program, program.stages[stage]));
    list.groups.push_back(std::move(listed));
  }
  return list;
}

}  // namespace kw
