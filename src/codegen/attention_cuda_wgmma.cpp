// Attention on Hopper's tensor cores through wgmma: a warpgroup of four warps multiplies 64 queries with a tile of keys
// that all of it reads from shared memory, so that operands pass through registers only where they are weights. Sums
// lie as those of the mma style do, whose text this is but for products and tiles.
#include <fmt/format.h>

#include "codegen/attention_cuda.hpp"
#include "codegen/attention_cuda_mma_shape.hpp"
#include "codegen/attention_cuda_tensor_cores.hpp"
#include "codegen/attention_cuda_text.hpp"
#include "codegen/attention_cuda_wgmma_source.hpp"
#include "codegen/source_language.hpp"

namespace kw {
namespace {

constexpr const char* k_generator = "wgmma 1";

Error unsupported(const Problem& problem, const std::string& why, const char* instead) {
  Error error{errc::codegen_unsupported, fmt::format("style \"wgmma\" {}; \"{}\" was asked for", why, problem.name)};
  error.hint = fmt::format("use style \"{}\"", instead);
  return error;
}

Result<void> require_wgmma(const Problem& problem, const DeviceFacts& device) {
  constexpr int k_hopper = 90;
  const int arch = arch_number(device);
  if (arch != k_hopper)
    return fail(unsupported(problem,
                            fmt::format("needs the warpgroup instructions of sm_90a, and {} is {}", device.name,
                                        device.gpu ? device.gpu->arch : "no GPU that is known"),
                            "mma"));
  if (!is_16_bit_float(problem.attention()->dtype))
    return fail(unsupported(problem, "multiplies f16 and bf16, not f32", "mma"));
  return {};
}

Fillings products_of(DType dtype) {
  const Cuda16BitFloat& type = cuda_16_bit_float(dtype);
  std::string multiplies;
  constexpr int k_step = 64, k_widest = 256;
  for (int columns = k_step; columns <= k_widest; columns += k_step) multiplies += wgmma_multiply(columns, dtype);
  const Fillings fillings = {{"element", element_type(dtype, SourceLanguage::cuda)},
                             {"type", type.name},
                             {"pair", type.pair},
                             {"pair_from_floats", type.pair_from_floats},
                             {"multiplies", multiplies}};
  return {{"products", fill(k_wgmma_products, fillings)},
          {"chunk_offset", "chunk_offset(row, chunk, ROWS)"},
          // Descriptors count from multiples of 1024 bytes.
          {"tiles_begin", "(shared_memory + (-(long)__cvta_generic_to_shared(shared_memory) & 1023))"}};
}

/// Without defaults that depend on the device.
std::vector<Tunable> tile_tunables(const DecodePlan& plan) {
  std::vector<Tunable> tunables = {
      {"WARPGROUPS", {1, 2, 3}, 2}, {"KEYS", {64, 128, 192}, 64}, {"STAGES", {2, 3, 4}, 2}};
  if (plan.split_keys) tunables.push_back(blocks_per_unit_tunable());
  return tunables;
}

DecodePlan plan_of(const Problem& problem, const IntBindings& structure) {
  return decode_plan(problem, structure_attention_cuda_wgmma(), structure);
}

MmaShape wgmma_shape(const Problem& problem, const HeadText& heads) {
  MmaShape shape;
  shape.warps = fmt::format("(4 * {})", shrunk(problem, heads, "WARPGROUPS", 1));
  shape.rows = fmt::format("(16 * {})", shape.warps);
  shape.keys = shrunk(problem, heads, "KEYS", 64);
  shape.head_pad = shape.head_stride = fmt::format("round_up({}, 64)", heads.head);
  shape.value_pad = shape.value_stride = fmt::format("round_up({}, 64)", heads.value);
  shape.shared_bytes = fmt::format("2 * ({} * {} + STAGES * {} * ({} + {})) + 1024", shape.rows, shape.head_stride,
                                   shape.keys, shape.head_stride, shape.value_stride);
  // Output, scores as sums and as weights, and addresses.
  shape.registers = fmt::format("{} / 2 + {} * 3 / 4 + 40", shape.value_pad, shape.keys);
  return shape;
}

std::vector<std::string> wgmma_constraints(const Problem& problem) {
  return tile_constraints(problem, wgmma_shape);
}

std::vector<IntBindings> by_cost(const Problem& problem, const DeviceFacts& device, const DecodePlan& plan) {
  return tiles_by_cost(problem, device, legal_assignments(tile_tunables(plan), wgmma_constraints(problem), device),
                       estimate_attention_cuda_wgmma);
}

}  // namespace

std::vector<Tunable> structure_attention_cuda_wgmma() {
  return tensor_core_choices();
}

Result<Bundle> emit_attention_cuda_wgmma(const Problem& problem, const DeviceFacts& device,
                                         const IntBindings& structure) {
  KW_TRY(const AttentionSpec* attention, float_attention(problem, "wgmma"));
  const std::vector<Tunable> choices = structure_attention_cuda_wgmma();
  KW_TRY_VOID(check_choices("wgmma", choices, structure));
  KW_TRY_VOID(require_wgmma(problem, device));
  const MmaShape shape = wgmma_shape(problem, {});
  Bundle bundle = tensor_core_bundle(
      problem, structure, shape,
      {k_generator,
       choices,
       {"How: a warpgroup takes 64 queries through the keys in panels of BN, with wgmma; scores and weights stay in\n"
        "registers, and keys and values are copied STAGES - 1 panels ahead of their use. While a panel's values are "
        "added\n"
        "up, the scores of the next one become weights."},
       k_wgmma_loop,
       products_of(attention->dtype)});
  const DecodePlan plan = plan_of(problem, structure);
  const std::vector<IntBindings> legal = by_cost(problem, device, plan);
  if (legal.empty()) return fail(unsupported(problem, fmt::format("has no tile that fits {}", device.name), "mma"));
  bundle.tunables = tile_tunables(plan);
  for (Tunable& tunable : bundle.tunables) tunable.default_value = legal.front().at(tunable.name);
  bundle.constraints = wgmma_constraints(problem);
  return bundle;
}

std::vector<IntBindings> seeds_attention_cuda_wgmma(const Problem& problem, const DeviceFacts& device) {
  return best_seeds(by_cost(problem, device, plan_of(problem, {})), structure_attention_cuda_wgmma());
}

double estimate_attention_cuda_wgmma(const Problem& problem, const DeviceFacts& device, const IntBindings& assignment) {
  const DeviceFacts gpu = gpu_facts_for(device);
  const MmaShape shape = wgmma_shape(problem, primary_heads(problem));
  IntBindings names = assignment;
  const DecodePlan plan = plan_of(problem, assignment);
  for (const Tunable& tunable : tile_tunables(plan)) names.emplace(tunable.name, tunable.default_value);
  const auto number = [&](const std::string& text) { return static_cast<double>(value_of(text, names)); };
  const double warps = number(shape.warps), keys = number(shape.keys);
  const double head = number(shape.head_pad), values = number(shape.value_pad);
  const BlockShape block = tensor_core_block(shape, plan, names);
  const ModCost mod = mod_cost(problem);
  constexpr double k_softmax = 10.0;
  const double scores = 16.0 * keys / 32.0;  // per lane
  PanelWork work;
  work.tensor = warps * 16.0 * keys * (head + values) / tensor_rate(gpu);
  work.arithmetic = warps * (scores * (k_softmax + mod.plain) + values / 2.0) / 4.0;
  // A warpgroup reads the tile and, for the first product, its queries; copies write the tile.
  work.shared = 2.0 / 128.0 * (warps / 4.0 * (keys * (head + values) + 64.0 * head) + keys * (head + values));
  work.special = warps * scores * (1.0 + mod.special) * 32.0 / 16.0;
  return attention_clocks(problem, gpu, block, work) * (1.0 + 0.02 / number("STAGES - 1"));
}

}  // namespace kw
