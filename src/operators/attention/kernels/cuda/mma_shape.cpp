#include "operators/attention/kernels/cuda/mma_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/cuda/styles.hpp"

namespace kw {
namespace {

bool is_narrow(const Problem& problem) {
  return is_16_bit_float(attention_of(problem)->dtype);
}

DecodePlan mma_plan(const Problem& problem, const IntBindings& structure) {
  return decode_plan(problem, structure_attention_cuda_mma(), structure);
}

/// Without defaults that depend on the device.
std::vector<Tunable> tile_tunables(const Problem& problem, const DecodePlan& plan) {
  std::vector<Tunable> tunables = {
      {"WARPS", {1, 2, 4, 8}, 4}, {"BLOCK_N", {16, 32, 64, 128}, 32}, {"STAGES", {2, 3, 4}, 2}};
  if (is_narrow(problem))
    tunables.push_back({"Q_REGISTERS", {1, 0}, 1});
  else
    tunables.push_back({"UNROLL_D", {1, 2, 4}, 2});
  if (plan.split_kv) tunables.push_back(blocks_per_unit_tunable());
  return tunables;
}

std::vector<IntBindings> mma_tiles_by_cost(const Problem& problem, const DeviceFacts& device, const DecodePlan& plan) {
  return tiles_by_cost(problem, device,
                       legal_assignments(tile_tunables(problem, plan), mma_constraints(problem), device),
                       estimate_attention_cuda_mma);
}

void set_16_bit(const HeadText& heads, MmaShape& shape) {
  shape.head_pad = fmt::format("round_up({}, 16)", heads.head);
  shape.value_pad = fmt::format("round_up({}, 16)", heads.value);
  const auto stride = [](const std::string& pad) { return fmt::format("({0} + 8 * ({0} % 64 != 0))", pad); };
  shape.head_stride = stride(shape.head_pad);
  shape.value_stride = stride(shape.value_pad);
  shape.query_tiles = fmt::format("max(1, Q_REGISTERS * ({0} <= 128) * ceil_div({0}, 16))", heads.head);
  // Output, scores as sums and as probabilities, queries, and addresses.
  shape.registers = fmt::format("{} / 2 + {} * 3 / 4 + 4 * {} + 50", shape.value_pad, shape.keys, shape.query_tiles);
}

void set_f32(const HeadText& heads, MmaShape& shape) {
  shape.head_pad = fmt::format("round_up({}, 8)", heads.head);
  shape.value_pad = fmt::format("round_up({}, 8)", heads.value);
  // 8 or 24 modulo 32 floats for pairs by row, 4 or 12 modulo 16 for every second row.
  shape.head_stride = fmt::format("({0} + 8 * ({0} % 16 == 0))", shape.head_pad);
  shape.value_stride = fmt::format("({} + 4)", shape.value_pad);
  // Output, scores in two parts, operands in two parts, and addresses.
  shape.registers = fmt::format("{} / 2 + {} + 64", shape.value_pad, shape.keys);
}

/// Registers that a tile in f32 was seen to be compiled to, loads and splits in flight included; NVRTC 13.0, sm_80 to
/// sm_120. The constraint has what must be held: of tiles between the two, some values spill.
std::int64_t compiled_registers_f32(const Problem& problem, const HeadText& heads, const IntBindings& names) {
  const MmaShape shape = mma_shape(problem, heads);
  return value_of(fmt::format("{} + 3 * {} / 2 + 80", shape.value_pad, shape.keys), names);
}

/// What makes tiles that spill no first guesses. Of heads that leave hardly a register, two stages were seen to spill,
/// in one build for sm_80, and three in none.
double cost_of_spills(const Problem& problem, const IntBindings& names) {
  constexpr std::int64_t k_most_registers = 250;
  if (is_narrow(problem)) return 1.0;
  double factor = 1.0;
  if (compiled_registers_f32(problem, primary_heads(problem), names) > k_most_registers) factor *= 2.0;
  const bool tight = compiled_registers_f32(problem, heads_to_fit(problem).back(), names) > k_most_registers;
  if (tight && names.at("STAGES") != 3) factor *= 1.5;
  return factor;
}

/// Of tiles that differ in nothing else, on an H100 and an H200 (bench/spaces): one step at a time takes 1.04 to 1.10
/// times as long as four, two take 1.01 to 1.03 times (medians of 121 and 111 pairs in four tables).
double cost_of_rolled_loops(const Problem& problem, const IntBindings& names) {
  if (is_narrow(problem)) return 1.0;
  const std::int64_t unrolled = names.at("UNROLL_D");
  return unrolled == 1 ? 1.07 : unrolled == 2 ? 1.01 : 1.0;
}

}  // namespace

MmaShape mma_shape(const Problem& problem, const HeadText& heads) {
  MmaShape shape;
  shape.warps = shrunk(problem, heads, "WARPS", 1);
  shape.rows = fmt::format("(16 * {})", shape.warps);
  shape.keys = shrunk(problem, heads, "BLOCK_N", 16);
  if (is_narrow(problem))
    set_16_bit(heads, shape);
  else
    set_f32(heads, shape);
  shape.shared_bytes = fmt::format("{} * ({} * {} + STAGES * {} * ({} + {}))", is_narrow(problem) ? 2 : 4, shape.rows,
                                   shape.head_stride, shape.keys, shape.head_stride, shape.value_stride);
  return shape;
}

std::vector<std::string> tile_constraints(const Problem& problem,
                                          MmaShape (*shape_of)(const Problem&, const HeadText&)) {
  std::vector<std::string> constraints;
  for (const HeadText& heads : heads_to_fit(problem)) {
    const MmaShape shape = shape_of(problem, heads);
    constraints.push_back(
        fmt::format("{} + {} <= shared_bytes_per_block", shape.shared_bytes, row_bounds_bytes(shape.rows)));
    constraints.push_back(fmt::format("{} <= min(max_registers_per_thread, registers_per_block / (32 * {}))",
                                      shape.registers, shape.warps));
  }
  return constraints;
}

BlockShape tensor_core_block(const MmaShape& shape, const DecodePlan& plan, const IntBindings& names) {
  BlockShape block;
  block.rows = value_of(shape.rows, names);
  block.keys = value_of(shape.keys, names);
  block.threads = 32 * value_of(shape.warps, names);
  block.registers = value_of(shape.registers, names);
  block.shared_bytes = value_of(shape.shared_bytes + " + " + row_bounds_bytes(shape.rows), names);
  block.warps_to_half = 4;
  block.pack_gqa = plan.pack_gqa;
  if (plan.split_kv) block.blocks_per_unit = value_of("BLOCKS_PER_UNIT", names);
  return block;
}

double tensor_rate(const DeviceFacts& gpu) {
  constexpr double k_usual_rate = 1024;
  const GpuFacts& facts = *gpu.gpu;
  if (facts.peak_f16_flops <= 0 || facts.clock_hz <= 0) return k_usual_rate;
  return facts.peak_f16_flops / (2.0 * facts.clock_hz * static_cast<double>(gpu.compute_units));
}

std::vector<IntBindings> tiles_by_cost(const Problem& problem, const DeviceFacts& device,
                                       const std::vector<IntBindings>& tiles,
                                       double (*estimate)(const Problem&, const DeviceFacts&, const IntBindings&)) {
  std::vector<std::pair<double, std::size_t>> costs;
  for (std::size_t i = 0; i < tiles.size(); ++i) costs.emplace_back(estimate(problem, device, tiles[i]), i);
  std::sort(costs.begin(), costs.end());
  std::vector<IntBindings> sorted;
  for (const auto& [cost, i] : costs) sorted.push_back(tiles[i]);
  return sorted;
}

std::vector<IntBindings> best_seeds(std::vector<IntBindings> mma_tiles_by_cost, const std::vector<Tunable>& choices) {
  constexpr std::size_t k_seeds = 8;
  mma_tiles_by_cost.resize(std::min(mma_tiles_by_cost.size(), k_seeds));
  for (IntBindings& seed : mma_tiles_by_cost)
    for (const Tunable& choice : choices) seed[choice.name] = choice.default_value;
  return mma_tiles_by_cost;
}

std::vector<std::string> mma_constraints(const Problem& problem) {
  return tile_constraints(problem, mma_shape);
}

std::vector<Tunable> mma_tunables(const Problem& problem, const DeviceFacts& device, const IntBindings& structure) {
  const DecodePlan plan = mma_plan(problem, structure);
  std::vector<Tunable> tunables = tile_tunables(problem, plan);
  const std::vector<IntBindings> legal = mma_tiles_by_cost(problem, device, plan);
  KW_CHECK(!legal.empty(), "no tile of the mma style fits {}", device.name);
  for (Tunable& tunable : tunables) tunable.default_value = legal.front().at(tunable.name);
  return tunables;
}

std::vector<IntBindings> seeds_attention_cuda_mma(const Problem& problem, const DeviceFacts& device) {
  return best_seeds(mma_tiles_by_cost(problem, device, mma_plan(problem, {})), structure_attention_cuda_mma());
}

double estimate_attention_cuda_mma(const Problem& problem, const DeviceFacts& device, const IntBindings& assignment) {
  const DeviceFacts gpu = gpu_facts_for(device);
  const MmaShape shape = mma_shape(problem, primary_heads(problem));
  IntBindings names = assignment;
  const DecodePlan plan = mma_plan(problem, assignment);
  for (const Tunable& tunable : tile_tunables(problem, plan)) names.emplace(tunable.name, tunable.default_value);
  const auto value = [&](const std::string& text) { return value_of(text, names); };
  const auto number = [&](const std::string& text) { return static_cast<double>(value(text)); };
  const bool narrow = is_narrow(problem);
  const double warps = number(shape.warps), keys = number(shape.keys);
  const double head = number(shape.head_pad), values = number(shape.value_pad);
  const BlockShape block = tensor_core_block(shape, plan, names);
  // tf32 runs at half the rate of f16 and bf16, and three products stand for one of f32.
  const double multiply_adds = 16.0 * keys * (head + values) * (narrow ? 1.0 : 6.0);
  const ModCost mod = mod_cost(problem);
  constexpr double k_softmax = 10.0, k_split = 5.0;
  const double scores = 16.0 * keys / 32.0;  // per lane
  const double instructions = keys * (head + values) / (narrow ? 128.0 : 64.0 / 3.0);
  const double splits = narrow ? 0.0 : k_split * (keys * (head + values) / 32.0 + 16.0 * (head + keys) / 32.0);
  const double operands = keys * (head + values) * (narrow ? 2.0 : 4.0) / 128.0;  // 128-byte accesses
  const double queries = value(fmt::format("16 * {}", shape.query_tiles)) == value(shape.head_pad) && narrow
                             ? 0.0
                             : 16.0 * head * (narrow ? 2.0 : 4.0) / 128.0;
  PanelWork work;
  work.tensor = warps * multiply_adds / tensor_rate(gpu);
  work.arithmetic = warps * (scores * (k_softmax + mod.plain) + instructions + splits + operands + values / 2.0) / 4.0;
  work.shared = warps * (operands + queries) + 2.0 * operands;
  work.special = warps * scores * (1.0 + mod.special) * 32.0 / 16.0;
  // More stages hide more of the way to memory.
  return attention_clocks(problem, gpu, block, work) * (1.0 + 0.02 / number("STAGES - 1")) *
         cost_of_spills(problem, names) * cost_of_rolled_loops(problem, names);
}

}  // namespace kw
