// kernelwright doctor: what this machine has, what is really enforced, and what to install.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/build_cache_folder.hpp"
#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/print.hpp"
#include "language/language.hpp"
#include "sandbox/sandbox.hpp"
#include "verify/processes/build_cache.hpp"
#include "verify/processes/process_backend.hpp"
#include "verify/tools/gpu_tool_probe.hpp"
#include "verify/tools/tool_set.hpp"

namespace kw {
namespace {

/// A program or library that targets need beside their driver.
struct HostProgram {
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

std::vector<HostProgram> programs() {
  std::vector<HostProgram> all;
  std::string simulated;
  for (const Language* language : languages()) {
    for (const Toolchain& one : language->toolchain) {
      all.push_back({std::string(one.name), std::string(one.purpose), one.path, std::string(one.install)});
    }
    if (!language->simulator) continue;
    simulated += fmt::format("{}{}", simulated.empty() ? "" : " and ", language->simulator->title);
  }
  all.push_back({"c++", fmt::format("compiles {} kernels for the simulator (devices sim...)", simulated),
                 host_compiler(), "apt-get install g++"});
  return all;
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
  std::vector<GpuProgram> compilers;
  for (const Language* language : languages()) {
    if (language->gpu_compiler.empty()) continue;
    KW_TRY(const auto described, describe_compiler(*language, worker));
    compilers.push_back(
        gpu_compiler(std::string(language->gpu_compiler), std::string(language->gpu_compiler_purpose), described));
  }
  return compilers;
}

std::string named_program(const std::filesystem::path& program) {
  const std::string version = gpu_tool_version(program);
  return version.empty() ? program.string() : fmt::format("{}, {}", version, program.string());
}

/// A program that watches kernels on a GPU: what it is for, and whether it does that here.
GpuProgram watching_tool(const Tool& tool, const Result<void>& tried, bool has_gpu) {
  const std::string name(tool.name);
  const std::string purpose(tool.purpose);
  const auto program = find_gpu_tool(name);
  if (!program)
    return {name, purpose, "missing: it comes with the CUDA toolkit; set CUDA_HOME if it lies elsewhere", false};
  const std::string found = named_program(*program);
  if (!has_gpu) return {name, purpose, found + "; there is no GPU to try it on", true};
  if (tried) return {name, purpose, found + "; tried, works", true};
  return {name, purpose, fmt::format("{}; does not work here: {}", found, tried.error().message), false};
}

/// The language's tools that are vendors' programs, tried on its first GPU if there is one.
std::vector<GpuProgram> watching_tools(const Language& language, const DescribeReply& devices) {
  std::vector<const Tool*> tools = tools_of(language);
  std::erase_if(tools, [](const Tool* tool) { return tool->attempt == nullptr; });
  if (tools.empty()) return {};
  const auto gpu = std::ranges::find_if(devices.devices, [&](const DeviceFacts& device) {
    return runs(device, language) && device.kind == DeviceKind::gpu;
  });
  const bool has_gpu = gpu != devices.devices.end();
  BackendOptions options;
  if (has_gpu) options.device_id = gpu->id;
  auto backend = has_gpu ? open_process_backend(options) : fail(errc::gpu_tool, "there is no GPU");
  std::vector<GpuProgram> watching;
  for (const Tool* tool : tools) {
    const Result<void> tried =
        backend ? tool->attempt(options, **backend) : fail(errc::gpu_tool, "the device does not open");
    watching.push_back(watching_tool(*tool, tried, has_gpu));
  }
  return watching;
}

void print_tools(const std::vector<GpuProgram>& compilers) {
  print_text("\nToolchains\n");
  for (const auto& compiler : compilers) {
    print_text("  {:<10} {}: {}\n", compiler.name, compiler.purpose, compiler.text);
  }
  for (const auto& tool : programs()) {
    print_text("  {:<10} {}: {}\n", tool.name, tool.purpose,
               tool.found() ? tool.path.string() : "missing: " + tool.install);
  }
}

std::string build_cache_text() {
  const auto folder = build_cache_folder();
  if (folder.empty()) return "none: no folder for it, or KERNELWRIGHT_BUILD_CACHE=none";
  const BuildCacheSize size = size_of_build_cache(folder);
  return fmt::format("{}: {} builds, {:.1f} of at most {} MiB", folder.string(), size.builds,
                     static_cast<double>(size.bytes) / 0x1p20, k_most_cached_bytes >> 20);
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
  for (const auto& tool : programs()) {
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
  json["build_cache"] = build_cache_text();
  for (const auto& [name, value] : describe_environment()) json["environment"][name] = value;
  return json;
}

void print_devices(const DescribeReply& reply) {
  print_text("Devices\n");
  for (const auto& device : reply.devices) {
    print_text("  {:<11} {} ({}; {} compute units, {:.1f} GiB)\n", device.id, device.name, device.driver,
               device.compute_units, static_cast<double>(device.memory_bytes) / 0x1p30);
    if (device.gpu) {
      print_text("  {:<11} {}, {:.0f} MHz, {:.0f} GB/s, L2 {:.0f} MiB, {} KiB of shared memory per block\n", "",
                 device.gpu->arch, device.gpu->clock_hz / 1e6, device.peak_bytes / 1e9,
                 static_cast<double>(device.l2_cache_bytes) / 0x1p20, device.shared_bytes_per_block / 1024);
    }
  }
  if (!reply.problem.empty()) print_text("  missing: {}\n", reply.problem);
}

void print_sandbox(const SandboxReport& sandbox) {
  print_text("\nSandbox: tier {}, as found by a hostile child\n", to_string(sandbox.tier));
  for (const auto& probe : sandbox.probes) {
    print_text("  {} {:<44} {}\n", probe.stopped ? "stopped" : "ALLOWED", probe.attempt, probe.detail);
  }
  for (const auto& missing : sandbox.missing) print_text("  missing: {}\n", missing);
}

}  // namespace

Result<ExitCode> run_doctor(const DoctorOptions& options) {
  KW_TRY(const auto worker, find_worker());
  KW_TRY(const auto sandbox, probe_sandbox(worker));
  KW_TRY(const auto devices, describe_devices(worker));
  KW_TRY(auto compilers, gpu_compilers(worker));
  for (const Language* language : languages()) {
    for (auto& tool : watching_tools(*language, devices)) compilers.push_back(std::move(tool));
  }
  if (options.json) {
    std::fputs((as_json(devices, compilers, sandbox).dump(2) + "\n").c_str(), stdout);
  } else {
    print_devices(devices);
    print_tools(compilers);
    print_sandbox(sandbox);
    print_text("\nBuilds kept for later runs\n  {}\n", build_cache_text());
    print_text("\nEnvironment\n");
    for (const auto& [name, value] : describe_environment()) print_text("  {:<14} {}\n", name, value);
  }
  const bool has_device = std::any_of(devices.devices.begin(), devices.devices.end(),
                                      [](const DeviceFacts& device) { return device.kind != DeviceKind::null_device; });
  const bool usable = has_device && sandbox.tier != SandboxTier::none;
  return usable ? ExitCode::success : ExitCode::environment;
}

}  // namespace kw
