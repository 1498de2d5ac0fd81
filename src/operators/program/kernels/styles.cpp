#include "operators/program/kernels/styles.hpp"

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

}  // namespace

const std::vector<Style>& program_styles() {
  static const std::vector<Style> k_styles = {
      program_plain_style(opencl_dialect()),
      program_plain_style(cuda_dialect()),
      program_plain_style(hip_dialect()),
  };
  return k_styles;
}

}  // namespace kw
