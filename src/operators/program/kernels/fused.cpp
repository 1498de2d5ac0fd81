#include "operators/program/kernels/fused.hpp"

#include "operators/program/kernels/families.hpp"
#include "operators/program/kernels/grouping.hpp"
#include "operators/program/program_detail.hpp"
#include "program/stages/lower.hpp"

namespace kw {

Result<Bundle> emit_program_fused(Dialect dialect, const Problem& problem, const DeviceFacts& device) {
  const auto& detail = program_detail(problem);
  KW_TRY(auto program, lower(detail.program.graph, detail.outputs));
  const auto write = [](const GroupContext& context, const StageGroup& group) {
    return family_of(context, group).write(context, group);
  };
  return program_bundle(dialect, problem, grouped_for(std::move(program), dialect, device),
                        {"fused", "fused 1", device, "groups of steps, each in the way that suits it", write});
}

}  // namespace kw
