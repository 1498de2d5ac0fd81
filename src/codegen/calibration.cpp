#include "codegen/calibration.hpp"

#include <algorithm>
#include <cstdint>

#include "codegen/codegen.hpp"
#include "codegen/text.hpp"
#include "hardware/vector_registers.hpp"
#include "language/kernel_texts.hpp"
#include "language/language.hpp"

namespace kw {
namespace {

/// Twelve registers of accumulators, whatever their width.
std::int64_t chains_for(const DeviceFacts& device) {
  return 12 / vector_registers(device).per_float16;
}

Result<std::string_view> calibration_file(const DeviceFacts& device) {
  const Language* language = find_language(device.target);
  if (language != nullptr && !language->calibration.empty()) return language->calibration;
  return fail(errc::codegen_unsupported, "there is no calibration kernel for target \"{}\"", device.target);
}

/// At least 64 MiB and four times the cache.
std::int64_t past_the_caches(const DeviceFacts& device) {
  constexpr std::int64_t k_least = std::int64_t{64} << 20;
  return std::max(k_least, 4 * device.last_level_cache_bytes);
}

/// A kernel that goes through its buffers once, of about so many bytes each but never more than an eighth of memory,
/// and moves twice as many. None is an input: no problem says what one would hold.
CalibrationKernel moving(const DeviceFacts& device, std::string_view text, const char* name, std::int64_t wanted,
                         std::vector<PlannedBuffer> buffers) {
  if (device.memory_bytes > 0) wanted = std::min(wanted, device.memory_bytes / 8);
  wanted = std::min(wanted, std::int64_t{512} << 20);
  const std::int64_t groups = 8 * std::max<std::int64_t>(device.compute_units, 1);
  const std::int64_t vectors_per_group = std::max<std::int64_t>(wanted / (groups * 64), 1);
  const std::int64_t bytes = groups * vectors_per_group * 64;
  CalibrationKernel kernel;
  kernel.source = text;
  PlannedLaunch launch;
  launch.kernel = name;
  launch.grid[0] = groups;
  for (auto& buffer : buffers) {
    buffer.bytes = bytes;
    launch.args.emplace_back(BufferArg{static_cast<std::int32_t>(kernel.plan.buffers.size())});
    kernel.plan.buffers.push_back(std::move(buffer));
  }
  launch.args.emplace_back(IntArg{static_cast<std::int32_t>(vectors_per_group)});
  kernel.plan.launches = {std::move(launch)};
  kernel.bytes = 2.0 * static_cast<double>(bytes);
  return kernel;
}

/// The same one several times in a row: one pass over 128 MiB takes 3 ms at 90 GB/s, too short to time alone. Of a
/// larger buffer fewer passes do: four over 512 MiB, five times, took 1.4 s of a virtual machine's opening
/// (2026-11-25).
CalibrationKernel passing_often(CalibrationKernel once) {
  constexpr std::int64_t k_passed = std::int64_t{512} << 20;
  const std::int64_t bytes = once.plan.buffers.front().bytes;
  const std::int64_t passes = std::clamp<std::int64_t>((k_passed + bytes - 1) / bytes, 1, 4);
  once.plan.launches.assign(static_cast<std::size_t>(passes), once.plan.launches.front());
  once.bytes *= static_cast<double>(passes);
  return once;
}

}  // namespace

Result<CalibrationKernel> multiply_add_calibration(const DeviceFacts& device) {
  KW_TRY(const std::string_view file, calibration_file(device));
  // Several groups per unit, so that one that is scheduled late does not leave the others idle for long.
  const std::int64_t groups = 8 * std::max<std::int64_t>(device.compute_units, 1);
  const std::int64_t chains = chains_for(device);
  const std::int64_t flops_per_round = chains * 16 * 2;
  // 1.4 GFLOP per compute unit: 12 ms at 116 GFLOP/s (Zen 4 at 3.6 GHz), 25 ms on an AVX2 core.
  const std::int64_t rounds = 1'400'000'000 / 8 / flops_per_round;
  CalibrationKernel kernel;
  kernel.source = fill(kernel_text(file, "multiply_add"), {{"chains", std::to_string(chains)}});
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
  KW_TRY(const std::string_view file, calibration_file(device));
  return passing_often(moving(device, kernel_text(file, "bandwidth"), "touch", past_the_caches(device),
                              {{"buffer", BufferRole::output, DType::f32, 0}}));
}

Result<CalibrationKernel> copy_calibration(const DeviceFacts& device) {
  KW_TRY(auto once, copy_kernel(device, past_the_caches(device)));
  return passing_often(std::move(once));
}

Result<CalibrationKernel> copy_kernel(const DeviceFacts& device, std::int64_t bytes) {
  KW_TRY(const std::string_view file, calibration_file(device));
  return moving(device, kernel_text(file, "copy"), "copy", bytes,
                {{"from", BufferRole::output, DType::f32, 0}, {"to", BufferRole::output, DType::f32, 0}});
}

}  // namespace kw
