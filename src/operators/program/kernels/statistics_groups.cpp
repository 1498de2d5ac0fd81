#include "operators/program/kernels/statistics_groups.hpp"

#include <algorithm>

#include "operators/program/kernels/contract.hpp"
#include "operators/program/kernels/contract_statistics.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/split.hpp"

namespace kw {
namespace {

const Stage* stage_of(const std::vector<Stage>& stages, std::size_t buffer) {
  const auto found = std::ranges::find(stages, buffer, &Stage::buffer);
  return found == stages.end() ? nullptr : &*found;
}

/// The sums of a contraction's values that may be joined from parts: one of squares with the one before it.
std::vector<Stage> moments_behind(const StageProgram& program, const Stage& product) {
  std::vector<Stage> found;
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    for (std::size_t j = i + 1; j < program.stages.size(); ++j) {
      const auto& sum = program.stages[i];
      if (buffers_read(sum).count(product.buffer) == 0 || !are_moments(sum, program.stages[j])) continue;
      found.push_back(sum);
      found.push_back(program.stages[j]);
      break;
    }
  }
  return found;
}

}  // namespace

std::vector<StatisticsGroup> statistics_groups(const StageProgram& program, Dialect dialect, const DeviceFacts& device,
                                               ContractWays ways) {
  std::vector<StatisticsGroup> groups;
  if (dialect != cuda_dialect() || ways.statistics == WayUse::never) return groups;
  std::vector<KernelBuffer> buffers;
  for (const auto& buffer : program.buffers) buffers.push_back({buffer.name, "", DType::f32});
  const GroupContext context{program, buffers, dialect, device, ways};
  for (const auto& product : program.stages) {
    const auto sums = moments_behind(program, product);
    if (sums.empty() || !is_contraction(product, buffers, dialect)) continue;
    const auto statistics = contract_statistics(program, product, sums);
    if (!statistics || !leaves_statistics(context, *statistics)) continue;
    StatisticsGroup group{product.buffer, {}};
    for (const auto& sum : sums) group.sums.push_back(sum.buffer);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::set<std::size_t> sums_of(const std::vector<StatisticsGroup>& groups) {
  std::set<std::size_t> sums;
  for (const auto& group : groups) sums.insert(group.sums.begin(), group.sums.end());
  return sums;
}

void join_statistics(GroupedProgram& grouped, const std::vector<Stage>& stages,
                     const std::vector<StatisticsGroup>& groups) {
  auto& program = grouped.program;
  for (const auto& group : groups) {
    std::vector<std::size_t> members;
    auto buffers = group.sums;
    buffers.insert(buffers.begin(), group.values);
    for (const auto buffer : buffers) {
      const auto at = std::ranges::find(program.stages, buffer, &Stage::buffer);
      *at = *stage_of(stages, buffer);
      members.push_back(static_cast<std::size_t>(at - program.stages.begin()));
    }
    const auto of = [&](std::size_t stage) {
      return std::ranges::find_if(grouped.groups, [&](const StageGroup& one) { return one.stages[0] == stage; });
    };
    *of(members[0]) = {members, {}, 0};
    for (std::size_t i = 1; i < members.size(); ++i) grouped.groups.erase(of(members[i]));
  }
}

}  // namespace kw
