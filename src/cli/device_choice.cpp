#include "cli/device_choice.hpp"

#include <algorithm>

#include "base/file_system.hpp"
#include "cli/inputs.hpp"
#include "target/device_file.hpp"
#include "verify/compute_sanitizer.hpp"
#include "verify/nsight_compute.hpp"
#include "verify/oclgrind.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_device_file_bytes = std::int64_t{64} << 10;

Error wrong_target(ErrorCode code, const DeviceFacts& facts, const std::string& target, std::string hint) {
  return {code, fmt::format("device {} takes target {}, not {}", facts.id, facts.target, target), std::move(hint)};
}

Result<DeviceFacts> named_facts(const std::string& device) {
  if (!device.ends_with(".json")) return find_device_facts(device);
  const RealFileSystem files;
  KW_TRY(const auto text, files.read(device, k_max_device_file_bytes));
  return parse_device_file(text, device);
}

/// A profiler that is none, for the gate to say so.
class NoProfiler final : public Profiler {
 public:
  explicit NoProfiler(std::string why) : why_(std::move(why)) {}
  std::variant<HardwareCounters, std::string> profile(Session&, const Contender&) override { return why_; }

 private:
  std::string why_;
};

/// The simulator's device whose architecture comes nearest.
std::string simulator_for(const DeviceFacts& gpu) {
  const std::string& arch = gpu.gpu ? gpu.gpu->arch : "";
  if (arch.starts_with("sm_8")) return "sim:sm_80";
  return arch.starts_with("sm_1") ? "sim:sm_120" : "sim:sm_90";
}

/// compute-sanitizer sees the very code that is timed, PTX included, and the simulator what compute-sanitizer does not
/// look for: races between blocks and between lanes, shared memory that nobody wrote. What is missing is no error.
void add_cuda_tools(WorkbenchOptions options, OpenedDevice& opened) {
  const DeviceFacts& gpu = opened.workbench->device();
  options.device_id = gpu.id;
  if (auto profiler = open_nsight_compute(options, *opened.workbench)) {
    opened.profiler = *std::move(profiler);
  } else {
    opened.profiler = std::make_unique<NoProfiler>(profiler.error().message);
  }
  if (auto sanitizer = open_compute_sanitizer(options, *opened.workbench)) {
    opened.sanitizers.push_back(*std::move(sanitizer));
  }
  options.device_id = simulator_for(gpu);
  if (auto simulator = open_process_workbench(options)) {
    opened.sanitizers.push_back(simulating_sanitizer(*std::move(simulator)));
  }
}

}  // namespace

VerifierTools OpenedDevice::tools() const {
  VerifierTools tools;
  for (const auto& sanitizer : sanitizers) tools.sanitizers.push_back(sanitizer.get());
  tools.profiler = profiler.get();
  return tools;
}

Result<OpenedDevice> open_device(const std::string& device, const std::string& target,
                                 const std::string& require_sandbox) {
  WorkbenchOptions options;
  KW_TRY(options.required, read_tier(require_sandbox));
  options.device_id = device;
  options.target = target;
  OpenedDevice opened;
  KW_TRY(opened.workbench, open_process_workbench(options));
  const DeviceFacts& facts = opened.workbench->device();
  if (facts.target != target) {
    return fail(
        wrong_target(errc::device_missing, facts, target, "see `kernelwright doctor` for devices and their targets"));
  }
  if (facts.target == "opencl" && have_oclgrind()) {
    KW_TRY(auto oclgrind, open_oclgrind(options));
    opened.sanitizers.push_back(simulating_sanitizer(std::move(oclgrind)));
  }
  if (facts.target == "cuda" && facts.kind == DeviceKind::gpu) add_cuda_tools(options, opened);
  return opened;
}

std::string_view default_gpu(std::string_view target) {
  return target == "hip" ? "mi300x" : "h100";
}

Result<DeviceFacts> facts_for(const std::string& device, const std::string& target) {
  if (device.empty() && target == "opencl") return host_cpu_facts();
  KW_TRY(auto facts, named_facts(device.empty() ? std::string(default_gpu(target)) : device));
  if (!device.empty() && facts.target != target) {
    return fail(wrong_target(errc::command_line, facts, target, fmt::format("add --target {}", facts.target)));
  }
  facts.target = target;
  return facts;
}

Result<DeviceFacts> facts_of_any(const std::string& device, const std::string& target) {
  const auto shipped = shipped_devices();
  const bool is_text = device.ends_with(".json") || std::find(shipped.begin(), shipped.end(), device) != shipped.end();
  if (is_text) return facts_for(device, target);
  KW_TRY(const OpenedDevice opened, open_device(device, target, "none"));
  return opened.workbench->device();
}

}  // namespace kw
