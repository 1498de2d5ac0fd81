#include "operators/program/kernels/fused.hpp"

#include "operators/program/kernels/families.hpp"
#include "operators/program/program_detail.hpp"
#include "program/stages/fuse.hpp"
#include "program/stages/lower.hpp"

namespace kw {

Result<Bundle> emit_program_fused(Dialect dialect, const Problem& problem) {
  const auto& detail = program_detail(problem);
  GroupedProgram grouped;
  KW_TRY(auto lowered, lower(detail.program.graph, detail.outputs));
  grouped.program = fused(std::move(lowered)).program;
  for (std::size_t i = 0; i < grouped.program.stages.size(); ++i) grouped.groups.push_back({{i}, {}});
  const auto write = [](const GroupContext& context, const StageGroup& group) {
    return family_of(context, group).write(context, group);
  };
  return program_bundle(dialect, problem, std::move(grouped),
                        {"fused", "fused 1", "groups of steps, each in the way that suits it", write});
}

}  // namespace kw
