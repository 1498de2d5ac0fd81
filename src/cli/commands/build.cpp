// kernelwright build: compiles a bundle for a device, here or not, and prints what the compiler reports.

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/dispatch_text.hpp"
#include "cli/inputs.hpp"
#include "cli/print.hpp"
#include "verify/build_workloads.hpp"
#include "verify/processes/build_deadline.hpp"

namespace kw {
namespace {

constexpr Duration k_deadline = std::chrono::seconds(120);

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const KernelReport& kernel) {
  return {{"kernel", kernel.kernel},
          {"registers", or_null(kernel.registers)},
          {"spill_bytes", or_null(kernel.spill_bytes)},
          {"stack_bytes", or_null(kernel.stack_bytes)},
          {"shared_bytes", or_null(kernel.shared_bytes)},
          {"instructions", or_null(kernel.instructions)},
          {"tensor_core_instructions", or_null(kernel.tensor_core_instructions)},
          {"local_memory_instructions", or_null(kernel.local_memory_instructions)},
          {"blocks_per_unit", or_null(kernel.blocks_per_unit)},
          {"occupancy", or_null(kernel.occupancy)}};
}

Json to_json(const LaunchPlan& plan) {
  Json buffers = Json::array();
  constexpr const char* k_roles[] = {"", "input", "output", "scratch"};
  for (const auto& buffer : plan.buffers) {
    buffers.push_back({{"name", buffer.name},
                       {"role", k_roles[static_cast<std::size_t>(buffer.role)]},
                       {"dtype", to_string(buffer.dtype)},
                       {"bytes", buffer.bytes}});
  }
  Json launches = Json::array();
  for (const auto& launch : plan.launches) {
    Json args = Json::array();
    for (const KernelArg& arg : launch.args) {
      if (const auto* buffer = std::get_if<BufferArg>(&arg)) args.push_back({{"buffer", buffer->buffer}});
      if (const auto* number = std::get_if<IntArg>(&arg)) args.push_back({{"int", number->value}});
      if (std::holds_alternative<SharedArg>(arg)) args.push_back({{"shared", launch.shared_bytes}});
    }
    launches.push_back({{"kernel", launch.kernel},
                        {"grid", launch.grid},
                        {"block", launch.block},
                        {"shared_bytes", launch.shared_bytes},
                        {"args", args}});
  }
  return {{"buffers", buffers}, {"launches", launches}};
}

Json to_json(const BuiltWorkload& workload) {
  Json kernels = Json::array();
  for (const auto& kernel : workload.reply.kernels) kernels.push_back(to_json(kernel));
  // Rows are counted from 1, as people are told of them.
  const auto& row = workload.tunables.row;
  return {{"workload", workload.name},
          {"built", workload.reply.status == BuildStatus::ok},
          {"log", workload.reply.log},
          {"binary_bytes", workload.reply.binary.size()},
          {"dispatch_row", row ? Json(*row + 1) : Json(nullptr)},
          {"tunables", workload.tunables.values},
          {"kernels", kernels},
          {"plan", to_json(workload.plan)}};
}

std::string figure(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

/// What there is: figures per kernel, or those of the whole program.
std::vector<KernelReport> reports_of(const BuildReply& reply) {
  if (!reply.kernels.empty()) return reply.kernels;
  const auto reported = [](std::int64_t value) {
    return value < 0 ? std::nullopt : std::optional<std::int64_t>(value);
  };
  KernelReport all;
  all.kernel = reply.status == BuildStatus::ok ? "(all)" : "(not built)";
  all.registers = reported(reply.registers);
  all.spill_bytes = reported(reply.spill_bytes);
  all.stack_bytes = reported(reply.stack_bytes);
  all.shared_bytes = reported(reply.shared_bytes);
  return {std::move(all)};
}

void print_workload(const BuiltWorkload& workload) {
  const auto reports = reports_of(workload.reply);
  for (const auto& kernel : reports) {
    print_text("{:<22} {:<28} {:>5} {:>6} {:>6} {:>8} {:>7} {:>7} {:>6} {:>7} {:>6}\n", workload.name, kernel.kernel,
               figure(kernel.registers), figure(kernel.spill_bytes), figure(kernel.stack_bytes),
               figure(kernel.shared_bytes), figure(kernel.instructions), figure(kernel.tensor_core_instructions),
               figure(kernel.local_memory_instructions), figure(kernel.blocks_per_unit),
               kernel.occupancy ? fmt::format("{:.0f} %", 100 * *kernel.occupancy) : "-");
  }
}

void print_table(const DeviceFacts& device, const Bundle& bundle, const std::vector<BuiltWorkload>& built) {
  print_text("{} ({}{})\n", device.name, device.target, device.gpu ? ", " + device.gpu->arch : "");
  print_text("{:<22} {:<28} {:>5} {:>6} {:>6} {:>8} {:>7} {:>7} {:>6} {:>7} {:>6}\n", "workload", "kernel", "regs",
             "spill", "stack", "shared", "instr", "tensor", "local", "blk/SM", "occup");
  for (const auto& workload : built) print_workload(workload);
  std::vector<NamedTunables> resolved;
  for (const auto& workload : built) resolved.push_back({workload.name, workload.tunables});
  print_text("{}", rows_text(bundle, resolved));
  std::string shown;
  for (const auto& workload : built) {
    if (workload.reply.log.empty() || workload.reply.log == shown) continue;
    shown = workload.reply.log;
    print_text("\ncompiler, workload {}\n{}\n", workload.name, shown);
  }
}

Result<void> write_binary(const std::filesystem::path& path, const std::string& binary) {
  std::ofstream file(path, std::ios::binary);
  file.write(binary.data(), static_cast<std::streamsize>(binary.size()));
  if (file.flush()) return {};
  return fail(errc::io, "cannot write {}", path.string());
}

/// A device of this machine has a colon in its name; what ships or is a file has not.
Result<std::unique_ptr<ExecutionBackend>> open_for(const std::string& device, const std::string& target) {
  if (device.find(':') != std::string::npos) {
    KW_TRY(OpenedDevice opened, open_device(device, target, "none"));
    return std::move(opened.backend);
  }
  KW_TRY(DeviceFacts facts, facts_for(device, target));
  if (!facts.gpu) {
    return fail(Error{errc::device_missing, fmt::format("{} is compiled on the device itself", target),
                      "give --device as `kernelwright doctor` lists it, such as opencl:0"});
  }
  return open_build_backend({}, std::move(facts));
}

}  // namespace

Result<ExitCode> run_build(const BuildOptions& options) {
  KW_TRY(const auto problem, read_problem(options.input));
  KW_TRY(const auto candidate, read_candidate(options.bundle, options.tune));
  KW_TRY(const auto backend, open_for(options.device, candidate.bundle.target));
  KW_TRY(const auto built, build_workloads(problem, candidate, *backend, patient(k_deadline)));
  if (options.json) {
    Json json{{"device", backend->device().id}, {"target", backend->device().target}};
    json["arch"] = backend->device().gpu ? Json(backend->device().gpu->arch) : Json(nullptr);
    for (const auto& workload : built) json["workloads"].push_back(to_json(workload));
    std::fputs((json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n").c_str(), stdout);
  } else {
    print_table(backend->device(), candidate.bundle, built);
  }
  bool all = true;
  for (const auto& workload : built) all = all && workload.reply.status == BuildStatus::ok;
  if (all && !options.binary.empty()) KW_TRY_VOID(write_binary(options.binary, built.front().reply.binary));
  return all ? ExitCode::success : ExitCode::rejected;
}

}  // namespace kw
