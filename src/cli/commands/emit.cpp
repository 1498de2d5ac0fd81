// kernelwright emit: a kernel as text, with no device.

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/inputs.hpp"
#include "codegen/device_list.hpp"

namespace kw {

namespace {

Result<std::vector<DeviceFacts>> facts_for_all(const std::vector<std::string>& names, const std::string& target) {
  std::vector<DeviceFacts> devices;
  for (const auto& name : names.empty() ? std::vector<std::string>{""} : names) {
    KW_TRY(auto device, facts_for(name, target));
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace

Result<ExitCode> run_emit(const EmitOptions& options) {
  KW_TRY(const auto problem, read_problem(options.input));
  KW_TRY(const auto structure, read_assignments(options.structure, "--structure"));
  KW_TRY(const auto devices, facts_for_all(options.devices, options.target));
  const std::string style =
      options.style.empty() ? fastest_common_style(problem, options.target, devices) : options.style;
  KW_TRY(const auto bundle, emit_for_devices(problem, options.target, style, devices, structure));
  std::fputs((options.source_only ? bundle.source : bundle.to_text()).c_str(), stdout);
  return ExitCode::success;
}

}  // namespace kw
