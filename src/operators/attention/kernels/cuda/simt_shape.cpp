#include "operators/attention/kernels/cuda/simt_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "operators/attention/kernels/cuda/mma_shape.hpp"
#include "operators/attention/kernels/cuda/styles.hpp"

namespace kw {
namespace {

/// Of which the first guess is made; the others have little say in what fits.
std::vector<Tunable> tile_tunables() {
  return {
      {"LANES", {8, 16, 32}, 16}, {"TEAMS", {4, 8, 16, 32}, 8}, {"ROWS", {1, 2, 4, 8}, 8}, {"COLUMNS", {1, 2, 4}, 2}};
}

IntBindings with_unrolling(IntBindings assignment) {
  assignment.emplace("UNROLL_D", 4);
  assignment.emplace("UNROLL_KV", 2);
  return assignment;
}

std::vector<IntBindings> simt_tiles_by_cost(const Problem& problem, const DeviceFacts& device) {
  return tiles_by_cost(problem, device, legal_assignments(tile_tunables(), simt_constraints(problem), device),
                       estimate_attention_gpu_simt);
}

}  // namespace

SimtShape simt_shape(const Problem& problem, const HeadText& heads) {
  SimtShape shape;
  shape.thread_rows = shrunk(problem, heads, "ROWS", 1);
  shape.thread_keys = shrunk(problem, heads, "COLUMNS", 1);
  shape.rows = fmt::format("(TEAMS * {})", shape.thread_rows);
  shape.keys = fmt::format("(LANES * {})", shape.thread_keys);
  // An odd number of float4s: neighbouring rows then begin in different banks.
  shape.head_stride = fmt::format("(4 * (ceil_div({0}, 4) + (ceil_div({0}, 4) % 2 == 0)))", heads.head);
  shape.value_stride = fmt::format("round_up({}, 4 * LANES)", heads.value);
  shape.shared_bytes = fmt::format("4 * ({0} * ({2} + {1} + 4) + {1} * ({2} + {3}))", shape.rows, shape.keys,
                                   shape.head_stride, shape.value_stride);
  // Output, scores, operands of the larger of the two inner loops, and addresses.
  shape.registers = fmt::format("{0} * {2} / LANES + {0} * {1} + max(4 * {1} + 4, 4 * {0} + 16) + 3 * {0} + 40",
                                shape.thread_rows, shape.thread_keys, shape.value_stride);
  return shape;
}

std::vector<std::string> simt_constraints(const Problem& problem) {
  std::vector<std::string> constraints = {"LANES * TEAMS >= 64", "LANES * TEAMS <= 512"};
  // A thread of CDNA has more registers, but arithmetic cannot name them.
  constexpr std::int64_t k_most_named = 256;
  for (const HeadText& heads : heads_to_fit(problem)) {
    const SimtShape shape = simt_shape(problem, heads);
    constraints.push_back(
        fmt::format("{} + {} <= shared_bytes_per_block", shape.shared_bytes, row_bounds_bytes(shape.rows)));
    constraints.push_back(fmt::format("{} <= min({}, max_registers_per_thread, registers_per_block / (LANES * TEAMS))",
                                      shape.registers, k_most_named));
  }
  return constraints;
}

std::vector<Tunable> simt_tunables(const Problem& problem, const DeviceFacts& device) {
  std::vector<Tunable> tunables = tile_tunables();
  const std::vector<IntBindings> tiles = simt_tiles_by_cost(problem, device);
  KW_CHECK(!tiles.empty(), "no tile of the simt style fits {}", device.name);
  for (Tunable& tunable : tunables) tunable.default_value = tiles.front().at(tunable.name);
  tunables.push_back({"UNROLL_D", {1, 2, 4, 8}, 4});
  tunables.push_back({"UNROLL_KV", {1, 2, 4}, 2});
  return tunables;
}

std::vector<IntBindings> seeds_attention_gpu_simt(const Problem& problem, const DeviceFacts& device) {
  const std::vector<IntBindings> legal = simt_tiles_by_cost(problem, device);
  std::vector<IntBindings> seeds;
  constexpr std::size_t k_seeds = 6;
  for (std::size_t i = 0; i < std::min(legal.size(), k_seeds); ++i) {
    seeds.push_back(with_unrolling(legal[i]));
    for (const Tunable& choice : structure_attention_gpu_simt()) seeds.back()[choice.name] = choice.default_value;
  }
  return seeds;
}

double estimate_attention_gpu_simt(const Problem& problem, const DeviceFacts& device, const IntBindings& assignment) {
  const DeviceFacts gpu = gpu_facts_for(device);
  const HeadText heads = primary_heads(problem);
  const SimtShape shape = simt_shape(problem, heads);
  IntBindings names = assignment;
  for (const Tunable& tunable : tile_tunables()) names.emplace(tunable.name, tunable.default_value);
  const auto value = [&](const std::string& text) { return value_of(text, names); };
  const auto number = [&](const std::string& text) { return static_cast<double>(value(text)); };
  BlockShape block;
  block.rows = value(shape.rows);
  block.keys = value(shape.keys);
  block.threads = value("LANES * TEAMS");
  block.registers = value(shape.registers);
  block.shared_bytes = value(shape.shared_bytes + " + " + row_bounds_bytes(shape.rows));
  const double rows = number(shape.thread_rows), keys = number(shape.thread_keys);
  const double warps = static_cast<double>(block.threads) / 32.0;
  const double head = number(fmt::format("round_up({}, 4)", heads.head));
  const double held = number(fmt::format("{} / LANES", shape.value_stride));  // floats of the output per row and lane
  const ModCost mod = mod_cost(problem);
  // Per warp: instructions, of which a unit issues four per clock, and 128-byte accesses.
  const double tile_keys = static_cast<double>(block.keys);
  const double multiply_adds = rows * keys * head + rows * held * tile_keys;
  constexpr double k_softmax = 10.0;
  const double others = rows * keys * (k_softmax + mod.plain) + rows * (30.0 + held);
  const double key_access = number("max(1, LANES / 8)");
  const double loads = head / 4.0 * (keys + rows) + tile_keys / 4.0 * (rows + held);
  const double shared = head / 4.0 * (keys * key_access + rows) + tile_keys / 4.0 * (rows + held * key_access);
  const double staging = tile_keys * number(fmt::format("{} + {}", shape.head_stride, shape.value_stride)) / 4.0 /
                         static_cast<double>(block.threads);
  PanelWork work;
  work.arithmetic = warps * (multiply_adds + others + loads + 12.0 * staging) / 4.0;
  work.shared = warps * (shared + 4.0 * staging);
  work.special = warps * rows * keys * (1.0 + mod.special) * 32.0 / 16.0;
  return attention_clocks(problem, gpu, block, work);
}

}  // namespace kw
