// What tiles of contractions are estimated to take on a GPU.
#include <algorithm>
#include <cmath>

#include "operators/program/kernels/contract_direct_shape.hpp"
#include "operators/program/kernels/contract_shape.hpp"
#include "operators/program/kernels/contract_strip_shape.hpp"

namespace kw {
namespace {

/// Multiply-adds per clock of a unit: of 128 lanes, and as three products of tf32 with the splitting.
constexpr double k_simt_rate = 128.0;
constexpr double k_tf32_rate = 280.0;
/// As one product of numbers that are rounded already: an A100 has 512 at best. Not measured.
constexpr double k_rounded_rate = 450.0;

/// Shared memory of a unit of sm_90, and what each block has besides its tiles, in bytes.
constexpr double k_unit_shared = 229376.0, k_block_shared = 2048.0;

double value_in(const IntBindings& assignment, std::string_view name, std::int64_t fallback) {
  const auto found = assignment.find(name);
  return static_cast<double>(found == assignment.end() ? fallback : found->second);
}

/// What an assignment makes of a contraction: tiles of sums by steps, and how many of them there are.
struct GpuTiles {
  double rows, columns, steps;
  double thread_rows, thread_columns;
  double parts;
  double threads, count;
};

GpuTiles gpu_tiles_of(const ContractSize& size, const DeviceFacts& device, const IntBindings& assignment) {
  GpuTiles tile{value_in(assignment, "TILE_M", 64),
                value_in(assignment, "TILE_N", 64),
                value_in(assignment, "TILE_K", 16),
                value_in(assignment, "THREAD_M", 8),
                value_in(assignment, "THREAD_N", 4),
                contract_splits(size, device) ? value_in(assignment, "SPLIT_K", 8) : 1.0,
                0,
                0};
  tile.threads = tile.rows / tile.thread_rows * tile.columns / tile.thread_columns;
  tile.count = size.batch * std::ceil(size.rows / tile.rows) * std::ceil(size.columns / tile.columns) * tile.parts;
  return tile;
}

double steps_of_part(const ContractSize& size, const GpuTiles& tile) {
  return std::ceil(size.steps / tile.parts / tile.steps);
}

/// A second launch reads every part.
double sum_of_parts(const ContractSize& size, const GpuTiles& tile, double units) {
  return tile.parts > 1.0 ? tile.parts * size.batch * size.rows * size.columns * 4.0 / (units * 10.0) : 0.0;
}

double units_of(const DeviceFacts& device) {
  return static_cast<double>(std::max<std::int64_t>(device.compute_units, 1));
}

/// The parts of what a step of a warpgroups' tile takes, in clocks of a unit.
struct GroupStep {
  double products;  ///< multiply-adds, or the shared memory that they and the tile's elements need
  double others;    ///< barriers, and places of elements
};

GroupStep group_step_of(const ContractSize& size, const GpuTiles& tile) {
  constexpr double k_rate = 1024.0;                 // multiply-adds of tf32 numbers per clock
  constexpr double k_bytes = 128.0;                 // of shared memory per clock
  constexpr double k_guarded = 0.1;                 // for the place of an element
  constexpr double k_group_rows = 64.0, k_k = 8.0;  // of a warpgroup's instruction
  const double products_each = size.rounded ? 1.0 : 3.0;
  // Where three tiles take turns, the tensor cores do not wait for barriers. Not measured.
  const double barriers = size.rounded ? 200.0 : 600.0;
  // An element comes, and is stored, as one number or two parts.
  const double moved = size.rounded ? 8.0 : 12.0;
  const double group_columns = 4.0 * tile.thread_columns;
  const double groups = tile.rows / k_group_rows * tile.columns / group_columns;
  const double read = groups * products_each * tile.steps / k_k * 4.0 * k_k * (k_group_rows + group_columns) / k_bytes;
  const double elements = (tile.rows + tile.columns) * tile.steps;
  return {std::max(products_each * tile.rows * tile.columns * tile.steps / k_rate, read + moved * elements / k_bytes),
          barriers + (size.guarded ? k_guarded * elements : 0.0)};
}

/// How many blocks of warpgroups a unit holds: as the kernels ask for, and as shared memory allows.
double resident_groups(const ContractSize& size, const GpuTiles& tile) {
  constexpr double k_unit_threads = 512.0, k_unit_threads_of_64 = 256.0, k_few_sums = 16.0;
  if (!size.rounded) return (tile.thread_columns > k_few_sums ? k_unit_threads_of_64 : k_unit_threads) / tile.threads;
  constexpr double k_least_run = 16.0, k_others = 32.0, k_registers = 65536.0;
  const double sums = (is_long_sum(size) ? 4.0 : 2.0) * tile.thread_columns;
  const double registers = sums + std::max(k_least_run, tile.rows * tile.steps / tile.threads) +
                           std::max(k_least_run, tile.columns * tile.steps / tile.threads) + k_others;
  constexpr double k_bytes_each = 12.0;
  const double shared = k_bytes_each * tile.steps * (tile.rows + tile.columns) + k_block_shared;
  return std::floor(std::min(k_registers / (registers * tile.threads), k_unit_shared / shared));
}

/// What was measured on an H200 for strict products (docs/results/2026-11-23-h200-warpgroups.md): the products read
/// shared memory for as long as tensor cores take or longer, what is loaded and stored comes on top of that, and the
/// rest hides behind other blocks. Of rounded factors, whose products are short, outputs hide there too: by estimate.
double wgmma_cost_of(const ContractSize& size, const DeviceFacts& device, const IntBindings& assignment) {
  const auto tile = gpu_tiles_of(size, device, assignment);
  constexpr double k_output = 0.3;  // clocks from a sum to the output
  const double units = units_of(device);
  const double tiles_per_unit = std::ceil(tile.count / units);
  const double resident = std::clamp(resident_groups(size, tile), 1.0, std::min(3.0, std::max(1.0, tiles_per_unit)));
  const auto step = group_step_of(size, tile);
  const double steps = steps_of_part(size, tile) * (step.products + step.others / resident);
  const double outputs = k_output * tile.rows * tile.columns / (size.rounded ? resident : 1.0);
  return tiles_per_unit * (steps + outputs) + sum_of_parts(size, tile, units);
}

/// Rows of a step that the products of a tile of 16-bit numbers read: each warpgroup its own.
double rows_read(const GpuTiles& tile) {
  constexpr double k_group_rows = 64.0;
  const double group_columns = 4.0 * tile.thread_columns;
  return tile.rows / k_group_rows * tile.columns / group_columns * (k_group_rows + group_columns);
}

/// What a step of a tile by boxes takes at least, in clocks: so long a box was on its way on an H100, while a block
/// waits for those of all stages but two.
double box_arrives(double stages, double resident) {
  constexpr double k_latency = 3300.0;
  return k_latency / ((stages - 2.0) * resident);
}

/// What comes on top: warpgroups that read less were faster by 1 %.
double box_waits(const GpuTiles& tile) {
  constexpr double k_step = 100.0, k_row = 0.1;
  return k_step + k_row * rows_read(tile);
}

/// What a step of a tile of 16-bit numbers waits for, in clocks. By copies of threads as it was measured on an H200 at
/// 2048 to 4096 rows (docs/results/2026-11-25-h200-halves.md): less beside more warps, and with a tile more on its way.
double half_step_waits(const ContractSize& size, const GpuTiles& tile, double resident, double stages) {
  if (size.boxed) return box_waits(tile);
  constexpr double k_step = 350.0, k_of_warps = 5600.0, k_short_ring = 280.0;
  return k_step + k_of_warps / (resident * tile.threads / 32.0) + (stages < 4.0 ? k_short_ring : 0.0);
}

/// Of products of 16-bit numbers, whose tiles come by copies: tensor cores; or shared memory, which the copies write
/// and the products read; or the second-level cache, of which a unit of an H100 got 37 bytes a clock by boxes
/// (docs/results/2026-11-27-h100-boxes.md); and what a step waits for.
double halves_cost_of(const ContractSize& size, const DeviceFacts& device, const IntBindings& assignment) {
  const auto tile = gpu_tiles_of(size, device, assignment);
  constexpr double k_rate = 2048.0;  // multiply-adds per clock
  constexpr double k_bytes = 128.0;  // of shared memory per clock
  constexpr double k_element = 2.0, k_output = 0.3;
  const double stages = value_in(assignment, "TILE_STAGES", 3);
  const double moved = rows_read(tile) + tile.rows + tile.columns;
  constexpr double k_cache_bytes = 37.0;
  const double cached = size.boxed ? k_element * (tile.rows + tile.columns) / k_cache_bytes : 0.0;
  const double shared_memory = k_element * moved / k_bytes;
  const double products = std::max({tile.rows * tile.columns / k_rate, shared_memory, cached}) * tile.steps;
  const double units = units_of(device);
  const double tiles_per_unit = std::ceil(tile.count / units);
  constexpr double k_unit_threads = 512.0, k_unit_threads_of_64 = 256.0, k_few_sums = 32.0;
  const double shared = k_element * stages * tile.steps * (tile.rows + tile.columns);
  const double threads = tile.thread_columns > k_few_sums ? k_unit_threads_of_64 : k_unit_threads;
  const double held = std::min(threads / tile.threads, std::floor(k_unit_shared / (shared + k_block_shared)));
  const double resident = std::clamp(held, 1.0, std::max(1.0, tiles_per_unit));
  const double waiting = half_step_waits(size, tile, resident, stages);
  const double step = size.boxed ? std::max(products, box_arrives(stages, resident)) : products;
  const double outputs = k_output * tile.rows * tile.columns;
  return tiles_per_unit * (steps_of_part(size, tile) * (step + waiting / resident) + outputs / resident) +
         sum_of_parts(size, tile, units);
}

/// Of strict products as three of f16 numbers, or of rounded ones as one: boxes into tiles, or tensor
/// cores; what the splitting moves through memory before; and the outputs, which nothing hides. Fitted to what an H100
/// took for matrices of 32 to 8192 steps (docs/results/2026-11-26-h100-scaled-halves.md).
double scaled_cost_of(const ContractSize& size, const DeviceFacts& device, const IntBindings& assignment) {
  const auto tile = gpu_tiles_of(size, device, assignment);
  constexpr double k_rate = 2048.0, k_copy = 0.44;
  const double products = size.rounded ? 1.0 : 3.0;
  const double copied_steps = size.rounded ? 8.0 : 4.0;  // whose halves are 16 bytes
  constexpr double k_output = 0.8, k_launch = 8000.0;
  const double copies = k_copy * (tile.rows + tile.columns) * tile.steps / copied_steps;
  const double units = units_of(device);
  const double tiles_per_unit = std::ceil(tile.count / units);
  constexpr double k_threads = 256.0, k_row_bytes = 128.0;
  const double stages = value_in(assignment, "TILE_STAGES", 6);
  const double shared = k_row_bytes * stages * (tile.rows + tile.columns);
  const double held = std::floor(std::min(k_threads / tile.threads, k_unit_shared / (shared + k_block_shared)));
  const double resident = std::clamp(held, 1.0, std::max(1.0, tiles_per_unit));
  const double step = std::max({products * tile.rows * tile.columns * tile.steps / k_rate, copies,
                                size.rounded ? box_arrives(stages, resident) : 0.0});
  constexpr double k_step = 20.0, k_short_ring = 150.0, k_whole_ring = 6.0;
  const double waiting = size.rounded ? box_waits(tile) : k_step + (stages < k_whole_ring ? k_short_ring : 0.0);
  const double outputs = k_output * tile.rows * tile.columns;
  constexpr double k_clock = 1.755e9, k_memory = 3.35e12, k_reached = 0.8;
  const double clock = device.gpu && device.gpu->clock_hz > 0 ? device.gpu->clock_hz : k_clock;
  const double bytes_per_clock = k_reached * (device.peak_bytes > 0 ? device.peak_bytes : k_memory) / clock;
  return size.splitting_bytes.value_or(0.0) / bytes_per_clock + k_launch +
         tiles_per_unit * (steps_of_part(size, tile) * (step + waiting / resident) + outputs / resident) +
         sum_of_parts(size, tile, units);
}

double threads_cost_of(const ContractSize& size, TileProducts how, const DeviceFacts& device,
                       const IntBindings& assignment) {
  const auto tile = gpu_tiles_of(size, device, assignment);
  // 128 multiply-adds per clock; a float4 from shared memory per warp takes four clocks of 32 lanes' banks, which
  // threads of a warp share in part; a float of a tile costs what its address and its guards do.
  const double sums = tile.rows * tile.columns;
  const double tensor_rate = size.rounded ? k_rounded_rate : k_tf32_rate;
  const double rate = how == TileProducts::tf32 ? tensor_rate : k_simt_rate;
  const double products = sums / rate * (1.0 + 1.5 * (1.0 / tile.thread_rows + 1.0 / tile.thread_columns));
  const double loads = (tile.rows + tile.columns) * (size.guarded ? 0.5 : 0.25);
  const double step = products + loads + 40.0 / tile.steps;
  // An element on its way takes a register, and its address and guards some more (NVRTC 13.0, sm_80 and sm_90a).
  const double registers = tile.thread_rows * tile.thread_columns + 2.0 * (tile.thread_rows + tile.thread_columns) +
                           48.0 + (size.guarded ? 8.0 : 4.0) * (tile.rows + tile.columns) * tile.steps / tile.threads;
  // With few sums a thread, 512 threads share a unit's registers, 128 each, and less is needed than that estimate.
  constexpr double k_most_registers = 232.0, k_most_with_few_sums = 176.0, k_few_sums = 32.0;
  const bool few = how == TileProducts::tf32 && tile.thread_rows * tile.thread_columns <= k_few_sums;
  const double spilling = registers > (few ? k_most_with_few_sums : k_most_registers) ? registers / 32.0 : 1.0;
  const double resident =
      std::max(1.0, std::min(std::floor(65536.0 / (registers * tile.threads)),
                             std::floor(160000.0 / (8.0 * tile.steps * (tile.rows + tile.columns + 8.0)))));
  const double units = units_of(device);
  const double tiles_per_unit = std::ceil(tile.count / units);
  // Fewer than eight warps leave the pipes waiting.
  const double warps = std::min(resident, tiles_per_unit) * tile.threads / 32.0;
  const double waiting = std::max(1.0, 8.0 / warps);
  constexpr double k_tile = 1500.0;
  return tiles_per_unit * (steps_of_part(size, tile) * tile.steps * step * waiting * spilling + k_tile) +
         sum_of_parts(size, tile, units);
}

double gpu_cost_of(const ContractSize& size, TileProducts how, const DeviceFacts& device,
                   const IntBindings& assignment) {
  if (how == TileProducts::halves) return halves_cost_of(size, device, assignment);
  if (how == TileProducts::scaled_halves) return scaled_cost_of(size, device, assignment);
  if (how == TileProducts::strips) return strip_cost(size, device, assignment);
  if (how == TileProducts::direct) return direct_cost(size, device, assignment);
  if (by_patches(size, how, device))
    return patch_cost(*size.patch, size.rounded, is_long_sum(size), device, assignment);
  const bool groups = how == TileProducts::wgmma || how == TileProducts::patches;
  return groups ? wgmma_cost_of(size, device, assignment) : threads_cost_of(size, how, device, assignment);
}

}  // namespace

bool contract_splits(const ContractSize& size, const DeviceFacts& device) {
  constexpr double k_least_steps = 512.0;
  constexpr double k_tile = 64.0;
  const double tiles = size.batch * std::ceil(size.rows / k_tile) * std::ceil(size.columns / k_tile);
  return 2.0 * tiles <= static_cast<double>(device.compute_units) && size.steps >= k_least_steps;
}

bool by_patches(const ContractSize& size, TileProducts products, const DeviceFacts& device) {
  return products == TileProducts::patches && size.patch && !contract_splits(size, device);
}

double contract_gpu_cost(const std::vector<ContractSize>& sizes, TileProducts products, const DeviceFacts& device,
                         const IntBindings& assignment) {
  double cost = 0.0;
  for (const auto& size : sizes) cost += gpu_cost_of(size, products, device, assignment);
  return cost;
}

}  // namespace kw
