#include "device/cuda/gpus.hpp"

#include <algorithm>
#include <fstream>

#include "hardware/gpu_arch.hpp"

namespace kw::cuda {
namespace {

/// 0 when the driver does not answer.
std::int64_t attribute(const DriverApi& api, DeviceOrdinal device, DeviceAttribute which) {
  int value = 0;
  return api.device_attribute(&value, which, device) == 0 ? value : 0;
}

/// The architecture whose code runs on a device: its own, or an earlier one of the same generation, unless that is
/// specific ("sm_90a" code runs on 9.0 alone).
std::optional<GpuArch> arch_of(std::int64_t major, std::int64_t minor) {
  if (const auto exact = find_gpu_arch(fmt::format("{}.{}", major, minor))) return exact;
  for (std::int64_t earlier = minor - 1; earlier >= 0; --earlier) {
    const auto arch = find_gpu_arch(fmt::format("{}.{}", major, earlier));
    if (arch && !arch->name.ends_with('a')) return arch;
  }
  return std::nullopt;
}

/// "580.65.06" of the kernel module's own line; empty when it cannot be read.
std::string module_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  constexpr std::string_view k_before = "Kernel Module";
  std::size_t at = line.find(k_before);
  if (at == std::string::npos) return {};
  at = line.find_first_of("0123456789", at + k_before.size());
  return at == std::string::npos ? std::string() : line.substr(at, line.find(' ', at) - at);
}

std::string driver_text(const DriverApi& api) {
  int version = 0;
  if (api.driver_version(&version) != 0) return "CUDA";
  const std::string module = module_version();
  return fmt::format("CUDA {}.{}{}", version / 1000, version % 1000 / 10, module.empty() ? "" : ", driver " + module);
}

void replace_known(std::int64_t& fact, std::int64_t reported) {
  if (reported > 0) fact = reported;
}

void add_unit_limits(const DriverApi& api, DeviceOrdinal device, DeviceFacts& facts) {
  const auto ask = [&](DeviceAttribute which) { return attribute(api, device, which); };
  GpuFacts& gpu = *facts.gpu;
  replace_known(facts.max_block_items, ask(DeviceAttribute::max_threads_per_block));
  replace_known(facts.shared_bytes_per_block, ask(DeviceAttribute::shared_bytes_per_block_optin));
  replace_known(gpu.static_shared_bytes_per_block, ask(DeviceAttribute::shared_bytes_per_block));
  replace_known(gpu.warp_size, ask(DeviceAttribute::warp_size));
  replace_known(gpu.registers_per_block, ask(DeviceAttribute::registers_per_block));
  replace_known(gpu.registers_per_unit, ask(DeviceAttribute::registers_per_unit));
  replace_known(gpu.max_threads_per_unit, ask(DeviceAttribute::max_threads_per_unit));
  replace_known(gpu.max_blocks_per_unit, ask(DeviceAttribute::max_blocks_per_unit));
  replace_known(gpu.shared_bytes_per_unit, ask(DeviceAttribute::shared_bytes_per_unit));
  replace_known(gpu.reserved_shared_bytes_per_block, ask(DeviceAttribute::reserved_shared_bytes_per_block));
}

void add_rates(const DriverApi& api, DeviceOrdinal device, const GpuArch& arch, DeviceFacts& facts) {
  const auto ask = [&](DeviceAttribute which) { return attribute(api, device, which); };
  const auto clock_khz = static_cast<double>(ask(DeviceAttribute::clock_khz));
  if (clock_khz > 0) facts.gpu->clock_hz = 1e3 * clock_khz;
  const double per_operation = 2 * facts.gpu->clock_hz * static_cast<double>(facts.compute_units);
  facts.peak_f32_flops = per_operation * static_cast<double>(arch.f32_per_clock);
  facts.gpu->peak_f16_flops = per_operation * static_cast<double>(arch.f16_per_clock);
  const auto memory_khz = static_cast<double>(ask(DeviceAttribute::memory_clock_khz));
  const auto bus_bits = static_cast<double>(ask(DeviceAttribute::memory_bus_bits));
  // Two transfers per clock, for HBM and for GDDR as the driver counts its clock.
  facts.peak_bytes = 2 * 1e3 * memory_khz * bus_bits / 8;
}

DeviceFacts facts_of(const DriverApi& api, DeviceOrdinal device, const GpuArch& arch) {
  DeviceFacts facts = gpu_arch_facts(arch);
  char name[256] = {};
  if (api.device_name(name, sizeof name - 1, device) == 0) facts.name = name;
  facts.driver = driver_text(api);
  std::size_t memory = 0;
  if (api.device_memory(&memory, device) == 0) facts.memory_bytes = static_cast<std::int64_t>(memory);
  replace_known(facts.compute_units, attribute(api, device, DeviceAttribute::units));
  facts.l2_cache_bytes = attribute(api, device, DeviceAttribute::l2_bytes);
  facts.last_level_cache_bytes = facts.l2_cache_bytes;
  add_unit_limits(api, device, facts);
  add_rates(api, device, arch, facts);
  return facts;
}

}  // namespace

Result<std::vector<ListedGpu>> list_gpus(const DriverApi& api) {
  if (const Status status = api.init(0); status != 0) {
    return fail(Error{errc::device_unavailable,
                      fmt::format("the NVIDIA driver does not start: {}", status_text(api, status)),
                      "run nvidia-smi to see whether the driver and the GPU work"});
  }
  int count = 0;
  KW_TRY_VOID(check(api, api.device_count(&count), "cuDeviceGetCount"));
  std::vector<ListedGpu> listed;
  std::string unknown;
  for (int i = 0; i < count; ++i) {
    DeviceOrdinal device = 0;
    KW_TRY_VOID(check(api, api.device_get(&device, i), "cuDeviceGet"));
    const std::int64_t major = attribute(api, device, DeviceAttribute::capability_major);
    const std::int64_t minor = attribute(api, device, DeviceAttribute::capability_minor);
    const auto arch = arch_of(major, minor);
    if (!arch) {
      unknown += fmt::format(" a GPU of compute capability {}.{} is too old or too new;", major, minor);
      continue;
    }
    ListedGpu& gpu = listed.emplace_back();
    gpu.ordinal = device;
    gpu.facts = facts_of(api, device, *arch);
    gpu.facts.id = fmt::format("cuda:{}", i);
  }
  if (!listed.empty()) return listed;
  return fail(Error{errc::device_unavailable,
                    "the NVIDIA driver has no GPU that can be used:" + (unknown.empty() ? " none at all" : unknown),
                    "see nvidia-smi, and CUDA_VISIBLE_DEVICES"});
}

}  // namespace kw::cuda
