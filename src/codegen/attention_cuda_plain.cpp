// Attention as a careful programmer writes it first for a GPU: one warp per query row, no tiles in shared memory, the
// natural exponential. It is what a run compares its best kernel with, and its error sets what the verifier may expect
// of the problem's type. The scores are not kept: a long sequence would need more memory than a device has.
#include <fmt/format.h>

#include "codegen/attention_cuda.hpp"
#include "codegen/attention_cuda_text.hpp"
#include "codegen/attention_text.hpp"
#include "codegen/text.hpp"

namespace kw {
namespace {

constexpr const char* k_generator = "plain 1";

constexpr const char* k_source = R"(${preamble}
${lanes}
${warp_definitions}
#define COLUMNS ((VALUE_DIM + LANES - 1) / LANES)

${helpers}
${score_mod}
${mask_mod}
// O[b, h, q, :] for one query row per warp. LANES keys at a time, one per lane: their scores, their weights under the
// largest score so far, and then the weighted sum of their values, of which a lane holds every LANES-th column.
extern "C" __global__ __launch_bounds__(LANES)
${signature} {
  __shared__ float weights[LANES];
  const int lane = threadIdx.x, q_idx = blockIdx.x, h = blockIdx.y, b = blockIdx.z;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const ${element}* query = Q + query_row * HEAD_DIM;
  float out[COLUMNS];
  for (int j = 0; j < COLUMNS; ++j) out[j] = 0.0f;
  float largest = -INFINITY, total = 0.0f;
  for (int first_key = 0; first_key < Skv; first_key += LANES) {
    const int kv_idx = min(first_key + lane, Skv - 1);
    const ${element}* key = K + (key_head * Skv + kv_idx) * HEAD_DIM;
    float dot_product = 0.0f;
    #pragma unroll 16
    for (int d = 0; d < HEAD_DIM; ++d) dot_product += ${query} * ${key};
    float score = dot_product * (${scale});
    ${apply_score_mod}
    ${apply_mask_mod}
    if (first_key + lane >= Skv) score = -INFINITY;

    float next = score;
    for (int step = LANES / 2; step > 0; step /= 2) next = fmaxf(next, ${shuffle_xor}(${mask}next, step));
    next = fmaxf(next, largest);
    // With no key allowed so far the maximum is -inf, and -inf - -inf would be NaN.
    if (next == -INFINITY) continue;
    const float shrink = expf(largest - next);
    largest = next;
    weights[lane] = expf(score - next);
    ${sync_lanes};
    total *= shrink;
    for (int j = 0; j < COLUMNS; ++j) out[j] *= shrink;
    for (int k = 0; k < min(LANES, Skv - first_key); ++k) {
      total += weights[k];
      const ${element}* value = V + (key_head * Skv + first_key + k) * VALUE_DIM;
      for (int j = 0; j < COLUMNS; ++j)
        if (lane + j * LANES < VALUE_DIM) out[j] += weights[k] * ${value};
    }
    ${sync_lanes};
  }
  for (int j = 0; j < COLUMNS; ++j)
    if (lane + j * LANES < VALUE_DIM)
      ${store}
  ${store_lse}
}
)";

KernelParameters kernel_parameters(const AttentionSpec& attention, const OuterNames& mods, SourceLanguage language) {
  KernelParameters parameters(language);
  for (const char* tensor : {"Q", "K", "V"}) parameters.add_tensor(attention.dtype, false, tensor);
  parameters.add_captures(mods.captures);
  parameters.add_tensor(attention.dtype, true, "O");
  if (attention.lse) parameters.add_tensor(DType::f32, true, "LSE");
  for (const char* axis : {"Sq", "Skv", "Hq", "Hkv"}) parameters.add_axis(axis);
  parameters.add_axes(mods.axes);
  return parameters;
}

std::string store(DType dtype, SourceLanguage language) {
  return store_text(dtype, "O", "query_row * VALUE_DIM + lane + j * LANES", "total > 0.0f ? out[j] / total : 0.0f",
                    language);
}

}  // namespace

Result<Bundle> emit_attention_plain(SourceLanguage language, const Problem& problem) {
  KW_TRY(const AttentionSpec* attention, float_attention(problem, "plain"));
  OuterNames names;
  std::set<KernelHelper> helpers;
  const PrintedMod score =
      printed_mod(attention->score_mod, {"score_mod", "float", true, true, language}, names, helpers);
  const PrintedMod mask = printed_mod(attention->mask_mod, {"mask_mod", "int", false, true, language}, names, helpers);
  const KernelParameters parameters = kernel_parameters(*attention, names, language);
  const DType dtype = attention->dtype;
  Bundle bundle;
  bundle.target = target_of(language);
  bundle.problem = problem.name;
  bundle.generator = k_generator;
  Fillings fillings = warp_fillings(language);
  const Fillings own = {
      {"preamble", cuda_preamble(problem, k_generator, {}, language)},
      {"lanes", language == SourceLanguage::cuda ? "#define LANES 32" : ""},
      {"helpers", helper_source(helpers, language)},
      {"score_mod", score.definition},
      {"mask_mod", mask.definition},
      {"scale", scale_text(*attention)},
      {"signature", parameters.signature("attention")},
      {"element", element_type(dtype, language)},
      {"query", element_text(dtype, "query", "d", language)},
      {"key", element_text(dtype, "key", "d", language)},
      {"value", element_text(dtype, "value", "lane + j * LANES", language)},
      {"apply_score_mod", score.call.empty() ? "" : fmt::format("score = {};", score.call)},
      {"apply_mask_mod", mask.call.empty() ? "" : fmt::format("if (!{}) score = -INFINITY;", mask.call)},
      {"store", store(dtype, language)},
      {"store_lse",
       attention->lse ? "if (lane == 0) LSE[query_row] = total > 0.0f ? largest + logf(total) : -INFINITY;" : ""}};
  fillings.insert(fillings.end(), own.begin(), own.end());
  bundle.source = fill(k_source, fillings);
  bundle.defines = {{"HEAD_DIM", "D"}, {"VALUE_DIM", "Dv"}};
  // A wavefront has 64 or 32 lanes: one bundle serves both.
  if (language == SourceLanguage::hip) bundle.defines.push_back({"LANES", "warp_size"});
  const std::string lanes = language == SourceLanguage::hip ? "warp_size" : "32";
  bundle.launches = {{"attention", {"Sq", "Hq", "B"}, {lanes, "1", "1"}, "0", parameters.arguments()}};
  return bundle;
}

std::vector<IntBindings> seeds_attention_cuda_plain(const Problem&, const DeviceFacts&) {
  return {IntBindings{}};
}

double estimate_attention_cuda_plain(const Problem&, const DeviceFacts&, const IntBindings&) {
  return 1.0;
}

}  // namespace kw
