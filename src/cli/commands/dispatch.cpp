// kernelwright dispatch: the table of a bundle, which chooses tunables by device and shape.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/file_system.hpp"
#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/dispatch_text.hpp"
#include "cli/inputs.hpp"
#include "cli/print.hpp"
#include "hardware/device_file.hpp"
#include "hardware/device_match.hpp"
#include "hardware/gpu_arch.hpp"

namespace kw {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Bundle& bundle, const NamedTunables& workload) {
  Json json{{"workload", workload.workload}, {"row", nullptr}, {"device", nullptr}, {"when", Json::array()}};
  if (const auto row = workload.tunables.row) {
    const DispatchRow& found = bundle.dispatch[*row];
    json["row"] = *row + 1;
    if (!found.device.empty()) json["device"] = found.device;
    json["when"] = found.when;
  }
  json["tunables"] = workload.tunables.values;
  return json;
}

/// That a name is misspelt can only be guessed: rows may be meant for devices that nobody has told us of.
bool is_known_name(const std::string& name) {
  for (const auto& shipped : shipped_devices()) {
    const auto facts = find_device_facts(shipped);
    if (facts && names_device(name, *facts)) return true;
  }
  for (const auto& arch : gpu_archs())
    if (names_device(name, gpu_arch_facts(arch))) return true;
  return false;
}

Result<DispatchRow> read_row(const DispatchAddOptions& options) {
  if (options.device.empty() && options.when.empty()) {
    return fail(Error{errc::command_line, "a row without --device and --when would be taken everywhere",
                      "name a device, such as h200, sm_90 or Hopper, or a condition, such as --when 'Skv >= 4096'"});
  }
  if (options.tune.empty()) {
    return fail(Error{errc::command_line, "the row assigns nothing", "add --tune NAME=VALUE"});
  }
  DispatchRow row{options.device, {}, {}};
  KW_TRY(row.when, read_conditions(options.when));
  KW_TRY(row.tunables, read_assignments(options.tune, "--tune"));
  return row;
}

}  // namespace

Result<ExitCode> run_dispatch_show(const DispatchShowOptions& options) {
  KW_TRY(const auto problem, read_problem(options.input));
  KW_TRY(const auto candidate, read_candidate(options.bundle, {}));
  KW_TRY(const auto device, facts_of_any(options.device, candidate.bundle.target));
  KW_TRY(const auto workloads, resolve_workloads(candidate, problem, device));
  if (options.json) {
    Json json{{"device", device.id}, {"rows", candidate.bundle.dispatch.size()}, {"workloads", Json::array()}};
    for (const auto& workload : workloads) json["workloads"].push_back(to_json(candidate.bundle, workload));
    std::fputs((json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n").c_str(), stdout);
    return ExitCode::success;
  }
  print_text("{} ({}{})\n", device.name, device.target, device.gpu ? ", " + device.gpu->arch : "");
  if (candidate.bundle.dispatch.empty()) print_text("the bundle has no dispatch table: its defaults are taken\n");
  print_text("{}", rows_text(candidate.bundle, workloads));
  return ExitCode::success;
}

Result<ExitCode> run_dispatch_add(const DispatchAddOptions& options) {
  KW_TRY(const auto bundle, read_bundle(options.bundle));
  KW_TRY(auto row, read_row(options));
  // As overrides, they are held to the constraints as well.
  KW_TRY_VOID(make_candidate(bundle, row.tunables));
  if (!row.device.empty() && !is_known_name(row.device)) {
    print_text(stderr, "note: \"{}\" names no device or architecture that is known here\n", row.device);
  }
  const auto& into = options.into.empty() ? options.bundle : options.into;
  KW_TRY(const std::size_t index, write_with_row(bundle, std::move(row), into));
  print_text("row {} of {}\n", index + 1, into.string());
  return ExitCode::success;
}

}  // namespace kw
