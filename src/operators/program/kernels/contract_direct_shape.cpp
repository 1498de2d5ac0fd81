#include "operators/program/kernels/contract_direct_shape.hpp"

#include <algorithm>
#include <cmath>

#include "program/stages/work.hpp"

namespace kw {
namespace {

double direct_value(const IntBindings& assignment, const char* name) {
  return static_cast<double>(assignment.at(name));
}

/// Of the sums, what waits for nothing but the next instruction.
constexpr double k_of_pixel = 6.0, k_of_thread = 72.0;

}  // namespace

std::int64_t direct_places(const DirectContraction& direct) {
  constexpr std::int64_t k_places = 256;
  const auto of_step = direct.taps() * direct.written();
  const auto steps = std::max<std::int64_t>(direct.inner[0].extent.value(), 1);
  return std::clamp<std::int64_t>(k_places / of_step, 1, steps) * of_step;
}

DirectSize direct_size(const Contraction& contraction, const DirectContraction& direct) {
  DirectSize size;
  size.phases = direct.phases();
  size.places = direct_places(direct);
  size.loads = static_cast<double>(direct.loads.size());
  size.uses = static_cast<double>(direct.uses.size());
  size.steps = count_of(direct.inner);
  // Phases along other axes leave out as many taps as this one.
  const double left = size.uses / static_cast<double>(direct.written());
  for (const auto& axis : direct.around) {
    if (contraction.split.phases.count(axis.name) > 0) size.steps *= left;
  }
  size.guarded = !direct.pixel_guards.empty() || !direct.tap_guards.empty() ||
                 std::ranges::any_of(direct.loads, [](const DirectLoad& load) { return !load.guards.empty(); });
  size.around = count_of(direct.around);
  size.last_taps =
      direct.inner.back().extent.is_constant() ? static_cast<double>(direct.inner.back().extent.value()) : 1.0;
  size.slides = !direct.tap.name.empty();
  return size;
}

std::vector<Tunable> direct_tunables() {
  return {{"DIRECT_PIXELS", {1, 2, 4, 8}, 4},
          {"DIRECT_CHANNELS", {8, 16, 32}, 16},
          {"DIRECT_THREADS", {64, 128, 256}, 128},
          {"DIRECT_UNROLL", {1, 2, 3}, 1}};
}

/// Registers: the sums, what a pixel's place, guards and element take, and some more (NVRTC, sm_90a).
std::vector<std::string> direct_constraints(const std::vector<ContractSize>& sizes) {
  std::int64_t phases = 1, places = 1;
  for (const auto& size : sizes) {
    phases = std::max(phases, size.direct->phases);
    places = std::max(places, size.direct->places);
  }
  return {fmt::format("{} * DIRECT_PIXELS * DIRECT_CHANNELS <= 128", phases),
          fmt::format("{} * DIRECT_CHANNELS <= min(49152, shared_bytes_per_block)", 4 * places)};
}

/// What a thread does, as instructions, four of which a unit begins per clock; or memory. Not measured.
double direct_cost(const ContractSize& size, const DeviceFacts& device, const IntBindings& assignment) {
  constexpr double k_lanes = 128.0, k_used = 0.75, k_bytes = 18.0, k_registers = 65536.0, k_warps = 12.0;
  const auto& direct = *size.direct;
  const double pixels = direct_value(assignment, "DIRECT_PIXELS"), threads = direct_value(assignment, "DIRECT_THREADS");
  const double channels = direct_value(assignment, "DIRECT_CHANNELS");
  const auto phases = static_cast<double>(direct.phases);
  const double sums = phases * pixels * channels;
  const double step = direct.uses * channels * (pixels + 0.25) + direct.loads * pixels * (direct.guarded ? 3.0 : 1.0) +
                      pixels * (direct.guarded ? 5.0 : 2.0) + 12.0;
  constexpr double k_pixel = 60.0, k_indices = 300.0, k_of_filter = 25.0, k_store = 4.0;
  const auto filter = direct.steps * static_cast<double>(direct.phases) * direct.uses * channels / threads;
  const double of_thread =
      direct.steps * step + pixels * k_pixel + k_indices + filter * k_of_filter + sums * (k_store + size.operations);
  const double blocks = direct.around * std::ceil(size.columns / (pixels * threads)) * std::ceil(size.rows / channels);
  const auto units = static_cast<double>(std::max<std::int64_t>(device.compute_units, 1));
  const double resident = std::floor(k_registers / ((sums + k_of_pixel * pixels * phases + k_of_thread) * threads));
  const double waiting = std::max(1.0, k_warps / (std::max(resident, 1.0) * threads / 32.0));
  // Elements of the next step are on their way while those of one are multiplied. Not measured.
  constexpr double k_waits = 0.15;
  const double written_out = std::min(direct_value(assignment, "DIRECT_UNROLL"), direct.last_taps);
  const double waits = 1.0 - k_waits + k_waits / written_out;
  const double instructions = std::ceil(blocks / units) * threads * of_thread / (k_lanes * k_used) * waiting * waits;
  const double memory = 4.0 * size.batch * size.rows * size.columns / (k_bytes * units);
  constexpr double k_overlap = 0.25;
  return std::max(instructions, memory) + k_overlap * std::min(instructions, memory);
}

bool is_short_convolution(const ContractSize& size) {
  constexpr double k_least_sums = 1 << 20, k_few_rows = 16.0, k_most_rows = 32.0, k_most_products = 96.0;
  constexpr double k_most_rounded_rows = 24.0, k_most_rounded_products = 200.0;
  const double sums = size.batch * size.rows * size.columns;
  if (!size.direct || !size.direct->slides || sums < k_least_sums) return false;
  const double products = size.direct->steps * size.direct->uses / static_cast<double>(size.direct->phases);
  if (size.rounded && (size.rows > k_most_rounded_rows || products > k_most_rounded_products)) return false;
  return size.rows <= k_few_rows || (size.rows <= k_most_rows && products <= k_most_products);
}

}  // namespace kw
