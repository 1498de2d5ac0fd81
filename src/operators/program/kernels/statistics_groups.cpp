#include "operators/program/kernels/statistics_groups.hpp"

#include <algorithm>

#include "operators/program/kernels/affine_sums.hpp"
#include "operators/program/kernels/contract.hpp"
#include "operators/program/kernels/contract_statistics.hpp"
#include "operators/program/kernels/pool_apart.hpp"
#include "operators/program/kernels/pooled_values.hpp"
#include "program/stages/collapse.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/split.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

const Stage* stage_of(const std::vector<Stage>& stages, std::size_t buffer) {
  const auto found = std::ranges::find(stages, buffer, &Stage::buffer);
  return found == stages.end() ? nullptr : &*found;
}

/// Without the axes that have one element, which a contraction has no use for; the others as they were.
Stage without_single_axes(Stage stage) {
  const auto is_single = [](const StageAxis& axis) { return axis.extent.is_constant() && axis.extent.value() == 1; };
  rewrite_stage(stage, [&](const StageExpr& node) {
    if (node->op != StageOp::axis) return StageExpr();
    const auto found = std::ranges::find(stage.axes, node->axis, &StageAxis::name);
    return found != stage.axes.end() && is_single(*found) ? StageExpr(0) : StageExpr();
  });
  std::erase_if(stage.axes, is_single);
  return stage;
}

/// The sums of a contraction's values that may be joined from parts: one of squares with the one before it.
std::vector<Stage> moments_behind(const StageProgram& program, const Stage& product) {
  std::vector<Stage> found;
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    const auto& sum = program.stages[i];
    if (sum.kind != StageKind::reduce || buffers_read(sum).count(product.buffer) == 0) continue;
    for (std::size_t j = i + 1; j < program.stages.size(); ++j) {
      if (!are_moments(sum, program.stages[j])) continue;
      found.push_back(sum);
      found.push_back(program.stages[j]);
      break;
    }
  }
  return found;
}

/// Whether somebody else than the other members reads what the first one computes.
bool reads_elsewhere(const StageProgram& program, const std::vector<std::size_t>& members) {
  const auto buffer = program.stages[members[0]].buffer;
  bool elsewhere = program.buffers[buffer].use != BufferUse::scratch;
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    const bool member = std::ranges::count(members, i) > 0;
    elsewhere = elsewhere || (!member && buffers_read(program.stages[i]).count(buffer) > 0);
  }
  return elsewhere;
}

/// The group that has the stage which writes a buffer.
const StageGroup& group_of(const GroupedProgram& grouped, std::size_t buffer) {
  const auto found = std::ranges::find_if(grouped.groups, [&](const StageGroup& group) {
    return std::ranges::any_of(group.stages,
                               [&](std::size_t stage) { return grouped.program.stages[stage].buffer == buffer; });
  });
  KW_CHECK(found != grouped.groups.end(), "a stage is in no group");
  return *found;
}

/// Whether one launch does the statistics of whole rows and all that reads them, as the program was grouped.
bool is_done_at_once(const GroupedProgram& grouped, std::size_t values, const std::vector<Stage>& sums) {
  for (const auto& sum : sums) {
    const auto& group = group_of(grouped, sum.buffer);
    for (const auto& stage : grouped.program.stages) {
      const bool member = std::ranges::count(sums, stage.buffer, &Stage::buffer) > 0;
      const auto read = buffers_read(stage);
      // One that was split joins its parts.
      if (stage.buffer == sum.buffer && read.count(values) == 0) return false;
      if (member || read.count(sum.buffer) == 0) continue;
      if (stage.kind != StageKind::map || count_of(stage.axes) != count_of(sum.axes) * count_of(sum.inner))
        return false;
      if (&group_of(grouped, stage.buffer) != &group) return false;
    }
  }
  return true;
}

/// A stage that read a contraction's values, and reads reductions of them now.
struct RewrittenReader {
  std::vector<StageBuffer> buffers;
  std::vector<Stage> reductions;
  Stage rest;
};

/// What is left of a program where readers are rewritten.
struct RewrittenReaders {
  StatisticsGroup group;
  std::vector<RewrittenReader> readers;
};

/// In ways that may be left by a contraction.
std::vector<RewrittenReader> rewritten_reader(const StageProgram& program, const Stage& product, const Stage& reader,
                                              std::size_t first_buffer) {
  std::vector<RewrittenReader> ways;
  if (const auto affine = affine_sum_of(program, product, reader, first_buffer))
    ways.push_back({{affine->buffer}, {affine->means}, affine->rest});
  // Less than half as many numbers as there were.
  constexpr double k_least_window = 4.0;
  const auto pooled = pooled_values_of(program, product, reader, first_buffer);
  if (pooled && count_of(reader.inner) >= k_least_window)
    ways.push_back({pooled->buffers, pooled->windows, pooled->rest});
  return ways;
}

/// Contractions as they will be multiplied: it is decided for all of them together.
StageProgram with_collapsed_axes(StageProgram program) {
  for (auto& stage : program.stages) {
    if (stage.kind == StageKind::reduce) collapse_axes(stage);
  }
  return program;
}

/// `context` is that of the program with collapsed axes; `by_rows` groups the program without any statistics.
std::optional<RewrittenReaders> statistics_behind(const GroupContext& context, const StageProgram& program,
                                                  const std::function<GroupedProgram()>& by_rows, const Stage& stage,
                                                  std::size_t first_buffer) {
  const auto product = without_single_axes(stage);
  if (!is_contraction(product, context.buffers, context.dialect)) return std::nullopt;
  auto reductions = moments_behind(program, stage);
  if (reductions.empty()) return std::nullopt;
  const auto can_leave = [&] { return left_statistics(context, product, reductions).has_value(); };
  if (!can_leave()) return std::nullopt;
  if (context.ways.statistics != WayUse::always && is_done_at_once(by_rows(), stage.buffer, reductions))
    return std::nullopt;
  RewrittenReaders found{{product.buffer, {}, {}}, {}};
  const auto moments = reductions.size();
  for (const auto& reader : program.stages) {
    const auto is_moment = [&](const Stage& one) { return one.buffer == reader.buffer; };
    const auto last_moment = reductions.begin() + static_cast<std::ptrdiff_t>(moments);
    if (buffers_read(reader).count(product.buffer) == 0 || std::any_of(reductions.begin(), last_moment, is_moment))
      continue;
    for (auto& way : rewritten_reader(program, product, reader, first_buffer)) {
      const auto before = reductions;
      reductions.insert(reductions.end(), way.reductions.begin(), way.reductions.end());
      if (can_leave()) {
        first_buffer += way.buffers.size();
        found.group.applied.push_back(fmt::format("values_reduced at {}: reads reductions of {}",
                                                  program.buffers[reader.buffer].name,
                                                  program.buffers[product.buffer].name));
        found.readers.push_back(std::move(way));
        break;
      }
      reductions = before;
    }
  }
  for (const auto& reduction : reductions) found.group.reductions.push_back(reduction.buffer);
  return found;
}

void rewrite_readers(StageProgram& program, const RewrittenReaders& rewritten_readers) {
  for (const auto& one : rewritten_readers.readers) {
    *std::ranges::find(program.stages, one.rest.buffer, &Stage::buffer) = one.rest;
    program.buffers.insert(program.buffers.end(), one.buffers.begin(), one.buffers.end());
    const auto values = std::ranges::find(program.stages, rewritten_readers.group.values, &Stage::buffer);
    program.stages.insert(values + 1, one.reductions.begin(), one.reductions.end());
  }
}

/// Whether all of the groups are as they were in another program, whose contractions may be multiplied in another way.
bool still_leave(const StageProgram& program, const std::vector<StatisticsGroup>& groups, const GroupContext& context) {
  return std::ranges::all_of(groups, [&](const StatisticsGroup& group) {
    std::vector<Stage> reductions;
    for (const auto buffer : group.reductions) {
      const auto* stage = stage_of(program.stages, buffer);
      if (stage == nullptr) return false;
      reductions.push_back(*stage);
    }
    const auto* values = stage_of(program.stages, group.values);
    return values != nullptr && left_statistics(context, without_single_axes(*values), reductions);
  });
}

void join_group(GroupedProgram& grouped, const std::vector<Stage>& stages, const StatisticsGroup& group) {
  auto& program = grouped.program;
  std::vector<std::size_t> members;
  auto buffers = group.reductions;
  buffers.insert(buffers.begin(), group.values);
  for (const auto buffer : buffers) {
    const auto at = std::ranges::find(program.stages, buffer, &Stage::buffer);
    const auto& whole = *stage_of(stages, buffer);
    *at = buffer == group.values ? without_single_axes(whole) : whole;
    members.push_back(static_cast<std::size_t>(at - program.stages.begin()));
  }
  const auto of = [&](std::size_t stage) {
    const auto found =
        std::ranges::find_if(grouped.groups, [&](const StageGroup& one) { return one.stages == std::vector{stage}; });
    KW_CHECK(found != grouped.groups.end(), "a stage whose statistics are joined is not alone");
    return found;
  };
  StageGroup joined{members, {}, 0};
  if (!reads_elsewhere(program, members)) joined.local.push_back(group.values);
  for (std::size_t i = 1; i < members.size(); ++i) grouped.groups.erase(of(members[i]));
  *of(members[0]) = std::move(joined);
}

}  // namespace

std::vector<StatisticsGroup> statistics_groups(StageProgram& program, const std::function<GroupedProgram()>& by_rows,
                                               Dialect dialect, const DeviceFacts& device, ContractWays ways) {
  std::vector<StatisticsGroup> groups;
  if (dialect != cuda_dialect() || ways.statistics == WayUse::never) return groups;
  std::vector<KernelBuffer> buffers;
  for (const auto& buffer : program.buffers) buffers.push_back({buffer.name, "", DType::f32});
  const auto collapsed = with_collapsed_axes(program);
  const GroupContext context{collapsed, buffers, dialect, device, ways};
  std::vector<RewrittenReaders> all;
  std::size_t first_buffer = program.buffers.size();
  for (const auto& stage : program.stages) {
    auto found = statistics_behind(context, program, by_rows, stage, first_buffer);
    if (!found) continue;
    for (const auto& reader : found->readers) first_buffer += reader.buffers.size();
    all.push_back(*std::move(found));
  }
  for (const auto& one : all) {
    rewrite_readers(program, one);
    groups.push_back(one.group);
  }
  // Of the work of short sums; not measured.
  constexpr double k_most_pooled = 0.125;
  const double most = ways.statistics == WayUse::always ? 1.0 : k_most_pooled;
  for (auto& group : groups) {
    auto other = program;
    const std::set<std::size_t> reductions(group.reductions.begin(), group.reductions.end());
    if (!pool_apart(other, group.values, reductions, most)) continue;
    const auto other_collapsed = with_collapsed_axes(other);
    if (!still_leave(other, groups, {other_collapsed, buffers, dialect, device, ways})) continue;
    program = std::move(other);
    group.applied.push_back(
        fmt::format("products_pooled behind the statistics of {}", program.buffers[group.values].name));
  }
  return groups;
}

std::set<std::size_t> reductions_of(const std::vector<StatisticsGroup>& groups) {
  std::set<std::size_t> reductions;
  for (const auto& group : groups) reductions.insert(group.reductions.begin(), group.reductions.end());
  return reductions;
}

void join_statistics(GroupedProgram& grouped, const std::vector<Stage>& stages,
                     const std::vector<StatisticsGroup>& groups, Dialect dialect, const DeviceFacts& device,
                     ContractWays ways) {
  if (groups.empty()) return;
  const auto before = grouped;
  for (const auto& group : groups) join_group(grouped, stages, group);
  std::vector<KernelBuffer> buffers;
  for (const auto& buffer : grouped.program.buffers) buffers.push_back({buffer.name, "", DType::f32});
  // Where other contractions look otherwise now, so that all are multiplied in another way, each reduction stays alone.
  if (!still_leave(grouped.program, groups, {grouped.program, buffers, dialect, device, ways})) grouped = before;
}

}  // namespace kw
