// Attention as a careful programmer writes it first: three kernels, a score matrix in memory, no tricks. It is what a
// run compares its best kernel with, and its error sets what the verifier may expect of f32, so its arithmetic is the
// straightforward one: dot product, scale, mod, mask, natural exponential.
#include <fmt/format.h>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/opencl/styles.hpp"
#include "operators/attention/kernels/text.hpp"

namespace kw {
namespace {

constexpr const char* k_opencl_plain_generator = "plain 2";

/// The kernels' arguments, in source and header alike.
struct Kernels {
  KernelParameters scores, softmax, weighted_sum;
};

Kernels kernel_parameters(const AttentionSpec& attention, const OuterNames& mods, const std::string& scores) {
  Kernels kernels;
  kernels.scores.add_tensor(attention.dtype, false, "Q");
  kernels.scores.add_tensor(attention.dtype, false, "K");
  kernels.scores.add_captures(mods.captures);
  kernels.scores.add_tensor(DType::f32, true, "S", scores);
  for (const char* axis : {"Sq", "Skv", "Hq", "Hkv"}) kernels.scores.add_axis(axis);
  kernels.scores.add_axes(mods.axes);
  kernels.softmax.add_tensor(DType::f32, true, "S", scores);
  if (attention.lse) kernels.softmax.add_tensor(DType::f32, true, "LSE");
  for (const char* axis : {"Sq", "Skv"}) kernels.softmax.add_axis(axis);
  kernels.weighted_sum.add_tensor(DType::f32, false, "S", scores);
  kernels.weighted_sum.add_tensor(attention.dtype, false, "V");
  kernels.weighted_sum.add_tensor(attention.dtype, true, "O");
  for (const char* axis : {"Sq", "Skv", "Hq", "Hkv"}) kernels.weighted_sum.add_axis(axis);
  return kernels;
}

/// How Q, K, V and O are read and written, and where LSE is.
void fill_tensors(const AttentionSpec& attention, Fillings& fillings) {
  const DType dtype = attention.dtype;
  fillings.emplace_back("element", element_type(dtype));
  fillings.emplace_back("query", element_text(dtype, "query", "d"));
  fillings.emplace_back("key", element_text(dtype, "key", "d"));
  fillings.emplace_back("value", element_text(dtype, "value", "(long)k * VALUE_DIM"));
  fillings.emplace_back("store", store_text(dtype, "O", "query_row * VALUE_DIM + d", "sum"));
  fillings.emplace_back("softmax_row",
                        attention.lse
                            ? "const long query_row = (long)get_global_id(1) * Sq + get_global_id(0);\n"
                              "__global float* row = S + query_row * Skv;"
                            : "__global float* row = S + ((long)get_global_id(1) * Sq + get_global_id(0)) * Skv;");
  fillings.emplace_back("store_lse",
                        attention.lse ? "LSE[query_row] = total > 0.0f ? largest + log(total) : -INFINITY;" : "");
}

}  // namespace

Result<Bundle> emit_attention_opencl_plain(const Problem& problem, const DeviceFacts&, const IntBindings&) {
  KW_TRY(const AttentionSpec* attention, float_attention(problem, "plain"));
  OuterNames names;
  std::set<KernelHelper> helpers;
  const PrintedMod score = printed_mod(attention->score_mod, {"score_mod", "float", true, true}, names, helpers);
  const PrintedMod mask = printed_mod(attention->mask_mod, {"mask_mod", "int", false, true}, names, helpers);
  if (attention->dtype == DType::bf16) helpers.insert(KernelHelper::to_bf16);
  const std::string score_buffer = free_buffer_name(problem, "S");
  const auto [scores, softmax, weighted_sum] = kernel_parameters(*attention, names, score_buffer);
  Fillings fillings = {
      {"comment", source_comment(problem, k_opencl_plain_generator, {})},
      {"helpers", helper_source(helpers)},
      {"score_mod", score.definition},
      {"mask_mod", mask.definition},
      {"scale", scale_text(*attention)},
      {"scores_signature", scores.signature("scores")},
      {"softmax_signature", softmax.signature("softmax")},
      {"sum_signature", weighted_sum.signature("weighted_sum")},
      {"apply_score_mod", score.call.empty() ? "" : fmt::format("score = {};", score.call)},
      {"apply_mask_mod", mask.call.empty() ? "" : fmt::format("if (!{}) score = -INFINITY;", mask.call)}};
  fill_tensors(*attention, fillings);
  Bundle bundle;
  bundle.target = "opencl";
  bundle.problem = problem.name;
  bundle.generator = k_opencl_plain_generator;
  bundle.source = fill(kernel_text("attention/plain.cl", "kernels"), fillings);
  bundle.defines = {{"HEAD_DIM", "D"}, {"VALUE_DIM", "Dv"}};
  bundle.scratch = {{score_buffer, DType::f32, "B * Hq * Sq * Skv"}};
  bundle.launches = {
      {"scores", {"ceil_div(Skv, 64)", "Sq", "B * Hq"}, {"64", "1", "1"}, "0", scores.arguments()},
      {"softmax", {"Sq", "B * Hq", "1"}, {"1", "1", "1"}, "0", softmax.arguments()},
      {"weighted_sum", {"ceil_div(Dv, 64)", "Sq", "B * Hq"}, {"64", "1", "1"}, "0", weighted_sum.arguments()}};
  return bundle;
}

std::vector<IntBindings> seeds_attention_opencl_plain(const Problem&, const DeviceFacts&) {
  return {IntBindings{}};
}

double estimate_attention_opencl_plain(const Problem&, const DeviceFacts&, const IntBindings&) {
  return 1.0;
}

}  // namespace kw
