#include "operators/attention/kernels/cuda/decode.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "mod/analysis/analysis.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/cuda/text.hpp"
#include "operators/attention/kernels/text.hpp"

namespace kw {
namespace {

constexpr const char* k_merge_file = "attention/merge.cu";

/// One block's threads, of which each has one element of the row.
constexpr const char* k_merge_threads = "128";

KernelParameters merge_parameters(const Problem& problem, const std::string& parts, Dialect dialect) {
  const AttentionSpec& attention = *attention_of(problem);
  KernelParameters parameters(dialect);
  for (const char* buffer : {k_part_values, k_part_sums})
    parameters.add_tensor(DType::f32, false, buffer, free_buffer_name(problem, buffer));
  parameters.add_tensor(attention.dtype, true, "O");
  if (attention.lse) parameters.add_tensor(DType::f32, true, "LSE");
  parameters.add("const int parts", parts);
  return parameters;
}

}  // namespace

std::vector<Tunable> cuda_decode_choices() {
  return {{"pack_gqa", {1, 0}, 1},   // the heads of a key head in one tile of rows
          {"split_kv", {1, 0}, 1}};  // the keys in parts that a second kernel merges
}

DecodePlan decode_plan(const Problem& problem, const std::vector<Tunable>& choices, const IntBindings& structure) {
  const auto chosen = [&](std::string_view name) {
    const auto has_name = [&](const Tunable& choice) { return choice.name == name; };
    return std::any_of(choices.begin(), choices.end(), has_name) && choice_of(choices, structure, name) != 0;
  };
  const Axes& axes = problem.primary().axes;
  constexpr std::int64_t k_few_queries = 64, k_keys_per_query = 8;
  if (axes.at("Sq") > k_few_queries) return {};
  const AttentionSpec& attention = *attention_of(problem);
  bool interval = !attention.apart.mask_mod.has_value(), by_head = false;
  if (attention.apart.mask_mod) {
    ModFunction mask = *attention.apart.mask_mod;
    by_head = dependencies(mask)[static_cast<std::size_t>(mask.root)].head;
    interval = chosen("row_bounds") && row_interval(mask).has_value();
  }
  if (attention.losing && chosen("block_mask")) {
    interval = false;
    const ModFunction& term = attention.losing->term;
    by_head = by_head || dependencies(term)[node_index(term.root)].head;
  }
  DecodePlan plan;
  plan.pack_gqa = chosen("pack_gqa") && (interval || !by_head) && axes.at("Hq") > axes.at("Hkv");
  plan.split_kv = chosen("split_kv") && axes.at("Skv") >= k_keys_per_query * axes.at("Sq");
  return plan;
}

Tunable blocks_per_unit_tunable() {
  return {"BLOCKS_PER_UNIT", {1, 2, 4, 8}, 2};
}

std::string row_tiles(const DecodePlan& plan, const std::string& rows) {
  return plan.pack_gqa ? fmt::format("ceil_div(Sq * (Hq / Hkv), {})", rows) : fmt::format("ceil_div(Sq, {})", rows);
}

const char* tile_heads(const DecodePlan& plan) {
  return plan.pack_gqa ? "Hkv" : "Hq";
}

std::string key_parts(const DecodePlan& plan, const std::string& rows, const std::string& keys) {
  return fmt::format("max(1, min(ceil_div(Skv, {}), compute_units * BLOCKS_PER_UNIT / ({} * {} * B)))", keys,
                     row_tiles(plan, rows), tile_heads(plan));
}

std::string merge_source(const Problem& problem, Dialect dialect, bool natural) {
  const AttentionSpec& attention = *attention_of(problem);
  const Fillings units = {{"units", natural ? "natural units" : "units of log2"},
                          {"log_of_sum", natural ? "peak + logf(total)" : "(peak + log2f(total)) / LOG2_E"}};
  return fill_lines(kernel_text(k_merge_file, "kernel"),
                    {{"threads", k_merge_threads},
                     {"signature", merge_parameters(problem, "", dialect).signature("merge")},
                     {"store", store_text(attention.dtype, "O", "row * VALUE_DIM + d", "result", dialect)},
                     {"store_lse", attention.lse ? fill_lines(kernel_text(k_merge_file, "lse"), units) : ""},
                     {"base_number", natural ? "e" : "2"},
                     {"exponent", natural ? "(sum.x - base) * LOG2_E" : "sum.x - base"}});
}

void add_merge(const Problem& problem, const std::string& parts, Bundle& bundle) {
  const std::string places = fmt::format("B * Hq * Sq * {}", parts);
  bundle.scratch.push_back({free_buffer_name(problem, k_part_values), DType::f32, places + " * Dv"});
  bundle.scratch.push_back({free_buffer_name(problem, k_part_sums), DType::f32, places + " * 2"});
  bundle.launches.push_back({"merge",
                             {"B * Hq * Sq", fmt::format("ceil_div(Dv, {})", k_merge_threads)},
                             {k_merge_threads, "1"},
                             "0",
                             merge_parameters(problem, parts, cuda_dialect()).arguments()});
}

}  // namespace kw
