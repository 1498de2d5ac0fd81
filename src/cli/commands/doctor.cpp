// kernelwright doctor: what this machine has, what is really enforced, and what to install.

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

std::vector<Tool> tools() {
  return {{"ld", "links OpenCL kernels for the CPU (PoCL runs it)", "/usr/bin/ld", "apt-get install binutils"},
          {"oclgrind", "sanitizes OpenCL kernels before they become the best",
           "/usr/lib/oclgrind/liboclgrind-rt-icd.so", "apt-get install oclgrind"}};
}

void print_tools() {
  fmt::print("\nToolchains\n");
  for (const auto& tool : tools()) {
    fmt::print("  {:<10} {}: {}\n", tool.name, tool.purpose,
               tool.found() ? tool.path.string() : "missing: " + tool.install);
  }
}

nlohmann::json as_json(const DescribeReply& devices, const SandboxReport& sandbox) {
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
  if (options.json) {
    fmt::print("{}\n", as_json(devices, sandbox).dump(2));
  } else {
    print_devices(devices);
    print_tools();
    print_sandbox(sandbox);
    fmt::print("\nEnvironment\n");
    for (const auto& [name, value] : describe_environment()) fmt::print("  {:<14} {}\n", name, value);
  }
  const bool usable = devices.problem.empty() && sandbox.tier != SandboxTier::none;
  return usable ? ExitCode::success : ExitCode::environment;
}

}  // namespace kw
