#include "codegen/codegen.hpp"

#include <algorithm>

#include "codegen/attention_cuda.hpp"
#include "codegen/attention_opencl.hpp"

namespace kw {

const std::vector<Style>& styles() {
  static const std::vector<Style> k_styles = {
      {"attention",
       "opencl",
       "plain",
       "three straightforward kernels with the scores in memory; the baseline",
       {},
       emit_attention_opencl_plain,
       seeds_attention_opencl_plain,
       estimate_attention_opencl_plain},
      {"attention", "opencl", "vector", "fused, for CPUs: packed keys, float16 register tiles, online softmax",
       structure_attention_opencl_vector(), emit_attention_opencl_vector, seeds_attention_opencl_vector,
       estimate_attention_opencl_vector},
      {"attention",
       "cuda",
       "plain",
       "one warp per query row; the baseline",
       {},
       emit_attention_cuda_plain,
       seeds_attention_cuda_plain,
       estimate_attention_cuda_plain},
      {"attention", "cuda", "simt", "fused, for any GPU: tiles in shared memory, f32 register tiles, online softmax",
       structure_attention_cuda_simt(), emit_attention_cuda_simt, seeds_attention_cuda_simt,
       estimate_attention_cuda_simt},
      {"attention", "cuda", "mma", "fused, for sm_80 and later: tensor cores through mma.sync, asynchronous copies",
       structure_attention_cuda_mma(), emit_attention_cuda_mma, seeds_attention_cuda_mma, estimate_attention_cuda_mma}};
  return k_styles;
}

Result<const Style*> find_style(std::string_view op, std::string_view target, std::string_view name) {
  std::string known;
  for (const Style& style : styles()) {
    if (style.op != op || style.target != target) continue;
    if (style.name == name) return &style;
    known += (known.empty() ? "" : ", ") + style.name;
  }
  Error error{errc::codegen_style, fmt::format("there is no style \"{}\" for {} on {}", name, op, target)};
  error.hint =
      known.empty() ? fmt::format("no style writes {} for {} yet", op, target) : fmt::format("use one of: {}", known);
  return fail(std::move(error));
}

Result<Bundle> emit_bundle(const Problem& problem, std::string_view target, std::string_view style,
                           const DeviceFacts& device, const IntBindings& structure) {
  KW_TRY(const Style* found, find_style(problem.op, target, style));
  return found->emit(problem, device, structure);
}

}  // namespace kw
