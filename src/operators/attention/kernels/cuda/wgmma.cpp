// Attention on Hopper's tensor cores through wgmma: a warpgroup of four warps multiplies 64 queries with a tile of keys
// that all of it reads from shared memory, so that operands pass through registers only where they are probabilities.
// Sums lie as those of the mma style do, whose text this is but for products and tiles.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/dialect.hpp"
#include "codegen/tensor_products.hpp"
#include "hardware/gpu_arch.hpp"
#include "language/kernel_texts.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/cuda/mma_shape.hpp"
#include "operators/attention/kernels/cuda/styles.hpp"
#include "operators/attention/kernels/cuda/tensor_cores.hpp"
#include "operators/attention/kernels/cuda/text.hpp"

namespace kw {
namespace {

constexpr const char* k_wgmma_file = "attention/wgmma.cu";
constexpr const char* k_wgmma_generator = "wgmma 4";

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
  if (!is_16_bit_float(attention_of(problem)->dtype))
    return fail(unsupported(problem, "multiplies f16 and bf16, not f32", "mma"));
  return {};
}

Fillings products_of(DType dtype) {
  const Cuda16BitFloat& type = cuda_16_bit_float(dtype);
  std::string multiplies;
  constexpr int k_step = 64, k_widest = 256;
  for (int columns = k_step; columns <= k_widest; columns += k_step)
    multiplies += wgmma_multiply(columns, dtype) + "\n" + wgmma_multiply_columns(columns, dtype) + "\n";
  const Fillings fillings = {{"element", element_type(dtype, cuda_dialect())},
                             {"type", type.name},
                             {"pair", type.pair},
                             {"pair_from_floats", type.pair_from_floats},
                             {"asynchronous_products", wgmma_groups()},
                             {"multiplies", multiplies}};
  return {{"products", fill(kernel_text(k_wgmma_file, "products"), fillings)},
          {"chunk_offset", "chunk_offset(row, chunk, ROWS)"},
          {"resident", "RESIDENT"},
          // Descriptors count from multiples of 1024 bytes.
          {"tiles_begin", "(shared_memory + (-(long)__cvta_generic_to_shared(shared_memory) & 1023))"}};
}

/// Without defaults that depend on the device.
std::vector<Tunable> tile_tunables(const DecodePlan& plan) {
  std::vector<Tunable> tunables = {{"WARPGROUPS", {1, 2, 3}, 2},
                                   {"BLOCK_N", {64, 128, 192}, 64},
                                   {"STAGES", {2, 3, 4}, 2},
                                   {"PINGPONG", {0, 1}, 0},
                                   {"RESIDENT", {1, 2, 3, 4}, 1}};
  if (plan.split_kv) tunables.push_back(blocks_per_unit_tunable());
  return tunables;
}

/// What a warpgroup's panel takes, in clocks of one of the unit's four schedulers and of its tensor cores.
struct WarpgroupPanel {
  double products = 0;  ///< of the tensor cores
  double issue = 0;     ///< of instructions
  double special = 0;   ///< of exp2 and its like
  double copies = 0;    ///< of a block's panel from the L2 cache, for the whole block
};
struct Warpgroups {
  double count = 1;
  bool pingpong = false;
};
/// From profiles on an H200, as is the shape of the model below. It is rough, but puts the tiles that were fastest
/// there first, at head sizes 64 and 128 (docs/results/2026-11-21-h200.md).
constexpr double k_issue_per_score = 5.0, k_issue_per_panel = 200.0, k_l2_bytes_per_clock = 40.0;
constexpr double k_latency_per_score = 18.0, k_barrier = 300.0;

/// For `together` blocks of one unit to go through a panel each: how long what they share is busy, and how long one of
/// them takes from barrier to barrier, of which the longer hides most of the other. Warpgroups without ping-pong all
/// multiply and then all do their softmax.
double clocks_of_panel(const WarpgroupPanel& panel, const Warpgroups& groups, double together) {
  const double softmax = panel.issue + panel.special;
  const double latency = std::max(softmax, panel.special * k_latency_per_score / 8.0);
  const double shared = together * std::max({groups.count * panel.products, groups.count * softmax, panel.copies});
  const double alone = groups.pingpong
                           ? 2.0 * (std::max(panel.products, latency) + k_barrier / 2.0)
                           : groups.count * (panel.products + softmax) + std::max(0.0, latency - softmax) + k_barrier;
  return std::hypot(shared, alone);
}

DecodePlan wgmma_plan(const Problem& problem, const IntBindings& structure) {
  return decode_plan(problem, structure_attention_cuda_wgmma(), structure);
}

MmaShape wgmma_shape(const Problem& problem, const HeadText& heads) {
  MmaShape shape;
  shape.warps = fmt::format("(4 * {})", shrunk(problem, heads, "WARPGROUPS", 1));
  shape.rows = fmt::format("(16 * {})", shape.warps);
  shape.keys = shrunk(problem, heads, "BLOCK_N", 64);
  shape.head_pad = shape.head_stride = fmt::format("round_up({}, 64)", heads.head);
  shape.value_pad = shape.value_stride = fmt::format("round_up({}, 64)", heads.value);
  shape.shared_bytes = fmt::format("2 * ({} * {} + STAGES * {} * ({} + {})) + 1024", shape.rows, shape.head_stride,
                                   shape.keys, shape.head_stride, shape.value_stride);
  // Output, scores as sums and as probabilities, and addresses; as NVRTC 13.0 was seen to need them.
  shape.registers = fmt::format("{0} / 2 + {1} * 3 / 4 + {2} + 16 * ({0} > 64)", shape.value_pad, shape.keys,
                                mod_cost(problem).special > 0.0 ? 48 : 40);
  return shape;
}

std::vector<std::string> wgmma_constraints(const Problem& problem) {
  std::vector<std::string> constraints = tile_constraints(problem, wgmma_shape);
  constraints.emplace_back("PINGPONG == 0 || WARPGROUPS == 2");
  for (const HeadText& heads : heads_to_fit(problem)) {
    const MmaShape shape = wgmma_shape(problem, heads);
    constraints.push_back(
        fmt::format("{} <= registers_per_block / (32 * {} * RESIDENT)", shape.registers, shape.warps));
  }
  return constraints;
}

std::vector<IntBindings> wgmma_tiles_by_cost(const Problem& problem, const DeviceFacts& device,
                                             const DecodePlan& plan) {
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
      {k_wgmma_generator,
       choices,
       {"How: a warpgroup takes 64 queries through the keys in panels of BN, with wgmma; scores and probabilities stay "
        "in\n"
        "registers, and keys and values are copied STAGES - 1 panels ahead of their use. Keys are multiplied one\n"
        "panel ahead of values; with PINGPONG one of a block's two warpgroups multiplies while the other does its "
        "softmax."},
       k_wgmma_file,
       products_of(attention->dtype)});
  const DecodePlan plan = wgmma_plan(problem, structure);
  const std::vector<IntBindings> legal = wgmma_tiles_by_cost(problem, device, plan);
  if (legal.empty()) return fail(unsupported(problem, fmt::format("has no tile that fits {}", device.name), "mma"));
  bundle.tunables = tile_tunables(plan);
  for (Tunable& tunable : bundle.tunables) tunable.default_value = legal.front().at(tunable.name);
  bundle.constraints = wgmma_constraints(problem);
  return bundle;
}

std::vector<IntBindings> seeds_attention_cuda_wgmma(const Problem& problem, const DeviceFacts& device) {
  return best_seeds(wgmma_tiles_by_cost(problem, device, wgmma_plan(problem, {})), structure_attention_cuda_wgmma());
}

double estimate_attention_cuda_wgmma(const Problem& problem, const DeviceFacts& device, const IntBindings& assignment) {
  const DeviceFacts gpu = gpu_facts_for(device);
  const MmaShape shape = wgmma_shape(problem, primary_heads(problem));
  IntBindings names = assignment;
  const DecodePlan plan = wgmma_plan(problem, assignment);
  for (const Tunable& tunable : tile_tunables(plan)) names.emplace(tunable.name, tunable.default_value);
  const auto number = [&](const std::string& text) { return static_cast<double>(value_of(text, names)); };
  BlockShape block = tensor_core_block(shape, plan, names);
  // The compiler takes some more than it needs, or all that the blocks it was asked to leave room for leave it.
  const std::int64_t resident = names.at("RESIDENT");
  block.registers =
      resident == 1 ? block.registers + 8 : gpu.gpu->registers_per_block / (block.threads * resident) / 8 * 8;
  const Warpgroups groups{number(shape.warps) / 4.0, number("PINGPONG") != 0.0};
  const double panel_elements = number(shape.keys) * (number(shape.head_pad) + number(shape.value_pad));
  WarpgroupPanel panel;
  panel.products = 64.0 * panel_elements / tensor_rate(gpu);
  const double scores = number(shape.keys) / 2.0;  // per lane
  const ModCost mod = mod_cost(problem);
  panel.issue = scores * (k_issue_per_score + mod.plain) + k_issue_per_panel;
  panel.special = scores * (1.0 + mod.special) * 8.0;
  panel.copies = 2.0 * panel_elements / k_l2_bytes_per_clock;
  // Filling the ring and storing the sums take about two panels.
  const auto clocks_of = [&](std::int64_t together, double panels) {
    const auto blocks = static_cast<double>(together);
    return (panels + 2.0) * clocks_of_panel(panel, groups, blocks) + 500.0 * blocks;
  };
  return attention_clocks(problem, gpu, block, clocks_of) * (1.0 + 0.02 / number("STAGES - 1"));
}

}  // namespace kw
