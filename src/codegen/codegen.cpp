#include "codegen/codegen.hpp"

#include "codegen/attention_cuda.hpp"
#include "codegen/attention_opencl.hpp"
#include "codegen/device_list.hpp"

namespace kw {

namespace {

Style plain_style(SourceLanguage language, const char* summary) {
  return {"attention",
          target_of(language),
          "plain",
          summary,
          {},
          [=](const Problem& problem, const DeviceFacts&, const IntBindings&) {
            return emit_attention_plain(language, problem);
          },
          seeds_attention_cuda_plain,
          estimate_attention_cuda_plain};
}

Style simt_style(SourceLanguage language) {
  return {"attention",
          target_of(language),
          "simt",
          "fused, for any GPU: tiles in shared memory, f32 register tiles, online softmax",
          structure_attention_cuda_simt(),
          [=](const Problem& problem, const DeviceFacts& device, const IntBindings& structure) {
            return emit_attention_simt(language, problem, device, structure);
          },
          seeds_attention_cuda_simt,
          estimate_attention_cuda_simt};
}

}  // namespace

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
      plain_style(SourceLanguage::cuda, "one warp per query row; the baseline"),
      simt_style(SourceLanguage::cuda),
      {"attention", "cuda", "mma", "fused, for sm_80 and later: tensor cores through mma.sync, asynchronous copies",
       structure_attention_cuda_mma(), emit_attention_cuda_mma, seeds_attention_cuda_mma, estimate_attention_cuda_mma},
      {"attention", "cuda", "wgmma", "fused, for Hopper (sm_90a) and 16-bit floats: tensor cores through wgmma",
       structure_attention_cuda_wgmma(), emit_attention_cuda_wgmma, seeds_attention_cuda_wgmma,
       estimate_attention_cuda_wgmma},
      plain_style(SourceLanguage::hip, "one wavefront per query row; the baseline"),
      simt_style(SourceLanguage::hip)};
  return k_styles;
}

std::string fastest_style(const Problem& problem, std::string_view target, const DeviceFacts& device) {
  return fastest_common_style(problem, target, {&device, 1});
}

Result<const Style*> find_style(std::string_view op, std::string_view target, std::string_view name) {
  std::string known;
  std::string elsewhere;
  for (const Style& style : styles()) {
    if (style.op != op) continue;
    if (style.target != target) {
      if (style.name == name) elsewhere += (elsewhere.empty() ? "" : ", ") + style.target;
      continue;
    }
    if (style.name == name) return &style;
    known += (known.empty() ? "" : ", ") + style.name;
  }
  Error error{errc::codegen_style, fmt::format("there is no style \"{}\" for {} on {}", name, op, target)};
  error.hint =
      known.empty() ? fmt::format("no style writes {} for {} yet", op, target) : fmt::format("use one of: {}", known);
  if (!elsewhere.empty() && !known.empty())
    error.hint = fmt::format("\"{}\" is written for {} alone; {}", name, elsewhere, error.hint);
  return fail(std::move(error));
}

Result<Bundle> emit_bundle(const Problem& problem, std::string_view target, std::string_view style,
                           const DeviceFacts& device, const IntBindings& structure) {
  KW_TRY(const Style* found, find_style(problem.op, target, style));
  return found->emit(problem, device, structure);
}

}  // namespace kw
