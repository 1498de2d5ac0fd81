// Attention as a careful programmer writes it first: three kernels, a score matrix in memory, no tricks. It is what a
// run compares its best kernel with, and its error sets what the verifier may expect of f32, so its arithmetic is the
// straightforward one: dot product, scale, mod, mask, natural exponential.
#include <fmt/format.h>

#include "codegen/attention_opencl.hpp"
#include "codegen/attention_text.hpp"
#include "codegen/text.hpp"

namespace kw {
namespace {

constexpr const char* k_generator = "plain 1";

constexpr const char* k_source = R"(${comment}

${helpers}
${score_mod}
${mask_mod}
// S[b, h, q, k]: the scores of one query row per work-group row, one key per work-item.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void scores(__global const float* restrict Q, __global const float* restrict K, __global float* restrict S,
            const int Sq, const int Skv, const int Hq, const int Hkv${batch_parameter}) {
  const int kv_idx = get_global_id(0), q_idx = get_global_id(1);
  const int b = get_global_id(2) / Hq, h = get_global_id(2) % Hq;
  if (kv_idx >= Skv) return;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  __global const float* query = Q + query_row * HEAD_DIM;
  __global const float* key = K + (((long)b * Hkv + h / (Hq / Hkv)) * Skv + kv_idx) * HEAD_DIM;
  float dot_product = 0.0f;
  for (int d = 0; d < HEAD_DIM; ++d) dot_product += query[d] * key[d];
  float score = dot_product * (${scale});
  ${apply_score_mod}
  ${apply_mask_mod}
  S[query_row * Skv + kv_idx] = score;
}

// Each row of S to weights that add up to 1; a row whose keys are all masked to zeros. One row per work-item.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void softmax(__global float* restrict S, const int Sq, const int Skv) {
  __global float* row = S + ((long)get_global_id(1) * Sq + get_global_id(0)) * Skv;
  float largest = -INFINITY;
  for (int k = 0; k < Skv; ++k) largest = max(largest, row[k]);
  // With no key allowed the maximum is -inf, and -inf - -inf would be NaN.
  if (largest == -INFINITY) largest = 0.0f;
  float total = 0.0f;
  for (int k = 0; k < Skv; ++k) {
    row[k] = exp(row[k] - largest);
    total += row[k];
  }
  for (int k = 0; k < Skv; ++k) row[k] = total > 0.0f ? row[k] / total : 0.0f;
}

// O[b, h, q, d]: the weighted sum of the values, one output element per work-item.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void weighted_sum(__global const float* restrict S, __global const float* restrict V, __global float* restrict O,
                  const int Sq, const int Skv, const int Hq, const int Hkv) {
  const int d = get_global_id(0), q_idx = get_global_id(1);
  const int b = get_global_id(2) / Hq, h = get_global_id(2) % Hq;
  if (d >= VALUE_DIM) return;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  __global const float* weights = S + query_row * Skv;
  __global const float* value = V + ((long)b * Hkv + h / (Hq / Hkv)) * Skv * VALUE_DIM + d;
  float sum = 0.0f;
  for (int k = 0; k < Skv; ++k) sum += weights[k] * value[(long)k * VALUE_DIM];
  O[query_row * VALUE_DIM + d] = sum;
}
)";

struct PrintedMod {
  std::string definition;
  std::string call;  ///< empty when the problem has no such mod
  std::set<OpenClHelper> helpers;
  std::set<std::string> axes;
};

PrintedMod print_mod(const std::optional<ModFunction>& mod, const ModFunctionShape& shape) {
  if (!mod) return {};
  const ModFunctionText text = mod_function(*mod, mod->root, shape);
  std::vector<std::string> arguments;
  if (shape.takes_score) arguments.emplace_back("score");
  for (const char* index : {"b", "h", "q_idx", "kv_idx"}) arguments.emplace_back(index);
  arguments.insert(arguments.end(), text.axes.begin(), text.axes.end());
  return {text.definition,
          fmt::format("{}({})", shape.name, join_list(arguments)),
          text.helpers,
          {text.axes.begin(), text.axes.end()}};
}

std::string plain_source(const Problem& problem, const AttentionSpec& attention, bool& uses_batch) {
  const PrintedMod score = print_mod(attention.score_mod, {"score_mod", "float", true, true});
  const PrintedMod mask = print_mod(attention.mask_mod, {"mask_mod", "int", false, true});
  std::set<OpenClHelper> helpers = score.helpers;
  helpers.insert(mask.helpers.begin(), mask.helpers.end());
  uses_batch = score.axes.count("B") + mask.axes.count("B") > 0;
  return fill(k_source,
              {{"comment", source_comment(problem, k_generator, {})},
               {"helpers", opencl_helper_source(helpers)},
               {"score_mod", score.definition},
               {"mask_mod", mask.definition},
               {"scale", scale_text(attention)},
               {"batch_parameter", uses_batch ? ", const int B" : ""},
               {"apply_score_mod", score.call.empty() ? "" : fmt::format("score = {};", score.call)},
               {"apply_mask_mod", mask.call.empty() ? "" : fmt::format("if (!{}) score = -INFINITY;", mask.call)}});
}

}  // namespace

Result<Bundle> emit_attention_opencl_plain(const Problem& problem, const DeviceFacts&, const IntBindings&) {
  KW_TRY(const AttentionSpec* attention, f32_attention(problem, "plain"));
  bool uses_batch = false;
  Bundle bundle;
  bundle.target = "opencl";
  bundle.problem = problem.name;
  bundle.generator = k_generator;
  bundle.source = plain_source(problem, *attention, uses_batch);
  bundle.defines = {{"HEAD_DIM", "D"}, {"VALUE_DIM", "Dv"}};
  bundle.scratch = {{"S", DType::f32, "B * Hq * Sq * Skv"}};
  Launch scores{"scores",
                {"ceil_div(Skv, 64)", "Sq", "B * Hq"},
                {"64", "1", "1"},
                "0",
                {"Q", "K", "S", "Sq", "Skv", "Hq", "Hkv"}};
  if (uses_batch) scores.args.emplace_back("B");
  bundle.launches = {scores,
                     {"softmax", {"Sq", "B * Hq", "1"}, {"1", "1", "1"}, "0", {"S", "Sq", "Skv"}},
                     {"weighted_sum",
                      {"ceil_div(Dv, 64)", "Sq", "B * Hq"},
                      {"64", "1", "1"},
                      "0",
                      {"S", "V", "O", "Sq", "Skv", "Hq", "Hkv"}}};
  return bundle;
}

std::vector<IntBindings> seeds_attention_opencl_plain(const Problem&, const DeviceFacts&) {
  return {IntBindings{}};
}

double estimate_attention_opencl_plain(const Problem&, const DeviceFacts&, const IntBindings&) {
  return 1.0;
}

}  // namespace kw
