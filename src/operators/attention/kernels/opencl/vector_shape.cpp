#include "operators/attention/kernels/opencl/vector_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/int_math.hpp"
#include "mod/analysis/analysis.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/opencl/styles.hpp"

namespace kw {
namespace {

/// A tile of rows x columns accumulators, a row of columns operands and one broadcast.
std::int64_t registers_needed(const VectorRegisters& registers, std::int64_t rows, std::int64_t columns) {
  return (rows * columns + columns) * registers.per_float16 + 1;
}

/// A mask that is applied to every score, and so classified first unless block_mask says no.
bool mask_needs_map(const Problem& problem) {
  const AttentionSpec* attention = attention_of(problem);
  return attention != nullptr && needs_block_mask(*attention);
}

/// Cycles for sixteen scores of a mask, were each node one vector operation.
double mask_cycles(const Problem& problem) {
  const AttentionSpec& attention = *attention_of(problem);
  const ModFunction& mask = attention.losing ? attention.losing->term : *attention.apart.mask_mod;
  return static_cast<double>(mask.nodes.size());
}

/// Share of the panels that a tile cannot skip when a share `attended` of all pairs is attended to: allowed keys come
/// in stretches, each of which touches one panel more than it fills, and a tile needs what any of its rows needs.
double needed_share(double attended, std::int64_t rows, std::int64_t panel_keys) {
  constexpr double k_stretch = 128.0;
  return std::min(1.0, attended * (1.0 + static_cast<double>(panel_keys + rows) / k_stretch));
}

struct Shape {
  std::int64_t rows = 4, panels = 4, value_tile = 4;
};

/// Measured on Zen 4 (2-core AVX-512, 2026-11): 4 x 4 reaches 80 % of the calibrated peak, 6 x 2 54 %.
Shape best_shape(const DeviceFacts& device) {
  const VectorRegisters registers = vector_registers(device);
  if (registers.per_float16 == 1) return {4, 4, 4};
  if (registers.per_float16 == 2) return {6, 1, 1};
  return {2, 1, 1};
}

/// The score tile should leave room in the first-level cache for the panel or the values streaming past it.
std::int64_t best_block(const DeviceFacts& device) {
  return device.l1_cache_bytes >= 32 * 1024 || device.l1_cache_bytes == 0 ? 512 : 256;
}

std::int64_t value_or(const IntBindings& assignment, std::string_view name, std::int64_t fallback) {
  const auto found = assignment.find(name);
  return found == assignment.end() ? fallback : found->second;
}

/// Cycles of one step of a register tile's inner loop, in which each of `rows` broadcasts meets each of `columns`
/// vectors. One multiply-add port and one load port, each as wide as a register; latency of a multiply-add 4.
double tile_step_cycles(const VectorRegisters& registers, std::int64_t rows, std::int64_t columns,
                        std::int64_t unroll) {
  const auto width = static_cast<double>(registers.per_float16);
  const double multiply_adds = static_cast<double>(rows * columns) * width;
  const double loads = static_cast<double>(columns) * width + static_cast<double>(rows);
  const double spilled =
      static_cast<double>(std::max<std::int64_t>(0, registers_needed(registers, rows, columns) - registers.count));
  const double loop_overhead = 0.5 / static_cast<double>(unroll);
  return std::max({multiply_adds, loads + 2.0 * spilled, 4.0}) + 2.0 * spilled + loop_overhead;
}

}  // namespace

std::vector<Tunable> vector_tunables(const DeviceFacts& device) {
  const Shape shape = best_shape(device);
  return {{"ROWS", {1, 2, 3, 4, 5, 6, 8, 10, 12, 14}, shape.rows},
          {"PANELS", {1, 2, 3, 4, 6}, shape.panels},
          {"VALUE_TILE", {1, 2, 3, 4, 5, 6}, shape.value_tile},
          {"BLOCK_KV", {96, 128, 192, 256, 384, 512, 768, 1024}, best_block(device)},
          {"ROW_TILES", {1, 2, 3, 4, 6, 8, 16}, 4},
          {"UNROLL_D", {1, 2, 4}, 1},
          {"UNROLL_KV", {1, 2, 4}, 1},
          {"UNROLL_EXP", {1, 2, 4}, 1}};
}

std::vector<std::string> vector_constraints(const DeviceFacts& device) {
  const VectorRegisters registers = vector_registers(device);
  const auto fits = [&](const char* columns) {
    const std::string tile = fmt::format("(ROWS + 1) * {}", columns);
    const std::string width = registers.per_float16 == 1 ? "" : fmt::format(" * {}", registers.per_float16);
    return fmt::format("{}{} + 1 <= {}", tile, width, registers.count);
  };
  return {"BLOCK_KV % (16 * PANELS) == 0", fits("PANELS"), fits("VALUE_TILE"), "ROWS * BLOCK_KV <= 8192",
          "ROWS * ROW_TILES <= 96"};
}

std::vector<IntBindings> seeds_attention_opencl_vector(const Problem& problem, const DeviceFacts& device) {
  IntBindings first;
  for (const Tunable& tunable : vector_tunables(device)) first[tunable.name] = tunable.default_value;
  for (const Tunable& choice : structure_attention_opencl_vector()) first[choice.name] = choice.default_value;
  std::vector<IntBindings> seeds = {first};
  const auto variation = [&](const IntBindings& changes) {
    IntBindings seed = first;
    for (const auto& [name, value] : changes) seed[name] = value;
    if (std::find(seeds.begin(), seeds.end(), seed) == seeds.end()) seeds.push_back(seed);
  };
  variation({{"BLOCK_KV", 256}});
  variation({{"UNROLL_D", 2}, {"UNROLL_KV", 2}});
  if (vector_registers(device).per_float16 == 1) {
    variation({{"ROWS", 6}, {"PANELS", 4}, {"BLOCK_KV", 256}});
    variation({{"ROWS", 8}, {"PANELS", 3}, {"VALUE_TILE", 3}, {"BLOCK_KV", 384}});
    variation({{"ROWS", 12}, {"PANELS", 2}, {"VALUE_TILE", 2}, {"BLOCK_KV", 256}});
  } else if (vector_registers(device).per_float16 == 2) {
    variation({{"ROWS", 2}, {"PANELS", 2}, {"VALUE_TILE", 2}, {"BLOCK_KV", 256}});
    variation({{"ROWS", 4}, {"PANELS", 1}, {"VALUE_TILE", 1}});
  }
  if (mask_needs_map(problem)) {
    // Finer panels and tiles skip more; evaluating the mask everywhere pays where hardly any tile is empty.
    variation({{"PANELS", 1}, {"BLOCK_KV", 256}});
    if (vector_registers(device).per_float16 == 1) variation({{"PANELS", 2}, {"BLOCK_KV", 256}});
    variation({{"block_mask", 0}});
  }
  // Short sequences: fewer rows per work-group, so that every compute unit has work.
  const Axes& axes = problem.primary().axes;
  const std::int64_t groups =
      axes.at("B") * axes.at("Hq") * ceil_div(axes.at("Sq"), first["ROWS"] * first["ROW_TILES"]);
  if (groups < 4 * device.compute_units) variation({{"ROW_TILES", 1}});
  // A decoded token or two: rows that repeat the last one are work for nothing.
  const std::int64_t queries = axes.at("Sq");
  if (queries < first["ROWS"]) variation({{"ROWS", queries}, {"ROW_TILES", 1}});
  return seeds;
}

double estimate_attention_opencl_vector(const Problem& problem, const DeviceFacts& device,
                                        const IntBindings& assignment) {
  const VectorRegisters registers = vector_registers(device);
  const Shape guess = best_shape(device);
  const std::int64_t rows = value_or(assignment, "ROWS", guess.rows);
  const std::int64_t panels = value_or(assignment, "PANELS", guess.panels);
  const std::int64_t block = value_or(assignment, "BLOCK_KV", best_block(device));
  const std::int64_t tiles = value_or(assignment, "ROW_TILES", 4);
  const Axes& axes = problem.primary().axes;
  const std::int64_t value_vectors = ceil_div(axes.at("Dv"), 16);
  const std::int64_t passes = ceil_div(value_vectors, value_or(assignment, "VALUE_TILE", guess.value_tile));
  const std::int64_t step = ceil_div(value_vectors, passes);

  // Cycles per sixteen scores.
  const double dot = static_cast<double>(axes.at("D")) *
                     tile_step_cycles(registers, rows, panels, value_or(assignment, "UNROLL_D", 1)) /
                     static_cast<double>(rows * panels);
  const double values = 16.0 * static_cast<double>(passes) *
                        tile_step_cycles(registers, rows, step, value_or(assignment, "UNROLL_KV", 1)) /
                        static_cast<double>(rows);
  const auto width = static_cast<double>(registers.per_float16);
  const double softmax = (12.0 + static_cast<double>(value_or(assignment, "exp2_degree", 5))) * width;
  // Per row and block: horizontal sums, peak, rescaling; paid once for block / 16 vectors.
  const double per_block = (60.0 + static_cast<double>(value_vectors) * width) * 16.0 / static_cast<double>(block);
  // Each tile streams the block's keys and values again; scores beyond half of L1 are streamed too.
  const double score_bytes = static_cast<double>(rows * block * 4);
  const double l1 = static_cast<double>(std::max<std::int64_t>(device.l1_cache_bytes, 32 * 1024));
  const double spill_out = score_bytes > l1 / 2 ? 3.0 * width * (score_bytes / l1) : 0.0;
  const double first_touch =
      static_cast<double>(axes.at("D") + axes.at("Dv")) * 64.0 / 32.0 / static_cast<double>(rows * tiles);

  const double row_waste = static_cast<double>(round_up(axes.at("Sq"), rows)) / static_cast<double>(axes.at("Sq"));
  const double key_waste =
      static_cast<double>(round_up(axes.at("Skv"), 16 * panels)) / static_cast<double>(axes.at("Skv"));
  const std::int64_t groups = axes.at("B") * axes.at("Hq") * ceil_div(axes.at("Sq"), rows * tiles);
  const double idle = static_cast<double>(round_up(groups, device.compute_units)) / static_cast<double>(groups);
  const double heads = static_cast<double>(axes.at("B") * axes.at("Hq"));
  const double vectors = heads * static_cast<double>(axes.at("Sq") * axes.at("Skv")) / 16.0;
  const double product = row_waste * key_waste * idle * vectors / static_cast<double>(device.compute_units);
  const double per_score = dot + values + softmax + per_block + spill_out + first_touch;
  if (!mask_needs_map(problem)) return per_score * product;
  const double mask = mask_cycles(problem) * width;
  if (value_or(assignment, "block_mask", 1) == 0) return (per_score + mask) * product;
  // How much is attended to is the draw's affair; a quarter stands for the masks people use. The map is made once for
  // all heads that share it.
  constexpr double k_attended = 0.25;
  return ((per_score + mask) * needed_share(k_attended, rows, 16 * panels) + mask / heads) * product;
}

}  // namespace kw
