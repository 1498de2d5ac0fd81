#include "codegen/calibration.hpp"

#include <algorithm>
#include <cstdint>

#include "codegen/attention_vector_shape.hpp"
#include "codegen/codegen.hpp"
#include "codegen/text.hpp"

namespace kw {
namespace {

/// Independent chains of multiply-adds, held in registers. One takes 4 cycles and at most two start per cycle, so 8
/// registers' worth hides the latency; more than the register file would measure spills. The operands come from an
/// argument, so nothing is known at compile time, and the factor is just below 1 so that values neither overflow nor
/// become denormal.
constexpr const char* k_multiply_add_source = R"(#define CHAINS ${chains}
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void multiply_add(__global float* restrict sink, const int rounds, const int one) {
  const float16 factor = (float)one - 1e-6f, addend = (float)one * 1e-6f;
  float16 sum[CHAINS];
  #pragma unroll
  for (int i = 0; i < CHAINS; ++i) sum[i] = (float)(i + one);
  #pragma unroll 1
  for (int round = 0; round < rounds; ++round)
    #pragma unroll
    for (int i = 0; i < CHAINS; ++i) sum[i] = fma(sum[i], factor, addend);
  float16 all = 0.0f;
  #pragma unroll
  for (int i = 0; i < CHAINS; ++i) all += sum[i];
  vstore16(all, get_global_id(0), sink);
}
)";

/// Twelve registers of accumulators, whatever their width.
std::int64_t chains_for(const DeviceFacts& device) {
  return 12 / vector_registers(device).per_float16;
}

/// In place, so that each line moves exactly twice; on integers, so that whatever the buffer holds costs the same.
constexpr const char* k_bandwidth_source = R"(__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void touch(__global int* restrict buffer, const int vectors_per_group) {
  __global int* part = buffer + (long)get_group_id(0) * vectors_per_group * 16;
  for (int i = 0; i < vectors_per_group; ++i) vstore16(vload16(i, part) + 1, i, part);
}
)";

Result<void> require_opencl(const DeviceFacts& device) {
  if (device.target == "opencl") return {};
  return fail(errc::codegen_unsupported, "there is no calibration kernel for target \"{}\"", device.target);
}

}  // namespace

Result<CalibrationKernel> multiply_add_calibration(const DeviceFacts& device) {
  KW_TRY_VOID(require_opencl(device));
  // Several groups per unit, so that one that is scheduled late does not leave the others idle for long.
  const std::int64_t groups = 8 * std::max<std::int64_t>(device.compute_units, 1);
  const std::int64_t chains = chains_for(device);
  const std::int64_t flops_per_round = chains * 16 * 2;
  // 1.4 GFLOP per compute unit: 12 ms at 116 GFLOP/s (Zen 4 at 3.6 GHz), 25 ms on an AVX2 core.
  const std::int64_t rounds = 1'400'000'000 / 8 / flops_per_round;
  CalibrationKernel kernel;
  kernel.source = fill(k_multiply_add_source, {{"chains", std::to_string(chains)}});
  kernel.plan.buffers = {{"sink", BufferRole::output, DType::f32, groups * 16 * 4}};
  PlannedLaunch launch;
  launch.kernel = "multiply_add";
  launch.grid[0] = groups;
  launch.args = {BufferArg{0}, IntArg{static_cast<std::int32_t>(rounds)}, IntArg{1}};
  kernel.plan.launches = {launch};
  kernel.flops = static_cast<double>(groups * rounds * flops_per_round);
  return kernel;
}

Result<CalibrationKernel> bandwidth_calibration(const DeviceFacts& device) {
  KW_TRY_VOID(require_opencl(device));
  // At least 64 MiB and four times the cache, but never more than an eighth of memory.
  constexpr std::int64_t k_least = std::int64_t{64} << 20;
  std::int64_t wanted = std::max(k_least, 4 * device.last_level_cache_bytes);
  if (device.memory_bytes > 0) wanted = std::min(wanted, device.memory_bytes / 8);
  wanted = std::min(wanted, std::int64_t{512} << 20);
  const std::int64_t groups = 8 * std::max<std::int64_t>(device.compute_units, 1);
  const std::int64_t vectors_per_group = std::max<std::int64_t>(wanted / (groups * 64), 1);
  const std::int64_t bytes = groups * vectors_per_group * 64;
  CalibrationKernel kernel;
  kernel.source = k_bandwidth_source;
  kernel.plan.buffers = {{"buffer", BufferRole::output, DType::f32, bytes}};
  PlannedLaunch launch;
  launch.kernel = "touch";
  launch.grid[0] = groups;
  launch.args = {BufferArg{0}, IntArg{static_cast<std::int32_t>(vectors_per_group)}};
  // One pass over 128 MiB takes 3 ms at 90 GB/s: too short to time alone.
  constexpr std::size_t k_passes = 4;
  kernel.plan.launches.assign(k_passes, launch);
  kernel.bytes = 2.0 * static_cast<double>(bytes) * static_cast<double>(k_passes);
  return kernel;
}

}  // namespace kw
