#include "operators/program/kernels/contract_strip_shape.hpp"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

constexpr double k_strip = 32.0;  // columns

double strip_value(const IntBindings& assignment, const std::string& name) {
  return static_cast<double>(assignment.at(name));
}

double units_for_strips(const DeviceFacts& device) {
  return static_cast<double>(std::max<std::int64_t>(device.compute_units, 1));
}

}  // namespace

std::vector<Tunable> strip_tunables() {
  return {{"TILE_M", {32, 64, 128, 256}, 128},
          {"PASS_M", {32, 64}, 64},
          {"TILE_K", {16, 32, 64, 128}, 64},
          {"STRIP_WARPS", {4, 8, 12, 16}, 8},
          {"STRIP_STAGES", {1, 2}, 2}};
}

/// Registers: a sum of each row, products on their way, and what places take (NVRTC, sm_90a).
std::vector<std::string> strip_constraints(bool rounded) {
  return {"TILE_M % PASS_M == 0",
          fmt::format("4 * TILE_K * ({} * TILE_M + 32 * STRIP_WARPS * STRIP_STAGES) <= shared_bytes_per_block",
                      rounded ? 1 : 2),
          fmt::format("{} <= min(max_registers_per_thread, registers_per_block / (32 * STRIP_WARPS))",
                      rounded ? "PASS_M + 72" : "PASS_M * 3 / 2 + 76")};
}

/// Few steps, so that the columns and the output take the time, and strips for every warp. With many rows the output
/// takes the time where there are fewer steps still: on an H100, 32768 rows and columns of 64 and of 32 steps took 2.45
/// and 1.65 ms where tiles of warpgroups took 3.51 and 2.54. The other limits are not measured.
bool suits_strips(const ContractSize& size, const DeviceFacts& device) {
  constexpr double k_rows_from = 24.0, k_few_rows = 256.0, k_least_steps = 8.0, k_most_steps = 128.0;
  constexpr double k_unit_strips = 64.0, k_most_operations = 16.0, k_most_steps_of_many_rows = 64.0;
  const bool many = size.rows > k_few_rows;
  const bool small = size.rows >= k_rows_from && size.steps >= k_least_steps &&
                     size.steps <= (many ? k_most_steps_of_many_rows : k_most_steps);
  const double strips = size.batch * std::floor(size.columns / k_strip) * std::ceil(size.rows / k_few_rows);
  return size.strips && small && strips >= k_unit_strips * units_for_strips(device) &&
         size.operations <= k_most_operations;
}

/// The longer one of what memory and tensor cores take, as data sheets have them, and a part of the other one, by how
/// few warps hide each other's waiting; and the rows, where they come again for each strip. Not measured.
double strip_cost(const ContractSize& size, const DeviceFacts& device, const IntBindings& assignment) {
  constexpr double k_bytes = 18.0;  // of memory per clock and unit of an H200
  constexpr double k_rate = 640.0;  // multiply-adds of tf32 numbers per clock
  constexpr double k_registers = 65536.0, k_lanes = 32.0;
  // Eight warps hide each other's waiting where factors are rounded. Where they are split, each eight steps are three
  // products that wait for one another and additions that wait for the last one, which takes twice as many: on an H200,
  // 16 warps of 32 rows took 5.02 ms where 8 of 64 took 5.35 (docs/results/2026-11-25-h200-loop.md).
  const double k_warps = size.rounded ? 8.0 : 16.0;
  constexpr double k_hidden = 0.75, k_row = 3.0, k_barrier = 1500.0, k_columns_again = 4.0, k_no_copy_ahead = 1.05;
  const double rows = strip_value(assignment, "TILE_M"), steps = strip_value(assignment, "TILE_K");
  const double warps = strip_value(assignment, "STRIP_WARPS"), stages = strip_value(assignment, "STRIP_STAGES");
  const double pass = strip_value(assignment, "PASS_M");
  const double parts = size.rounded ? 1.0 : 2.0, products_each = size.rounded ? 1.0 : 3.0;
  const double tiles = std::ceil(size.rows / rows), chunks = std::ceil(size.steps / steps);
  const double columns = size.batch * std::ceil(size.columns / k_strip) * k_strip / units_for_strips(device);
  const double memory = columns * 4.0 * (size.steps * tiles + size.rows) / k_bytes;
  const double eights = std::ceil(size.steps / 8.0) * 8.0;
  const double passes = tiles * std::ceil(std::min(size.rows, rows) / pass);
  const double products = columns * passes * (pass + k_columns_again) * eights * products_each / k_rate;
  const double registers = (size.rounded ? pass + 72.0 : pass * 1.5 + 76.0) * k_lanes * warps;
  const double shared = 4.0 * steps * (parts * rows + k_strip * warps * stages);
  const auto unit_bytes = static_cast<double>(device.shared_bytes_per_block);
  const double resident = std::max(1.0, std::floor(std::min(k_registers / registers, unit_bytes / shared)));
  const double waiting = std::max(1.0, k_warps / (resident * warps)) * (stages > 1.0 ? 1.0 : k_no_copy_ahead);
  const double turns = columns * passes / (k_strip * warps) * (chunks > 1.0 ? chunks : 0.0);
  const double again = turns * (rows * steps * k_row / (warps * k_lanes) * parts + k_barrier) / resident;
  const double overlap = (1.0 - k_hidden) * std::min(memory, products);
  return (std::max(memory, products) + overlap) * waiting + again;
}

}  // namespace kw
