// Tiles of contractions for GPUs.
#include <algorithm>
#include <cmath>

#include "hardware/gpu_arch.hpp"
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

/// Contractions that are not multiplied by patches, where some are.
std::vector<ContractSize> without_patches(const std::vector<ContractSize>& sizes, const DeviceFacts& device) {
  std::vector<ContractSize> others;
  for (const auto& size : sizes) {
    if (!by_patches(size, TileProducts::patches, device)) others.push_back(size);
  }
  return others;
}

/// A warpgroup has 64 rows, and its lanes two rows each.
std::vector<Tunable> wgmma_tiles() {
  return {{"TILE_M", {64, 128, 256}, 128},
          {"TILE_N", {64, 128, 256}, 128},
          {"TILE_K", {32}, 32},
          {"THREAD_M", {2}, 2},
          {"THREAD_N", {16, 32}, 32}};
}

/// A row of a tile is 128 bytes of steps.
std::vector<Tunable> half_tile_tunables() {
  return {{"TILE_M", {64, 128, 256}, 128}, {"TILE_N", {64, 128, 256}, 256}, {"TILE_K", {64}, 64}, {"THREAD_M", {2}, 2},
          {"THREAD_N", {16, 32, 64}, 64},  {"TILE_STAGES", {3, 4, 6, 8}, 4}};
}

/// A row of a tile is 128 bytes: the large parts of 32 steps and the small ones.
std::vector<Tunable> scaled_tile_tunables() {
  return {{"TILE_M", {64, 128, 256}, 128}, {"TILE_N", {64, 128, 256}, 128}, {"TILE_K", {32}, 32}, {"THREAD_M", {2}, 2},
          {"THREAD_N", {16, 32}, 32},      {"TILE_STAGES", {3, 4, 6}, 6}};
}

/// An instruction's lanes have 32 columns among them.
std::vector<Tunable> gpu_tiles(const std::vector<ContractSize>& sizes, TileProducts how) {
  if (how == TileProducts::patches)
    return patch_tunables(std::ranges::any_of(sizes, [](const auto& size) { return size.patch && size.patch->wide; }));
  if (how == TileProducts::wgmma) return wgmma_tiles();
  const bool rounded = std::ranges::any_of(sizes, &ContractSize::rounded);
  if (how == TileProducts::halves || (how == TileProducts::scaled_halves && rounded)) return half_tile_tunables();
  if (how == TileProducts::scaled_halves) return scaled_tile_tunables();
  if (how == TileProducts::strips) return strip_tunables();
  if (how == TileProducts::direct) return direct_tunables();
  const std::vector<std::int64_t> thread_columns =
      how == TileProducts::tf32 ? std::vector<std::int64_t>{8} : std::vector<std::int64_t>{4, 8};
  return {{"TILE_M", {32, 64, 128, 256}, 64},
          {"TILE_N", {32, 64, 128, 256}, 64},
          {"TILE_K", {8, 16, 32}, 16},
          {"THREAD_M", {4, 8}, 8},
          {"THREAD_N", thread_columns, thread_columns[0]}};
}

std::vector<Tunable> gpu_tunables(const std::vector<ContractSize>& sizes, TileProducts products,
                                  const DeviceFacts& device) {
  std::vector<Tunable> tunables = gpu_tiles(sizes, products);
  if (products == TileProducts::patches && !without_patches(sizes, device).empty())
    tunables.push_back({"TILE_K", {32}, 32});
  const bool splits =
      products != TileProducts::strips && products != TileProducts::direct &&
      std::any_of(sizes.begin(), sizes.end(), [&](const ContractSize& size) { return contract_splits(size, device); });
  if (splits) tunables.push_back({"SPLIT_K", {2, 4, 8, 16, 32, 64}, 8});
  return tunables;
}

std::vector<IntBindings> cheapest_tiles(const std::vector<ContractSize>& sizes, TileProducts products,
                                        const DeviceFacts& device) {
  return cheapest_contracts(
      gpu_tunables(sizes, products, device), contract_gpu_constraints(sizes, products, device), device,
      [&](const IntBindings& one) { return contract_gpu_cost(sizes, products, device, one); }, 1);
}

IntBindings cheapest_tile(const std::vector<ContractSize>& sizes, TileProducts products, const DeviceFacts& device) {
  auto best = cheapest_tiles(sizes, products, device);
  KW_CHECK(!best.empty(), "no tile of a contraction fits {}", device.name);
  return std::move(best[0]);
}

/// Two stages of both parts of each number in shared memory, or three of rounded ones. Of the registers, sums are held
/// twice, those of a tile and those of all; but not those of short sums of rounded factors.
std::vector<std::string> wgmma_constraints(const std::vector<ContractSize>& sizes) {
  const bool split = std::any_of(sizes.begin(), sizes.end(), [](const ContractSize& size) { return !size.rounded; });
  const bool twice = split || std::any_of(sizes.begin(), sizes.end(), is_long_sum);
  const std::string threads = "(TILE_M / THREAD_M * (TILE_N / THREAD_N))";
  return {"TILE_M % 64 == 0 && TILE_N % (4 * THREAD_N) == 0", fmt::format("{0} >= 128 && {0} <= 512", threads),
          fmt::format("TILE_M * TILE_K % (4 * {0}) == 0 && TILE_N * TILE_K % (4 * {0}) == 0", threads),
          fmt::format("{} * TILE_K * (TILE_M + TILE_N) + 1024 <= shared_bytes_per_block", split ? 16 : 12),
          fmt::format("{1} * THREAD_N + (TILE_M + TILE_N) * TILE_K / {0} + 40 <= "
                      "min(max_registers_per_thread, registers_per_block / {0})",
                      threads, twice ? 4 : 2)};
}

/// A thread's sums are held once; finished lines of them pass through the tiles.
std::vector<std::string> half_constraints() {
  const std::string threads = "(TILE_M / THREAD_M * (TILE_N / THREAD_N))";
  return {"TILE_M % 64 == 0 && TILE_N % (4 * THREAD_N) == 0",
          fmt::format("{0} >= 128 && {0} <= 512", threads),
          fmt::format("TILE_M * TILE_K % (8 * {0}) == 0 && TILE_N * TILE_K % (8 * {0}) == 0", threads),
          "2 * TILE_STAGES * TILE_K * (TILE_M + TILE_N) + 1024 <= shared_bytes_per_block",
          "2 * TILE_M * (TILE_N + 4) <= 2 * TILE_STAGES * TILE_K * (TILE_M + TILE_N)",
          fmt::format("2 * THREAD_N + 2 * (TILE_M + TILE_N) * TILE_K / 8 / {0} + 48 <= "
                      "min(max_registers_per_thread, registers_per_block / {0})",
                      threads)};
}

/// As those, with the sums of a thread three times.
std::vector<std::string> scaled_constraints() {
  const std::string threads = "(TILE_M / THREAD_M * (TILE_N / THREAD_N))";
  return {"TILE_M % 64 == 0 && TILE_N % (4 * THREAD_N) == 0",
          fmt::format("{0} >= 128 && {0} <= 512", threads),
          fmt::format("TILE_M * TILE_K % (4 * {0}) == 0 && TILE_N * TILE_K % (4 * {0}) == 0", threads),
          "4 * TILE_STAGES * TILE_K * (TILE_M + TILE_N) + 1024 <= shared_bytes_per_block",
          "2 * TILE_M * (TILE_N + 4) <= 4 * TILE_STAGES * TILE_K * (TILE_M + TILE_N)",
          fmt::format("6 * THREAD_N + (TILE_M + TILE_N) * TILE_K / 4 / {0} + 30 <= "
                      "min(max_registers_per_thread, registers_per_block / {0})",
                      threads)};
}

/// By how much convolutions whose elements are gathered took longer on an H200 than estimated, in the median: what
/// loads wait for is left out, which matters more where products are short, and what outputs that lie apart cost.
double longer_than_estimated(const std::vector<ContractSize>& sizes, TileProducts how) {
  const bool rounded = std::any_of(sizes.begin(), sizes.end(), [](const ContractSize& size) { return size.rounded; });
  const bool phases = std::any_of(sizes.begin(), sizes.end(),
                                  [](const ContractSize& size) { return size.patch && size.patch->phases; });
  if (how == TileProducts::tf32) return rounded ? 1.2 : 0.8;
  // 1-81 of KernelBench takes half as long by patches on an H100, whose estimate is higher than it was.
  if (phases) return rounded ? 3.3 : 1.7;
  return rounded ? 2.0 : 1.3;
}

/// What memory takes of the estimate of patches: other tiles write the same places.
double memory_of_patches(const std::vector<ContractSize>& sizes, const DeviceFacts& device,
                         const IntBindings& assignment) {
  double memory = 0.0;
  for (const auto& size : sizes) {
    if (size.patch) memory += patch_memory(*size.patch, size.rounded, device, assignment);
  }
  return memory;
}

/// Of split factors, patches of three channels have a fourth of zeros. Over three axes and in phases that cost more
/// than it gave: on an H200 five such convolutions took 1.1 to 1.3 times as long by patches
/// (docs/results/2026-11-25-h200-patches.md).
bool is_gathered_faster(const ContractSize& size) {
  constexpr double k_four = 4.0;
  return !size.rounded && size.patch && size.patch->phases && size.patch->depth < k_four && size.patch->others > 1.0;
}

/// Whether all contractions are multiplied by strips. None is where patches are asked for.
bool by_strips(const std::vector<ContractSize>& sizes, const DeviceFacts& device, ContractWays ways) {
  const bool can = ways.strips != WayUse::never && std::ranges::all_of(sizes, &ContractSize::strips) &&
                   !cheapest_tiles(sizes, TileProducts::strips, device).empty();
  if (!can || ways.strips == WayUse::always) return can;
  return ways.patches != WayUse::always &&
         std::ranges::all_of(sizes, [&](const ContractSize& size) { return suits_strips(size, device); });
}

/// Whether all contractions are computed directly. None is where another way is asked for.
bool are_direct(const std::vector<ContractSize>& sizes, const DeviceFacts& device, ContractWays ways) {
  const bool can = ways.direct != WayUse::never &&
                   std::ranges::all_of(sizes, [](const ContractSize& size) { return size.direct.has_value(); }) &&
                   !cheapest_tiles(sizes, TileProducts::direct, device).empty();
  if (!can || ways.direct == WayUse::always) return can;
  const bool others = ways.patches == WayUse::always || ways.strips == WayUse::always;
  if (others || sizes.empty() || !std::ranges::all_of(sizes, is_short_convolution)) return false;
  // Tiles of such convolutions took half to all of what is estimated for them on an H200, and the estimate of direct
  // ones is not measured.
  constexpr double k_of_tiles = 0.5;
  const auto least = [&](TileProducts how) {
    return contract_gpu_cost(sizes, how, device, cheapest_tile(sizes, how, device));
  };
  return least(TileProducts::direct) < k_of_tiles * least(TileProducts::tf32);
}

/// Whether the factors of all contractions are split before they are multiplied, or all are rounded. None is where
/// patches are asked for.
bool are_scaled(const std::vector<ContractSize>& sizes, const DeviceFacts& device, ContractWays ways) {
  const bool can =
      ways.scaled != WayUse::never && !sizes.empty() &&
      std::ranges::all_of(
          sizes, [&](const ContractSize& size) { return size.splitting_bytes && size.rounded == sizes[0].rounded; }) &&
      !cheapest_tiles(sizes, TileProducts::scaled_halves, device).empty();
  if (!can || ways.scaled == WayUse::always) return can;
  if (ways.patches == WayUse::always) return false;
  const auto least = [&](TileProducts how) {
    return contract_gpu_cost(sizes, how, device, cheapest_tile(sizes, how, device));
  };
  // Near the boundary lies one problem of KernelBench, 1-3: on an H100 it took 0.87 of what warpgroups take.
  constexpr double k_gain = 1.1;
  return least(TileProducts::scaled_halves) < k_gain * std::min(least(TileProducts::wgmma), least(TileProducts::tf32));
}

}  // namespace

bool contract_splits(const ContractSize& size, const DeviceFacts& device) {
  constexpr double k_least_steps = 512.0;
  constexpr double k_tile = 64.0;
  const double tiles = size.batch * std::ceil(size.rows / k_tile) * std::ceil(size.columns / k_tile);
  return 2.0 * tiles <= static_cast<double>(device.compute_units) && size.steps >= k_least_steps;
}

TileProducts tile_products(Dialect dialect, const DeviceFacts& device, const std::vector<ContractSize>& sizes,
                           ContractWays ways) {
  if (dialect != cuda_dialect()) return TileProducts::simt;
  const auto arch = device.gpu ? find_gpu_arch(device.gpu->arch) : std::nullopt;
  if (!arch) return TileProducts::tf32;
  // Tensor cores multiply half as many tf32 numbers as f16 ones, and each strict product of f32 takes three.
  constexpr int k_first_with_tf32 = 80;
  constexpr std::int64_t k_f16_per_product = 6;
  const bool faster = arch->f16_per_clock > k_f16_per_product * arch->f32_per_clock;
  if (arch_number(device) < k_first_with_tf32 || !faster) return TileProducts::simt;
  constexpr int k_with_warpgroups = 90;
  const bool groups_multiply = arch_number(device) == k_with_warpgroups;
  if (groups_multiply && ways.scaled == WayUse::always && are_scaled(sizes, device, ways))
    return TileProducts::scaled_halves;
  if (are_direct(sizes, device, ways)) return TileProducts::direct;
  if (by_strips(sizes, device, ways)) return TileProducts::strips;
  if (!groups_multiply) return TileProducts::tf32;
  // With few rows and few steps most of a warpgroup's tile is empty: on an H200 up to 1.9 times slower than warps.
  const bool empty = std::all_of(sizes.begin(), sizes.end(), [](const ContractSize& size) {
    constexpr double k_few_rows = 32.0, k_few_steps = 128.0;
    return size.rows <= k_few_rows && size.steps < k_few_steps;
  });
  if (std::all_of(sizes.begin(), sizes.end(), [](const ContractSize& size) { return size.halves; }))
    return empty ? TileProducts::tf32 : TileProducts::halves;
  const auto least = [&](TileProducts how) {
    return contract_gpu_cost(sizes, how, device, cheapest_tile(sizes, how, device));
  };
  if (are_scaled(sizes, device, ways)) return TileProducts::scaled_halves;
  const auto groups =
      empty || least(TileProducts::tf32) <= least(TileProducts::wgmma) ? TileProducts::tf32 : TileProducts::wgmma;
  if (ways.patches == WayUse::never || without_patches(sizes, device).size() == sizes.size()) return groups;
  const auto patches = cheapest_tiles(sizes, TileProducts::patches, device);
  if (ways.patches == WayUse::always && !patches.empty()) return TileProducts::patches;
  if (std::any_of(sizes.begin(), sizes.end(), is_gathered_faster)) return groups;
  if (patches.empty()) return groups;
  const double gathered =
      with_memory(longer_than_estimated(sizes, groups) * least(groups), memory_of_patches(sizes, device, patches[0]));
  const bool cheaper = contract_gpu_cost(sizes, TileProducts::patches, device, patches[0]) < gathered;
  return cheaper ? TileProducts::patches : groups;
}

bool by_patches(const ContractSize& size, TileProducts products, const DeviceFacts& device) {
  return products == TileProducts::patches && size.patch && !contract_splits(size, device);
}

std::vector<Tunable> contract_gpu_tunables(const std::vector<ContractSize>& sizes, TileProducts products,
                                           const DeviceFacts& device) {
  auto tunables = gpu_tunables(sizes, products, device);
  const auto best = cheapest_tile(sizes, products, device);
  for (auto& tunable : tunables) tunable.default_value = best.at(tunable.name);
  return tunables;
}

std::vector<std::string> contract_gpu_constraints(const std::vector<ContractSize>& sizes, TileProducts products,
                                                  const DeviceFacts& device) {
  if (products == TileProducts::patches) {
    const auto others = without_patches(sizes, device);
    auto constraints = others.empty() ? std::vector<std::string>() : wgmma_constraints(others);
    for (const auto& size : sizes) {
      if (!by_patches(size, products, device)) continue;
      for (auto& one : patch_constraints(*size.patch, size.rounded, is_long_sum(size))) {
        if (std::ranges::count(constraints, one) == 0) constraints.push_back(std::move(one));
      }
    }
    return constraints;
  }
  if (products == TileProducts::wgmma) return wgmma_constraints(sizes);
  const bool rounded = std::ranges::any_of(sizes, &ContractSize::rounded);
  if (products == TileProducts::halves || (products == TileProducts::scaled_halves && rounded))
    return half_constraints();
  if (products == TileProducts::scaled_halves) return scaled_constraints();
  if (products == TileProducts::direct) return direct_constraints(sizes);
  if (products == TileProducts::strips) return strip_constraints(std::ranges::all_of(sizes, &ContractSize::rounded));
  const std::string threads = "(TILE_M / THREAD_M * (TILE_N / THREAD_N))";
  const bool tf32 = products == TileProducts::tf32;
  const int strides = tf32 ? 16 : 8;  // what rows of both tiles are longer by in shared memory
  std::vector<std::string> constraints = {
      fmt::format("{0} >= 32 && {0} <= 1024", threads),
      fmt::format("TILE_M * TILE_K % (4 * {0}) == 0 && TILE_N * TILE_K % (4 * {0}) == 0", threads),
      fmt::format("8 * TILE_K * (TILE_M + TILE_N + {}) <= min(49152, shared_bytes_per_block)", strides),
      fmt::format("TILE_M / THREAD_M * (TILE_N + 4) <= 2 * TILE_K * (TILE_M + TILE_N + {})", strides),
      fmt::format("THREAD_M * THREAD_N + 2 * (THREAD_M + THREAD_N) + 2 * (TILE_M + TILE_N) * TILE_K / {0} + {1} <= "
                  "min(max_registers_per_thread, registers_per_block / {0})",
                  threads, tf32 ? 80 : 48)};
  if (tf32) constraints.emplace_back("TILE_M % (8 * THREAD_M) == 0");
  return constraints;
}

double contract_gpu_cost(const std::vector<ContractSize>& sizes, TileProducts products, const DeviceFacts& device,
                         const IntBindings& assignment) {
  double cost = 0.0;
  for (const auto& size : sizes) cost += gpu_cost_of(size, products, device, assignment);
  return cost;
}

}  // namespace kw
