#include "device/cuda/kernel_check.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "device/cuda/ptxas_log.hpp"
#include "hardware/occupancy.hpp"

namespace kw::cuda {
namespace {

constexpr std::int64_t k_pointer_bytes = 8;
constexpr std::int64_t k_int_bytes = 4;

KernelMismatch kernel_not_found(std::span<const CubinKernel> kernels, const PlannedLaunch& launch) {
  const std::string known = join(kernels, " ", &CubinKernel::name);
  const bool mangled =
      std::any_of(kernels.begin(), kernels.end(), [](const auto& kernel) { return kernel.name.starts_with("_Z"); });
  KernelMismatch mismatch = missing_kernel(launch, known);
  if (mangled) mismatch.text += " (declare kernels as extern \"C\" __global__ to keep their names)";
  return mismatch;
}

std::int64_t threads_of(const PlannedLaunch& launch) {
  return launch.block[0] * launch.block[1] * launch.block[2];
}

std::optional<KernelMismatch> check_args(const CubinKernel& kernel, const PlannedLaunch& launch) {
  for (const KernelArg& arg : launch.args) {
    if (!std::holds_alternative<SharedArg>(arg)) continue;
    return KernelMismatch{
        BuildStatus::kernel_args,
        fmt::format("the launch of '{}' passes \"shared\" as an argument, but CUDA kernels declare dynamic "
                    "shared memory: remove it from args and write `extern __shared__ ...` in the kernel",
                    launch.kernel)};
  }
  if (auto mismatch = check_argument_count(launch, kernel.parameter_bytes.size())) return mismatch;
  for (std::size_t i = 0; i < launch.args.size(); ++i) {
    const bool buffer = std::holds_alternative<BufferArg>(launch.args[i]);
    if (kernel.parameter_bytes[i] == (buffer ? k_pointer_bytes : k_int_bytes)) continue;
    return KernelMismatch{
        BuildStatus::kernel_args,
        fmt::format("argument {} of kernel '{}' has {} bytes, but the launch passes {} there: declare it as "
                    "{}, or change the launch's args",
                    i + 1, launch.kernel, kernel.parameter_bytes[i], buffer ? "a buffer" : "a whole number",
                    buffer ? "a pointer" : "an int")};
  }
  return std::nullopt;
}

/// What the hardware counts in 16 bits, and the block's depth.
std::optional<KernelMismatch> check_extents(const PlannedLaunch& launch) {
  constexpr std::int64_t k_most_rows = 65535;
  constexpr std::int64_t k_most_depth = 64;
  if (launch.grid[1] > k_most_rows || launch.grid[2] > k_most_rows) {
    return KernelMismatch{
        BuildStatus::resource,
        fmt::format("the grid of '{}' is {} x {} x {}; the second and third extent may be {} at most: put the "
                    "largest first",
                    launch.kernel, launch.grid[0], launch.grid[1], launch.grid[2], k_most_rows)};
  }
  if (launch.block[2] > k_most_depth) {
    return KernelMismatch{BuildStatus::resource,
                          fmt::format("the block of '{}' is {} deep; the third extent may be {} at most", launch.kernel,
                                      launch.block[2], k_most_depth)};
  }
  return std::nullopt;
}

std::optional<KernelMismatch> check_block(const CubinKernel& kernel, const PlannedLaunch& launch) {
  if (kernel.exact_block && !std::equal(kernel.exact_block->begin(), kernel.exact_block->end(), launch.block)) {
    const auto& block = *kernel.exact_block;
    return KernelMismatch{
        BuildStatus::resource,
        fmt::format("kernel '{}' is compiled for blocks of {} x {} x {} but the launch's block is {} x {} x "
                    "{}: make them equal",
                    launch.kernel, block[0], block[1], block[2], launch.block[0], launch.block[1], launch.block[2])};
  }
  if (kernel.max_threads > 0 && threads_of(launch) > kernel.max_threads) {
    return KernelMismatch{
        BuildStatus::resource,
        fmt::format("kernel '{}' declares __launch_bounds__({}), the launch's block has {} threads: raise "
                    "the bound or make the block smaller",
                    launch.kernel, kernel.max_threads, threads_of(launch))};
  }
  return std::nullopt;
}

std::optional<KernelMismatch> check_resources(const CubinKernel& kernel, const PlannedLaunch& launch,
                                              const PtxasReport& ptxas, const DeviceFacts& device) {
  const GpuFacts& gpu = *device.gpu;
  if (ptxas.static_shared_bytes > gpu.static_shared_bytes_per_block) {
    return KernelMismatch{
        BuildStatus::resource,
        fmt::format("kernel '{}' declares {} bytes of shared memory; at most {} can be declared, more must "
                    "be dynamic (extern __shared__, and shared_bytes of the launch)",
                    launch.kernel, ptxas.static_shared_bytes, gpu.static_shared_bytes_per_block)};
  }
  const std::int64_t shared = ptxas.static_shared_bytes + launch.shared_bytes;
  if (shared > device.shared_bytes_per_block) {
    return KernelMismatch{
        BuildStatus::resource,
        fmt::format("kernel '{}' needs {} bytes of shared memory, {} declared and {} dynamic; {} has {} per "
                    "block",
                    launch.kernel, shared, ptxas.static_shared_bytes, launch.shared_bytes, gpu.arch,
                    device.shared_bytes_per_block)};
  }
  if (resident_blocks(gpu, {threads_of(launch), kernel.registers, shared}) > 0) return std::nullopt;
  return KernelMismatch{
      BuildStatus::resource,
      fmt::format("kernel '{}' cannot be launched: {} threads of {} registers are more than {} has for a "
                  "block ({}); add __launch_bounds__({}) or make the block smaller",
                  launch.kernel, threads_of(launch), kernel.registers, gpu.arch, gpu.registers_per_block,
                  threads_of(launch))};
}

KernelReport report_of(const CubinKernel& kernel, const PlannedLaunch& launch, const PtxasReport& ptxas,
                       const GpuFacts& gpu) {
  KernelReport report;
  report.kernel = kernel.name;
  report.registers = kernel.registers;
  report.stack_bytes = kernel.stack_bytes;
  report.instructions = kernel.instructions;
  report.tensor_core_instructions = kernel.tensor_core_instructions;
  report.local_memory_instructions = kernel.local_loads + kernel.local_stores;
  if (!ptxas.found) return report;
  report.spill_bytes = ptxas.spill_bytes;
  report.shared_bytes = ptxas.static_shared_bytes + launch.shared_bytes;
  const BlockResources block{threads_of(launch), kernel.registers, *report.shared_bytes};
  report.blocks_per_unit = resident_blocks(gpu, block);
  report.occupancy = occupancy(gpu, block);
  return report;
}

/// Adds the kernel's report when the launch fits it.
std::optional<KernelMismatch> check_launch(std::span<const CubinKernel> kernels, std::string_view log,
                                           const PlannedLaunch& launch, const DeviceFacts& device,
                                           std::vector<KernelReport>& reports) {
  const auto kernel =
      std::find_if(kernels.begin(), kernels.end(), [&](const CubinKernel& k) { return k.name == launch.kernel; });
  if (kernel == kernels.end()) return kernel_not_found(kernels, launch);
  const PtxasReport ptxas = ptxas_report(log, launch.kernel);
  if (auto mismatch = check_args(*kernel, launch)) return mismatch;
  if (auto mismatch = check_extents(launch)) return mismatch;
  if (auto mismatch = check_block(*kernel, launch)) return mismatch;
  if (auto mismatch = check_resources(*kernel, launch, ptxas, device)) return mismatch;
  reports.push_back(report_of(*kernel, launch, ptxas, *device.gpu));
  return std::nullopt;
}

}  // namespace

KernelCheck check_kernels(std::span<const CubinKernel> kernels, std::string_view log,
                          std::span<const PlannedLaunch> launches, const DeviceFacts& device) {
  KernelCheck result;
  for (const PlannedLaunch& launch : launches) {
    if (auto mismatch = check_launch(kernels, log, launch, device, result.kernels)) {
      result.mismatch = *std::move(mismatch);
      break;
    }
  }
  return result;
}

}  // namespace kw::cuda
