#include "verify/processes/worker_spec.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>

#include "verify/processes/language_access.hpp"

namespace kw {
namespace {

SandboxLimits scaled_limits(SandboxLimits limits) {
  // Drivers start a thread per core, and CPU seconds count for all of them together.
  const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  limits.processes = std::max(limits.processes, 2 * cores + 32);
  limits.cpu_seconds *= cores;
  return limits;
}

SandboxSpec base_spec(const BackendOptions& options) {
  SandboxSpec spec;
  spec.profile = SandboxProfile::build;
  spec.program = options.worker;
  spec.arguments = {"build"};
  spec.limits = scaled_limits(options.limits);
  spec.at_most = options.at_most;
  spec.environment = options.environment;
  return spec;
}

/// The tool is started, which starts the worker below it with the rights that the worker alone would have had.
void put_tool_around(const GpuTool& tool, SandboxSpec& spec) {
  std::vector<std::string> command = tool.arguments;
  command.push_back(std::filesystem::absolute(spec.program));
  command.insert(command.end(), {"watched", spec.arguments.at(1)});
  spec.readable.insert(spec.readable.end(), tool.readable.begin(), tool.readable.end());
  for (const auto& path : spec.readable) command.insert(command.end(), {"--read", path.string()});
  for (const auto& path : spec.devices) command.insert(command.end(), {"--node", path.string()});
  if (tool.opens_files) command.emplace_back("--unlocked");
  spec.program = tool.program;
  spec.arguments = std::move(command);
  for (const SandboxExemption& exemption : SandboxExemption::all()) {
    const SandboxLayer layer = exemption.layer();
    if (layer == SandboxLayer::tool_calls || layer == SandboxLayer::tool_paths) spec.without.push_back(exemption);
  }
}

/// The simulator takes clang++ where there is no g++ (find_host_compiler): what that needs is not known here.
const SandboxGrants& simulator_grants() {
  std::error_code error;
  return std::filesystem::exists("/usr/bin/g++", error) ? k_host_compiler_grants : k_no_grants;
}

}  // namespace

const Language* language_of(const DeviceFacts& device) {
  const bool real = device.kind == DeviceKind::cpu || device.kind == DeviceKind::gpu;
  return real ? find_language(device.target) : nullptr;
}

const Language* meant_language(const BackendOptions& options) {
  const Language* asked = find_language(options.target);
  if (options.device_id.empty()) return asked;
  const Language* meant = language_of_device_id(options.device_id);
  const bool same_runtime = asked != nullptr && meant != nullptr && asked->runtime == meant->runtime;
  return same_runtime ? asked : meant;
}

const SandboxGrants& build_grants(const DeviceFacts& device) {
  if (device.kind == DeviceKind::simulator) return simulator_grants();
  const Language* language = language_of(device);
  return language != nullptr ? language->build : k_no_grants;
}

const SandboxGrants& meant_grants(const BackendOptions& options) {
  if (options.device_id == "sim" || options.device_id.starts_with("sim:")) return simulator_grants();
  const Language* language = meant_language(options);
  return language != nullptr ? language->build : k_no_grants;
}

SandboxSpec build_spec(const BackendOptions& options, const SandboxGrants& grants) {
  SandboxSpec spec = base_spec(options);
  grant(access_of(grants), spec);
  // A driver that is named by a variable, as a sanitizer is, need not lie where the system's libraries do.
  for (const auto& [name, value] : options.environment) {
    const std::filesystem::path named = value;
    if (!spec.system.empty() && named.is_absolute()) spec.readable.push_back(named);
  }
  return spec;
}

SandboxSpec describe_spec(const BackendOptions& options) {
  SandboxSpec spec = base_spec(options);
  for (const Language* language : languages()) grant(access_of(language->run), spec);
  return spec;
}

bool describing_needs_more() {
  return std::ranges::any_of(languages(), [](const Language* one) { return !access_of(one->run).empty(); });
}

SandboxSpec run_spec(const BackendOptions& options, const DeviceFacts& device, const Arena& arena,
                     const ArenaRoom& room) {
  SandboxSpec spec = base_spec(options);
  if (const Language* language = language_of(device)) {
    // Tools around a run process, and what they load into it, come with the toolkit.
    grant(access_of(language->build), spec);
    grant(access_of(language->run), spec);
    spec.system.clear();  // a driver reads what it likes before the candidate is loaded
  }
  spec.profile = SandboxProfile::run;
  spec.arguments = {"run", device.id};
  spec.limits.memory_bytes += room.most;
  spec.inherited = {arena.descriptor()};
  if (options.tool) {
    put_tool_around(*options.tool, spec);
  } else if (room.ahead > 0) {
    spec.arguments.push_back(std::to_string(room.ahead));
    // The system takes memory that is cleared in a file of memory for a write to it.
    spec.limits.file_bytes = std::max(spec.limits.file_bytes, room.ahead);
  }
  return spec;
}

}  // namespace kw
