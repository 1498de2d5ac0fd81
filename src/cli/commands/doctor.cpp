// kernelwright doctor: what this machine has, what is really enforced, and what to install.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "sandbox/sandbox.hpp"
#include "verify/compute_sanitizer.hpp"
#include "verify/gpu_tool_probe.hpp"
#include "verify/nsight_compute.hpp"
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
          {"c++", "compiles CUDA and HIP kernels for the simulator (devices sim...)", host_compiler(),
           "apt-get install g++"}};
}

/// A program for GPUs that is only known to work once it was loaded or started, which the worker does.
struct GpuProgram {
  std::string name;
  std::string purpose;
  std::string text;  ///< version and file, or what is missing and how to get it
  bool found = false;
};

GpuProgram gpu_compiler(std::string name, std::string purpose, const DescribeReply& reply) {
  if (reply.devices.empty()) return {std::move(name), std::move(purpose), "missing: " + reply.problem, false};
  const DeviceFacts& compiler = reply.devices.front();
  return {std::move(name), std::move(purpose), fmt::format("{}, {}", compiler.name, compiler.driver), true};
}

Result<std::vector<GpuProgram>> gpu_compilers(const std::filesystem::path& worker) {
  KW_TRY(const auto cuda, describe_compiler("cuda", worker));
  KW_TRY(const auto hip, describe_compiler("hip", worker));
  return std::vector{gpu_compiler("nvrtc", "compiles CUDA kernels, also for GPUs that are not here", cuda),
                     gpu_compiler("hipcc", "compiles HIP kernels for GPUs that are not here", hip)};
}

std::string named_program(const std::filesystem::path& program) {
  const std::string version = gpu_tool_version(program);
  return version.empty() ? program.string() : fmt::format("{}, {}", version, program.string());
}

/// A program that watches kernels on a GPU: what it is for, and whether it does that here.
GpuProgram watching_tool(const char* name, const char* purpose, const Result<std::string>& tried, bool has_gpu) {
  const auto program = find_gpu_tool(name);
  if (!program)
    return {name, purpose, "missing: it comes with the CUDA toolkit; set CUDA_HOME if it lies elsewhere", false};
  const std::string found = named_program(*program);
  if (!has_gpu) return {name, purpose, found + "; there is no GPU to try it on", true};
  if (tried) return {name, purpose, found + "; tried, works", true};
  return {name, purpose, fmt::format("{}; does not work here: {}", found, tried.error().message), false};
}

Result<std::string> try_compute_sanitizer(const WorkbenchOptions& options, Workbench& bench) {
  KW_TRY(const auto sanitizer, open_compute_sanitizer(options, bench));
  return sanitizer->name();
}

/// compute-sanitizer and Nsight Compute, tried on the first CUDA device if there is one.
std::vector<GpuProgram> watching_tools(const DescribeReply& devices) {
  constexpr const char* k_sanitizes = "sanitizes CUDA kernels on the GPU before they become the best";
  constexpr const char* k_counts = "counts in the GPU what the best CUDA kernels do";
  const auto gpu = std::find_if(devices.devices.begin(), devices.devices.end(), [](const DeviceFacts& device) {
    return device.target == "cuda" && device.kind == DeviceKind::gpu;
  });
  const bool has_gpu = gpu != devices.devices.end();
  Result<std::string> sanitizer = fail(errc::gpu_tool, "the device does not open");
  Result<std::string> profiler = sanitizer;
  WorkbenchOptions options;
  if (has_gpu) options.device_id = gpu->id;
  if (auto bench = has_gpu ? open_process_workbench(options) : fail(errc::gpu_tool, "there is no GPU")) {
    sanitizer = try_compute_sanitizer(options, **bench);
    profiler = try_nsight_compute(options, **bench);
  }
  return {watching_tool("compute-sanitizer", k_sanitizes, sanitizer, has_gpu),
          watching_tool("ncu", k_counts, profiler, has_gpu)};
}

void print_tools(const std::vector<GpuProgram>& compilers) {
  fmt::print("\nToolchains\n");
  for (const auto& compiler : compilers) {
    fmt::print("  {:<10} {}: {}\n", compiler.name, compiler.purpose, compiler.text);
  }
  for (const auto& tool : tools()) {
    fmt::print("  {:<10} {}: {}\n", tool.name, tool.purpose,
               tool.found() ? tool.path.string() : "missing: " + tool.install);
  }
}

nlohmann::json as_json(const DescribeReply& devices, const std::vector<GpuProgram>& compilers,
                       const SandboxReport& sandbox) {
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
  for (const auto& compiler : compilers) {
    json["toolchains"].push_back({{"name", compiler.name}, {"found", compiler.found}, {"detail", compiler.text}});
  }
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
    fmt::print("  {:<11} {} ({}; {} compute units, {:.1f} GiB)\n", device.id, device.name, device.driver,
               device.compute_units, static_cast<double>(device.memory_bytes) / 0x1p30);
    if (device.gpu) {
      fmt::print("  {:<11} {}, {:.0f} MHz, {:.0f} GB/s, L2 {:.0f} MiB, {} KiB of shared memory per block\n", "",
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
  KW_TRY(auto compilers, gpu_compilers(worker));
  for (auto& tool : watching_tools(devices)) compilers.push_back(std::move(tool));
  if (options.json) {
    fmt::print("{}\n", as_json(devices, compilers, sandbox).dump(2));
  } else {
    print_devices(devices);
    print_tools(compilers);
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
