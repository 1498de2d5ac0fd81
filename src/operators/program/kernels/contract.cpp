#include "operators/program/kernels/contract.hpp"

#include "operators/program/kernels/contract_cuda.hpp"
#include "operators/program/kernels/contract_opencl.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/factor_memory.hpp"

namespace kw {
namespace {

/// A contraction in OpenCL C, and where its rows lie.
struct VectorContraction {
  Contraction contraction;
  FactorMemory rows;
};

std::optional<VectorContraction> vector_contraction(const GroupContext& context, const StageGroup& group) {
  if (group.stages.size() != 1) return std::nullopt;
  const auto rows_of = [&](const Contraction& one) { return factor_memory(one, one.first, context.buffers); };
  const auto contraction = contraction_of(context.program.stages[group.stages[0]], ColumnChoice::packed,
                                          [&](const Contraction& one) { return rows_of(one).has_value(); });
  if (!contraction) return std::nullopt;
  const auto rows = rows_of(*contraction);
  return VectorContraction{*contraction, *rows};
}

/// A contraction for GPUs, which read both factors in place.
std::optional<Contraction> simt_contraction(const GroupContext& context, const StageGroup& group) {
  if (group.stages.size() != 1) return std::nullopt;
  const auto& stage = context.program.stages[group.stages[0]];
  // A sum that must be gathered in short parts would need a second tile of registers.
  if (stage.in_parts) return std::nullopt;
  return contraction_of(stage, ColumnChoice::contiguous);
}

}  // namespace

bool contract_takes(const GroupContext& context, const StageGroup& group) {
  if (context.dialect->has_vectors) return vector_contraction(context, group).has_value();
  return simt_contraction(context, group).has_value();
}

GroupKernels contract_kernels(const GroupContext& context, const StageGroup& group) {
  if (context.dialect->has_vectors) {
    const auto found = vector_contraction(context, group);
    KW_CHECK(found.has_value(), "a contraction of what is none");
    return contract_opencl(context, found->contraction, found->rows);
  }
  const auto found = simt_contraction(context, group);
  KW_CHECK(found.has_value(), "a contraction of what is none");
  return contract_cuda(context, *found);
}

}  // namespace kw
