#include "operators/program/kernels/launch_list.hpp"

#include "operators/program/kernels/buffer_names.hpp"
#include "operators/program/kernels/families.hpp"
#include "operators/program/kernels/grouping.hpp"

namespace kw {

Result<LaunchList> launch_list(Dialect dialect, const Problem& problem, const DeviceFacts& device) {
  KW_TRY(auto grouped, grouped_for(problem, dialect, device));
  auto& program = grouped.program;
  const auto buffers = named_buffers(problem, program, scratch_memory(grouped, taken_names(problem)));
  const GroupContext context{program, buffers, dialect, device};
  LaunchList list;
  list.simplifications = std::move(grouped.simplifications);
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
