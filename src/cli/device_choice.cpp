#include "cli/device_choice.hpp"

#include <algorithm>

#include "base/file_system.hpp"
#include "cli/build_cache_folder.hpp"
#include "cli/inputs.hpp"
#include "hardware/device_file.hpp"
#include "language/language.hpp"
#include "loop/threads.hpp"

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

}  // namespace

VerifierTools OpenedDevice::tools() const {
  VerifierTools tools;
  for (const auto& sanitizer : watching.sanitizers) tools.sanitizers.push_back(sanitizer.get());
  tools.profiler = watching.profiler.get();
  return tools;
}

Result<OpenedDevice> open_device(const std::string& device, const std::string& target,
                                 const std::string& require_sandbox) {
  BackendOptions options;
  KW_TRY(options.required, read_tier(require_sandbox));
  options.device_id = device;
  options.target = target;
  options.build_cache = build_cache_folder();
  options.gpu_reserve = std::clamp(usable_processors() / 4, 1, 4);
  OpenedDevice opened;
  KW_TRY(opened.backend, open_process_backend(options));
  const DeviceFacts& facts = opened.backend->device();
  if (facts.target != target) {
    return fail(
        wrong_target(errc::device_missing, facts, target, "see `kernelwright doctor` for devices and their targets"));
  }
  if (const Language* language = find_language(target)) {
    KW_TRY(opened.watching, open_tools(*language, options, *opened.backend, parallel_for(usable_processors())));
  }
  return opened;
}

Result<DeviceFacts> facts_for(const std::string& device, const std::string& target) {
  const Language* language = find_language(target);
  const std::string_view usual = language == nullptr ? "" : language->default_device;
  if (device.empty() && usual.empty()) {
    DeviceFacts host = host_cpu_facts();
    host.target = target;
    return host;
  }
  KW_TRY(auto facts, named_facts(device.empty() ? std::string(usual) : device));
  if (!device.empty() && !(language == nullptr ? facts.target == target : runs(facts, *language))) {
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
  return opened.backend->device();
}

}  // namespace kw
