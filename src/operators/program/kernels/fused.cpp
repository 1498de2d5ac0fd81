#include "operators/program/kernels/fused.hpp"

#include "operators/program/kernels/families.hpp"
#include "operators/program/kernels/grouping.hpp"

namespace kw {

Result<Bundle> emit_program_fused(Dialect dialect, const Problem& problem, const DeviceFacts& device,
                                  ContractWays ways) {
  KW_TRY(auto grouped, grouped_for(problem, dialect, device, ways));
  const auto write = [](const GroupContext& context, const StageGroup& group) {
    return family_of(context, group).write(context, group);
  };
  return program_bundle(dialect, problem, std::move(grouped),
                        {"fused", "fused 6", device, "groups of steps, each in the way that suits it", write, ways});
}

}  // namespace kw
