#include "operators/program/kernels/styles.hpp"

#include "operators/program/kernels/contract_seeds.hpp"
#include "operators/program/kernels/fused.hpp"
#include "operators/program/kernels/plain.hpp"

namespace kw {
namespace {

Style program_plain_style(Dialect dialect) {
  return {"program",
          target_of(dialect),
          "plain",
          "a straightforward kernel per step of the module, nothing fused; the baseline",
          {},
          [=](const Problem& problem, const DeviceFacts&, const IntBindings&) {
            return emit_program_plain(dialect, problem);
          },
          [](const Problem&, const DeviceFacts&) { return std::vector<IntBindings>{IntBindings{}}; },
          [](const Problem&, const DeviceFacts&, const IntBindings&) { return 1.0; }};
}

Style program_fused_style(Dialect dialect) {
  return {"program",
          target_of(dialect),
          "fused",
          "steps fused into groups, each written by the family that suits it: products in tiles, rows in one launch",
          dialect == cuda_dialect() ? contract_structure() : std::vector<Tunable>(),
          [=](const Problem& problem, const DeviceFacts& device, const IntBindings& structure) {
            return emit_program_fused(dialect, problem, device, contract_ways(structure));
          },
          [=](const Problem& problem, const DeviceFacts& device) { return contract_seeds(dialect, problem, device); },
          [=](const Problem& problem, const DeviceFacts& device, const IntBindings& assignment) {
            return contract_estimator(dialect, problem, device, assignment)(assignment);
          },
          [=](const Problem& problem, const DeviceFacts& device, const IntBindings& structure) {
            return contract_estimator(dialect, problem, device, structure);
          }};
}

}  // namespace

const std::vector<Style>& program_styles() {
  static const std::vector<Style> k_styles = with_own_text({
      program_plain_style(opencl_dialect()),
      program_fused_style(opencl_dialect()),
      program_plain_style(cuda_dialect()),
      program_fused_style(cuda_dialect()),
      program_plain_style(hip_dialect()),
      program_fused_style(hip_dialect()),
  });
  return k_styles;
}

}  // namespace kw
