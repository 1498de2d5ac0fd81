// kernelwright doctor: what this machine has, what is really enforced, and what to install.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "sandbox/sandbox.hpp"
#include "verify/process_workbench.hpp"

namespace kw {
namespace {

/// A program or library that targets need beside their driver.
struct Tool {
  std::string name;
  std::string purpose;
  std::filesystem::path path;
  std::string install;
  [[nodiscard]] bool found() const {
    std::error_code error;
    return std::filesystem::exists(path, error);
  }
};

/// As the simulator looks for it (device/sim/compile.cpp).
std::filesystem::path host_compiler() {
  std::error_code error;
  return std::filesystem::exists("/usr/bin/g++", error) ? "/usr/bin/g++" : "/usr/bin/clang++";
}

std::vector<Tool> tools() {
  return {{"ld", "links OpenCL kernels for the CPU (PoCL runs it)", "/usr/bin/ld", "apt-get install binutils"},
          {"oclgrind", "sanitizes OpenCL kernels before they become the best",
           "/usr/lib/oclgrind/liboclgrind-rt-icd.so", "apt-get install oclgrind"},
          {"c++", "compiles CUDA kernels for the simulator (devices sim...)", host_compiler(), "apt-get install g++"}};
}

/// The compiler for GPUs: found by the worker, because finding it is loading it.
struct GpuCompiler {
  std::string text;  ///< version and library, or what is missing and how to get it
  bool found = false;
};

GpuCompiler gpu_compiler(const DescribeReply& reply) {
  if (reply.devices.empty()) return {"missing: " + reply.problem, false};
  return {fmt::format("{}, {}", reply.devices.front().name, reply.devices.front().driver), true};
}

void print_tools(const GpuCompiler& compiler) {
  fmt::print("\nToolchains\n");
  fmt::print("  {:<10} {}: {}\n", "nvrtc", "compiles CUDA kernels, also for GPUs that are not here", compiler.text);
  for (const auto& tool : tools()) {
    fmt::print("  {:<10} {}: {}\n", tool.name, tool.purpose,
               tool.found() ? tool.path.string() : "missing: " + tool.install);
  }
}

nlohmann::json as_json(const DescribeReply& devices, const GpuCompiler& compiler, const SandboxReport& sandbox) {
  nlohmann::json json;
  json["devices"] = nlohmann::json::array();
  for (const auto& device : devices.devices) {
    json["devices"].push_back({{"id", device.id},
                               {"target", device.target},
                               {"name", device.name},
                               {"driver", device.driver},
                               {"compute_units", device.compute_units},
                               {"memory_bytes", device.memory_bytes}});
  }
  json["device_problem"] = devices.problem;
  for (const auto& tool : tools()) {
    json["toolchains"].push_back({{"name", tool.name}, {"found", tool.found()}, {"install", tool.install}});
  }
  json["toolchains"].push_back({{"name", "nvrtc"}, {"found", compiler.found}, {"detail", compiler.text}});
  json["sandbox"]["tier"] = to_string(sandbox.tier);
  for (const auto& probe : sandbox.probes) {
    json["sandbox"]["probes"].push_back(
        {{"attempt", probe.attempt}, {"stopped", probe.stopped}, {"detail", probe.detail}});
  }
  json["sandbox"]["missing"] = sandbox.missing;
  for (const auto& [name, value] : describe_environment()) json["environment"][name] = value;
  return json;
}

void print_devices(const DescribeReply& reply) {
  fmt::print("Devices\n");
  for (const auto& device : reply.devices) {
    fmt::print("  {:<10} {} ({}; {} compute units, {:.1f} GiB)\n", device.id, device.name, device.driver,
               device.compute_units, static_cast<double>(device.memory_bytes) / 0x1p30);
    if (device.gpu) {
      fmt::print("  {:<10} {}, {:.0f} MHz, {:.0f} GB/s, L2 {:.0f} MiB, {} KiB of shared memory per block\n", "",
                 device.gpu->arch, device.gpu->clock_hz / 1e6, device.peak_bytes / 1e9,
                 static_cast<double>(device.l2_cache_bytes) / 0x1p20, device.shared_bytes_per_block / 1024);
    }
  }
  if (!reply.problem.empty()) fmt::print("  missing: {}\n", reply.problem);
}

void print_sandbox(const SandboxReport& sandbox) {
  fmt::print("\nSandbox: tier {}, as found by a hostile child\n", to_string(sandbox.tier));
  for (const auto& probe : sandbox.probes) {
    fmt::print("  {} {:<44} {}\n", probe.stopped ? "stopped" : "ALLOWED", probe.attempt, probe.detail);
  }
  for (const auto& missing : sandbox.missing) fmt::print("  missing: {}\n", missing);
}

}  // namespace

Result<ExitCode> run_doctor(const DoctorOptions& options) {
  KW_TRY(const auto worker, find_worker());
  KW_TRY(const auto sandbox, probe_sandbox(worker));
  KW_TRY(const auto devices, describe_devices(worker));
  KW_TRY(const auto compiler_reply, describe_compiler(worker));
  const GpuCompiler compiler = gpu_compiler(compiler_reply);
  if (options.json) {
    fmt::print("{}\n", as_json(devices, compiler, sandbox).dump(2));
  } else {
    print_devices(devices);
    print_tools(compiler);
    print_sandbox(sandbox);
    fmt::print("\nEnvironment\n");
    for (const auto& [name, value] : describe_environment()) fmt::print("  {:<14} {}\n", name, value);
  }
  const bool has_device = std::any_of(devices.devices.begin(), devices.devices.end(),
                                      [](const DeviceFacts& device) { return device.kind != DeviceKind::null_device; });
  const bool usable = has_device && sandbox.tier != SandboxTier::none;
  return usable ? ExitCode::success : ExitCode::environment;
}

}  // namespace kw
