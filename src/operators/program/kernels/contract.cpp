#include "operators/program/kernels/contract.hpp"

#include <algorithm>

#include "operators/program/kernels/contract_cuda.hpp"
#include "operators/program/kernels/contract_direct_tails.hpp"
#include "operators/program/kernels/contract_opencl.hpp"
#include "operators/program/kernels/contract_statistics.hpp"
#include "operators/program/kernels/contract_tails.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/factor_memory.hpp"

namespace kw {
namespace {

/// A contraction in OpenCL C, and where its rows lie.
struct VectorContraction {
  Contraction contraction;
  FactorMemory rows;
};

std::optional<VectorContraction> vector_contraction(const Stage& stage, const std::vector<KernelBuffer>& buffers) {
  const auto rows_of = [&](const Contraction& one) { return factor_memory(one, one.first, buffers); };
  const auto contraction =
      contraction_of(stage, ColumnChoice::packed, [&](const Contraction& one) { return rows_of(one).has_value(); });
  if (!contraction) return std::nullopt;
  const auto rows = rows_of(*contraction);
  return VectorContraction{*contraction, *rows};
}

/// A contraction for GPUs, which read both factors in place.
std::optional<Contraction> simt_contraction(const Stage& stage) {
  // A sum that must be gathered in short parts would need a second tile of registers.
  if (stage.in_parts) return std::nullopt;
  return contraction_of(stage, ColumnChoice::contiguous);
}

bool may_have_tail(const GroupContext& context, const StageGroup& group) {
  return group.stages.size() == 2 && !context.dialect->warp.empty();
}

std::optional<DirectTailed> direct_tailed_in(const GroupContext& context, const StageGroup& group) {
  const auto& stages = context.program.stages;
  const auto& first = stages[group.stages[0]];
  const bool candidate = group.stages.size() > 1 && is_contraction(first, context.buffers, context.dialect);
  if (!candidate || !has_direct_tails(context)) return std::nullopt;
  std::vector<Stage> reductions;
  for (std::size_t i = 1; i < group.stages.size(); ++i) reductions.push_back(stages[group.stages[i]]);
  auto windows = reductions.size() == 1 ? direct_tailed(first, reductions[0]) : std::nullopt;
  return windows ? std::move(windows) : direct_rows(first, reductions);
}

std::optional<TailedContraction> tailed_in(const GroupContext& context, const StageGroup& group) {
  if (!may_have_tail(context, group) || has_direct_tails(context)) return std::nullopt;
  const auto& stages = context.program.stages;
  return tailed_contraction(stages[group.stages[0]], stages[group.stages[1]]);
}

/// The contraction comes first, then a sum and that of squares, and perhaps more of them. Of one sum alone a tail is
/// left.
std::optional<ContractStatistics> statistics_in(const GroupContext& context, const StageGroup& group) {
  if (group.stages.size() < 3 || context.dialect != cuda_dialect()) return std::nullopt;
  const auto& stages = context.program.stages;
  const auto& product = stages[group.stages[0]];
  if (!is_contraction(product, context.buffers, context.dialect)) return std::nullopt;
  std::vector<Stage> sums;
  for (std::size_t i = 1; i < group.stages.size(); ++i) sums.push_back(stages[group.stages[i]]);
  auto statistics = left_statistics(context, product, sums);
  if (!statistics || !statistics->moments[0].squares) return std::nullopt;
  statistics->stored = std::ranges::count(group.local, product.buffer) == 0;
  return statistics;
}

}  // namespace

bool is_contraction(const Stage& stage, const std::vector<KernelBuffer>& buffers, Dialect dialect) {
  return dialect->has_vectors ? vector_contraction(stage, buffers).has_value() : simt_contraction(stage).has_value();
}

bool contract_takes(const GroupContext& context, const StageGroup& group) {
  if (group.stages.size() > 1)
    return statistics_in(context, group) || direct_tailed_in(context, group) || tailed_in(context, group);
  return group.stages.size() == 1 &&
         is_contraction(context.program.stages[group.stages[0]], context.buffers, context.dialect);
}

GroupKernels contract_kernels(const GroupContext& context, const StageGroup& group) {
  if (const auto statistics = statistics_in(context, group))
    return contract_cuda(context, statistics->contraction, nullptr, nullptr, &*statistics);
  if (const auto tailed = direct_tailed_in(context, group))
    return contract_cuda(context, tailed->contraction, nullptr, &tailed->tail);
  if (const auto tailed = tailed_in(context, group)) return contract_cuda(context, tailed->contraction, &tailed->tail);
  const auto& stage = context.program.stages[group.stages[0]];
  if (context.dialect->has_vectors) {
    const auto found = vector_contraction(stage, context.buffers);
    KW_CHECK(found.has_value(), "a contraction of what is none");
    return contract_opencl(context, found->contraction, found->rows);
  }
  const auto found = simt_contraction(stage);
  KW_CHECK(found.has_value(), "a contraction of what is none");
  return contract_cuda(context, *found);
}

}  // namespace kw
