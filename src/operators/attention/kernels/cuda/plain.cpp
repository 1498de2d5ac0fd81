// Attention as a careful programmer writes it first for a GPU: one warp per query row, keys through shared memory, the
// natural exponential. It is what a run compares its best kernel with, and its error sets what the verifier may expect
// of the problem's type. The scores are not kept: a long sequence would need more memory than a device has.
#include <fmt/format.h>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/cuda/styles.hpp"
#include "operators/attention/kernels/cuda/text.hpp"
#include "operators/attention/kernels/text.hpp"

namespace kw {
namespace {

constexpr const char* k_cuda_plain_generator = "plain 4";
constexpr int k_rows = 8;  ///< of a block: what it reads of the keys is read once for all of them

KernelParameters kernel_parameters(const AttentionSpec& attention, const OuterNames& mods, Dialect dialect) {
  KernelParameters parameters(dialect);
  for (const char* tensor : {"Q", "K", "V"}) parameters.add_tensor(attention.dtype, false, tensor);
  parameters.add_captures(mods.captures);
  parameters.add_tensor(attention.dtype, true, "O");
  if (attention.lse) parameters.add_tensor(DType::f32, true, "LSE");
  for (const char* axis : {"Sq", "Skv", "Hq", "Hkv"}) parameters.add_axis(axis);
  parameters.add_axes(mods.axes);
  return parameters;
}

std::string store(DType dtype, Dialect dialect) {
  return store_text(dtype, "O", "query_row * VALUE_DIM + lane + j * LANES", "total > 0.0f ? out[j] / total : 0.0f",
                    dialect);
}

}  // namespace

Result<Bundle> emit_attention_gpu_plain(Dialect dialect, const Problem& problem) {
  KW_TRY(const AttentionSpec* attention, float_attention(problem, "plain"));
  OuterNames names;
  std::set<KernelHelper> helpers;
  const PrintedMod score =
      printed_mod(attention->score_mod, {"score_mod", "float", true, true, dialect}, names, helpers);
  const PrintedMod mask = printed_mod(attention->mask_mod, {"mask_mod", "int", false, true, dialect}, names, helpers);
  const KernelParameters parameters = kernel_parameters(*attention, names, dialect);
  const DType dtype = attention->dtype;
  Bundle bundle;
  bundle.target = target_of(dialect);
  bundle.problem = problem.name;
  bundle.generator = k_cuda_plain_generator;
  Fillings fillings = dialect->warp;
  const Fillings own = {
      {"preamble", cuda_preamble(problem, k_cuda_plain_generator, {}, dialect)},
      {"lanes", dialect->lanes_are_fixed ? fmt::format("#define LANES {}", dialect->lanes) : ""},
      {"helpers", helper_source(helpers, dialect)},
      {"score_mod", score.definition},
      {"mask_mod", mask.definition},
      {"scale", scale_text(*attention)},
      {"signature", parameters.signature("attention")},
      {"element", element_type(dtype, dialect)},
      {"rows", std::to_string(k_rows)},
      {"query", element_text(dtype, "query", "first + d", dialect)},
      {"key", element_text(dtype, "key", "first + d", dialect)},
      {"value", element_text(dtype, "value", "lane + j * LANES", dialect)},
      {"apply_score_mod", score.call.empty() ? "" : fmt::format("score = {};", score.call)},
      {"apply_mask_mod", mask.call.empty() ? "" : fmt::format("if (!{}) score = -INFINITY;", mask.call)},
      {"store", store(dtype, dialect)},
      {"store_lse",
       attention->lse ? "if (lane == 0) LSE[query_row] = total > 0.0f ? largest + logf(total) : -INFINITY;" : ""}};
  fillings.insert(fillings.end(), own.begin(), own.end());
  bundle.source = fill(kernel_text("attention/plain.cu", "kernel"), fillings);
  bundle.defines = {{"HEAD_DIM", "D"}, {"VALUE_DIM", "Dv"}};
  // A wavefront has 64 or 32 lanes: one bundle serves both.
  if (!dialect->lanes_are_fixed) bundle.defines.push_back({"LANES", dialect->lanes});
  const std::string blocks = fmt::format("ceil_div(Sq, {})", k_rows);
  bundle.launches = {
      {"attention", {blocks, "Hq", "B"}, {dialect->lanes, std::to_string(k_rows), "1"}, "0", parameters.arguments()}};
  return bundle;
}

std::vector<IntBindings> seeds_attention_gpu_plain(const Problem&, const DeviceFacts&) {
  return {IntBindings{}};
}

double estimate_attention_gpu_plain(const Problem&, const DeviceFacts&, const IntBindings&) {
  return 1.0;
}

}  // namespace kw
