#include "operators/program/kernels/contract.hpp"

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
  const auto contraction = contraction_of(context.program.stages[group.stages[0]], ColumnChoice::packed);
  if (!contraction) return std::nullopt;
  const auto rows = factor_memory(*contraction, contraction->first, context.buffers);
  if (!rows) return std::nullopt;
  return VectorContraction{*contraction, *rows};
}

}  // namespace

bool contract_takes(const GroupContext& context, const StageGroup& group) {
  return context.dialect->has_vectors && vector_contraction(context, group).has_value();
}

GroupKernels contract_kernels(const GroupContext& context, const StageGroup& group) {
  const auto found = vector_contraction(context, group);
  KW_CHECK(found.has_value(), "a contraction of what is none");
  return contract_opencl(context, found->contraction, found->rows);
}

}  // namespace kw
