#include "operators/program/kernels/tail_groups.hpp"

#include <algorithm>

#include "operators/program/kernels/contract_direct_tails.hpp"
#include "program/stages/collapse.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

/// The only stage that reads what this one computes; absent where others do too, or the program's caller.
std::optional<std::size_t> reader_of_sums(const StageProgram& program, std::size_t index) {
  const auto buffer = program.stages[index].buffer;
  if (program.buffers[buffer].use != BufferUse::scratch) return std::nullopt;
  std::optional<std::size_t> reader;
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    if (buffers_read(program.stages[i]).count(buffer) == 0) continue;
    if (reader) return std::nullopt;
    reader = i;
  }
  return reader;
}

/// What is left of a contraction's windows in each plane.
StageBuffer buffer_of_planes(const StageProgram& program, std::size_t product, const Stage& in_planes) {
  StageBuffer buffer;
  buffer.name = program.buffers[program.stages[product].buffer].name + "_windows";
  while (std::ranges::count(program.buffers, buffer.name, &StageBuffer::name) > 0) buffer.name += "_";
  buffer.type = {ElementType::float32, extents_of(in_planes.axes)};
  return buffer;
}

std::vector<StageGroup>::iterator group_of_one(GroupedProgram& grouped, std::size_t stage) {
  return std::ranges::find_if(
      grouped.groups, [&](const StageGroup& group) { return group.stages.size() == 1 && group.stages[0] == stage; });
}

bool takes_directly(const GroupContext& context, const Stage& product, const Stage& reduction) {
  const auto tailed = direct_tailed(product, reduction);
  return tailed && has_windows_enough(context, *tailed);
}

bool takes_in_tiles(const GroupContext& context, const Stage& product, const Stage& reduction) {
  const auto tailed = tailed_contraction(product, reduction);
  return tailed && takes_tail(context, *tailed);
}

/// The group whose stages are all that read the contraction's sums, and read nothing else of it.
StageGroup* readers_of_sums(GroupedProgram& grouped, std::size_t index) {
  const auto& program = grouped.program;
  const auto buffer = program.stages[index].buffer;
  if (program.buffers[buffer].use != BufferUse::scratch) return nullptr;
  StageGroup* found = nullptr;
  for (auto& group : grouped.groups) {
    const bool reads = std::ranges::any_of(
        group.stages, [&](std::size_t stage) { return buffers_read(program.stages[stage]).count(buffer) > 0; });
    if (!reads) continue;
    if (found != nullptr) return nullptr;
    found = &group;
  }
  return found;
}

/// Reductions of all rows of a direct convolution, each in the group of the first one's reader.
void join_rows(GroupedProgram& grouped, const std::vector<Stage>& stages, const GroupContext& context) {
  auto& program = grouped.program;
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    auto* readers = readers_of_sums(grouped, i);
    if (readers == nullptr || group_of_one(grouped, i) == grouped.groups.end()) continue;
    std::vector<Stage> reductions;
    bool local = true;  // all results but the last one
    for (const auto stage : readers->stages) {
      const auto whole = std::ranges::find(stages, program.stages[stage].buffer, &Stage::buffer);
      if (whole == stages.end()) break;
      reductions.push_back(*whole);
      local = local && (stage == readers->stages.back() || std::ranges::count(readers->local, whole->buffer) > 0);
    }
    if (!local || reductions.size() != readers->stages.size()) continue;
    const auto tailed = direct_rows(program.stages[i], reductions);
    if (!tailed || !has_windows_enough(context, *tailed)) continue;
    for (std::size_t j = 0; j < reductions.size(); ++j) program.stages[readers->stages[j]] = reductions[j];
    readers->stages.insert(readers->stages.begin(), i);
    readers->local.push_back(program.stages[i].buffer);
    readers->rows = 0;
    grouped.groups.erase(group_of_one(grouped, i));
  }
}

}  // namespace

void join_tails(GroupedProgram& grouped, const std::vector<Stage>& stages, Dialect dialect, const DeviceFacts& device,
                ContractWays ways) {
  auto& program = grouped.program;
  std::vector<KernelBuffer> buffers;
  for (const auto& buffer : program.buffers) buffers.push_back({buffer.name, "", DType::f32});
  GroupContext context{program, buffers, dialect, device, ways};
  const auto changed = [&] { context.contracts = contracts_of(program, dialect, device, ways); };
  const auto count = program.stages.size();
  const bool direct = has_direct_tails(context);
  if (direct) {
    join_rows(grouped, stages, context);
    changed();
  }
  for (std::size_t i = 0; i < count; ++i) {
    auto reader = reader_of_sums(program, i);
    if (!reader || group_of_one(grouped, i) == grouped.groups.end()) continue;
    auto tail = group_of_one(grouped, *reader);
    const auto whole = std::ranges::find(stages, program.stages[*reader].buffer, &Stage::buffer);
    if (tail == grouped.groups.end() || whole == stages.end()) continue;
    auto reduction = *whole;
    const auto planes = direct ? std::nullopt : windows_of_planes(program.stages[i], reduction, program.buffers.size());
    if (planes) reduction = planes->in_planes;
    if (direct ? !takes_directly(context, program.stages[i], reduction)
               : !takes_in_tiles(context, program.stages[i], reduction))
      continue;
    if (planes) {
      program.buffers.push_back(buffer_of_planes(program, i, reduction));
      program.stages[*reader] = planes->of_planes;
      collapse_axes(program.stages[*reader]);
      *tail = {{*reader}, {}, 0};
      tail = grouped.groups.insert(tail, StageGroup());
      reader = program.stages.size();
      program.stages.push_back(reduction);
    } else {
      program.stages[*reader] = reduction;
    }
    *tail = {{i, *reader}, {program.stages[i].buffer}, 0};
    grouped.groups.erase(group_of_one(grouped, i));
    changed();
  }
}

}  // namespace kw
