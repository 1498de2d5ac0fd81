#include "operators/attention/kernels/styles.hpp"

#include "operators/attention/kernels/cuda/styles.hpp"
#include "operators/attention/kernels/opencl/styles.hpp"

namespace kw {

namespace {

Style plain_style(Dialect dialect, const char* summary) {
  return {"attention",
          target_of(dialect),
          "plain",
          summary,
          {},
          [=](const Problem& problem, const DeviceFacts&, const IntBindings&) {
            return emit_attention_gpu_plain(dialect, problem);
          },
          seeds_attention_gpu_plain,
          estimate_attention_gpu_plain};
}

Style simt_style(Dialect dialect) {
  return {"attention",
          target_of(dialect),
          "simt",
          "fused, for any GPU: tiles in shared memory, f32 register tiles, online softmax",
          structure_attention_gpu_simt(),
          [=](const Problem& problem, const DeviceFacts& device, const IntBindings& structure) {
            return emit_attention_gpu_simt(dialect, problem, device, structure);
          },
          seeds_attention_gpu_simt,
          estimate_attention_gpu_simt};
}

}  // namespace

const std::vector<Style>& attention_styles() {
  static const std::vector<Style> k_styles = with_own_text(
      {{"attention",
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
       plain_style(cuda_dialect(), "one warp per query row; the baseline"),
       simt_style(cuda_dialect()),
       {"attention", "cuda", "mma", "fused, for sm_80 and later: tensor cores through mma.sync, asynchronous copies",
        structure_attention_cuda_mma(), emit_attention_cuda_mma, seeds_attention_cuda_mma, estimate_attention_cuda_mma},
       {"attention", "cuda", "wgmma", "fused, for Hopper (sm_90a) and 16-bit floats: tensor cores through wgmma",
        structure_attention_cuda_wgmma(), emit_attention_cuda_wgmma, seeds_attention_cuda_wgmma,
        estimate_attention_cuda_wgmma},
       plain_style(hip_dialect(), "one wavefront per query row; the baseline"),
       simt_style(hip_dialect())});
  return k_styles;
}

}  // namespace kw
