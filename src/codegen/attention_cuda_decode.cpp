#include "codegen/attention_cuda_decode.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/attention_cuda_text.hpp"
#include "codegen/attention_text.hpp"
#include "spec/mod_analysis.hpp"

namespace kw {
namespace {

/// One block's threads, of which each has one element of the row.
constexpr const char* k_merge_threads = "128";

constexpr const char* k_merge_source =
    R"(// Merges the parts of a row: sums of weights relative to one peak are sums relative to another one times
// 2^(peak - other). A part that saw no key has a sum of zero, and wrote no values.
extern "C" __global__ __launch_bounds__(${threads})
${signature} {
  const long row = blockIdx.x;
  const int d = (int)(blockIdx.y * blockDim.x + threadIdx.x);
  const float2* sums = (const float2*)part_sums + row * parts;
  float peak = -INFINITY;
  #pragma unroll 8
  for (int p = 0; p < parts; ++p) peak = fmaxf(peak, sums[p].x);
  const float base = peak == -INFINITY ? 0.0f : peak;
  float total = 0.0f, value = 0.0f;
  #pragma unroll 8
  for (int p = 0; p < parts; ++p) {
    const float2 sum = sums[p];
    const float weight = power_of_two(sum.x - base);
    total = fmaf(weight, sum.y, total);
    if (sum.y > 0.0f && d < VALUE_DIM) value = fmaf(weight, part_values[(row * parts + p) * VALUE_DIM + d], value);
  }
  if (d >= VALUE_DIM) return;
  // A row whose keys were all masked has no weights, and its output is zero.
  const float result = total > 0.0f ? value / total : 0.0f;
  ${store}
  ${store_lse}
}
)";

constexpr const char* k_merge_lse = R"(// LSE holds what the scores left out; peak and total are in units of log2.
if (d == 0) LSE[row] = total > 0.0f ? (peak + log2f(total)) / LOG2_E + LSE[row] : -INFINITY;)";

KernelParameters merge_parameters(const Problem& problem, const std::string& parts, SourceLanguage language) {
  const AttentionSpec& attention = *problem.attention();
  KernelParameters parameters(language);
  for (const char* buffer : {k_part_values, k_part_sums})
    parameters.add_tensor(DType::f32, false, buffer, free_buffer_name(problem, buffer));
  parameters.add_tensor(attention.dtype, true, "O");
  if (attention.lse) parameters.add_tensor(DType::f32, true, "LSE");
  parameters.add("const int parts", parts);
  return parameters;
}

}  // namespace

std::vector<Tunable> cuda_decode_choices() {
  return {{"pack_heads", {1, 0}, 1},   // the heads of a key head in one tile of rows
          {"split_keys", {1, 0}, 1}};  // the keys in parts that a second kernel merges
}

DecodePlan decode_plan(const Problem& problem, const std::vector<Tunable>& choices, const IntBindings& structure) {
  const auto chosen = [&](std::string_view name) {
    const auto has_name = [&](const Tunable& choice) { return choice.name == name; };
    return std::any_of(choices.begin(), choices.end(), has_name) && choice_of(choices, structure, name) != 0;
  };
  const Axes& axes = problem.primary().axes;
  constexpr std::int64_t k_few_queries = 64, k_keys_per_query = 8;
  if (axes.at("Sq") > k_few_queries) return {};
  const AttentionSpec& attention = *problem.attention();
  bool interval = !attention.mask_mod.has_value(), by_head = false;
  if (attention.mask_mod) {
    ModFunction mask = *attention.mask_mod;
    by_head = dependencies(mask)[static_cast<std::size_t>(mask.root)].head;
    interval = chosen("row_bounds") && row_interval(mask).has_value();
  }
  DecodePlan plan;
  plan.packed_heads = chosen("pack_heads") && (interval || !by_head) && axes.at("Hq") > axes.at("Hkv");
  plan.split_keys = chosen("split_keys") && axes.at("Skv") >= k_keys_per_query * axes.at("Sq");
  return plan;
}

Tunable blocks_per_unit_tunable() {
  return {"BLOCKS_PER_UNIT", {1, 2, 4, 8}, 2};
}

std::string row_tiles(const DecodePlan& plan, const std::string& rows) {
  return plan.packed_heads ? fmt::format("ceil_div(Sq * (Hq / Hkv), {})", rows) : fmt::format("ceil_div(Sq, {})", rows);
}

const char* tile_heads(const DecodePlan& plan) {
  return plan.packed_heads ? "Hkv" : "Hq";
}

std::string key_parts(const DecodePlan& plan, const std::string& rows, const std::string& keys) {
  return fmt::format("max(1, min(ceil_div(Skv, {}), compute_units * BLOCKS_PER_UNIT / ({} * {} * B)))", keys,
                     row_tiles(plan, rows), tile_heads(plan));
}

std::string merge_source(const Problem& problem, SourceLanguage language) {
  const AttentionSpec& attention = *problem.attention();
  std::string source =
      fill(k_merge_source, {{"threads", k_merge_threads},
                            {"signature", merge_parameters(problem, "", language).signature("merge")},
                            {"store", store_text(attention.dtype, "O", "row * VALUE_DIM + d", "result", language)},
                            {"store_lse", attention.lse ? k_merge_lse : ""}});
  source.pop_back();  // the template it goes into ends the line
  return source;
}

void add_merge(const Problem& problem, const std::string& parts, Bundle& bundle) {
  const std::string places = fmt::format("B * Hq * Sq * {}", parts);
  bundle.scratch.push_back({free_buffer_name(problem, k_part_values), DType::f32, places + " * Dv"});
  bundle.scratch.push_back({free_buffer_name(problem, k_part_sums), DType::f32, places + " * 2"});
  bundle.launches.push_back({"merge",
                             {"B * Hq * Sq", fmt::format("ceil_div(Dv, {})", k_merge_threads)},
                             {k_merge_threads, "1"},
                             "0",
                             merge_parameters(problem, parts, SourceLanguage::cuda).arguments()});
}

}  // namespace kw
