#include "device/hip/hipcc_build.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/file_system.hpp"
#include "base/int_math.hpp"
#include "device/build_steps.hpp"
#include "device/hip/resource_remarks.hpp"
#include "device/sim/child_program.hpp"
#include "device/sim/entry_text.hpp"
#include "device/sim/runtime_text.hpp"
#include "hardware/occupancy.hpp"

namespace kw::hip {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_source_name = "kernel.hip";
constexpr std::string_view k_parameters_name = "parameters.hpp";
constexpr std::size_t k_most_object_bytes = std::size_t{64} << 20;
/// Remarks included, which do not go into the reply's log.
constexpr std::size_t k_most_output_bytes = std::size_t{4} << 20;

/// The candidate between the templates that look at parameters and the assertions that use them.
Result<void> write_source(const fs::path& directory, const BuildRequest& request) {
  RealFileSystem files;
  for (const sim::RuntimeFile& file : sim::runtime_files()) {
    if (file.name == k_parameters_name) KW_TRY_VOID(files.write_atomic(directory / file.name, file.text));
  }
  const std::string text = fmt::format("#line 1 \"{}\"\n{}\n#line 1 \"{}\"\n{}", k_source_name, request.source,
                                       sim::k_entries_name, sim::parameter_checks(request.launches));
  return files.write_atomic(directory / k_source_name, text);
}

Result<std::vector<std::string>> command_line(const std::string& program, const fs::path& directory,
                                              const std::string& arch, const BuildRequest& request) {
  std::vector<std::string> command = {program,
                                      "--genco",
                                      "--offload-arch=" + arch,
                                      "-O3",
                                      "-std=c++17",
                                      "-fno-caret-diagnostics",
                                      "-Rpass-analysis=kernel-resource-usage",
                                      "-include",
                                      (directory / k_parameters_name).string(),
                                      "-o",
                                      (directory / "kernel.co").string(),
                                      (directory / k_source_name).string()};
  KW_TRY(const auto definitions, definition_options(request));
  command.insert(command.end(), definitions.begin(), definitions.end());
  return command;
}

std::int64_t threads_of(const PlannedLaunch& launch) {
  return launch.block[0] * launch.block[1] * launch.block[2];
}

/// CDNA gives both kinds of registers out of one file, the second kind from a multiple of 4 on.
std::int64_t registers_of(const ResourceRemarks& kernel) {
  if (kernel.accumulator_registers == 0) return kernel.vector_registers;
  return round_up(kernel.vector_registers, std::int64_t{4}) + kernel.accumulator_registers;
}

KernelReport report_of(const ResourceRemarks& kernel, const PlannedLaunch& launch, const GpuFacts& gpu) {
  KernelReport report;
  report.kernel = kernel.kernel;
  report.registers = registers_of(kernel);
  report.spill_bytes = 4 * kernel.spilled_registers;
  report.stack_bytes = kernel.scratch_bytes;
  report.shared_bytes = kernel.static_shared_bytes + launch.shared_bytes;
  const BlockResources block{threads_of(launch), *report.registers, *report.shared_bytes};
  report.blocks_per_unit = resident_blocks(gpu, block);
  report.occupancy = occupancy(gpu, block);
  return report;
}

void keep_largest(std::int64_t& largest, std::optional<std::int64_t> value) {
  largest = std::max(largest, value.value_or(-1));
}

/// One report per launch; a compiler that makes no remarks leaves none.
void take_reports(const std::string& log, const DeviceFacts& device, const BuildRequest& request, BuildReply& reply) {
  const std::vector<ResourceRemarks> kernels = read_remarks(log);
  for (const PlannedLaunch& launch : request.launches) {
    const auto found = std::find_if(kernels.begin(), kernels.end(),
                                    [&](const auto& kernel) { return kernel.kernel == launch.kernel; });
    if (found == kernels.end()) continue;
    KernelReport report = report_of(*found, launch, *device.gpu);
    if (*report.shared_bytes > device.shared_bytes_per_block) {
      return refuse(
          reply, BuildStatus::resource,
          fmt::format("kernel '{}' needs {} bytes of shared memory, {} declared and {} dynamic; {} has {} per "
                      "block",
                      launch.kernel, *report.shared_bytes, found->static_shared_bytes, launch.shared_bytes,
                      device.gpu->arch, device.shared_bytes_per_block));
    }
    keep_largest(reply.registers, report.registers);
    keep_largest(reply.spill_bytes, report.spill_bytes);
    keep_largest(reply.stack_bytes, report.stack_bytes);
    keep_largest(reply.shared_bytes, report.shared_bytes);
    reply.kernels.push_back(std::move(report));
  }
}

void build_into(const std::string& program, const fs::path& directory, const DeviceFacts& device,
                const BuildRequest& request, BuildReply& reply) {
  const auto command = command_line(program, directory, device.gpu->arch, request);
  if (!command) return refuse(reply, BuildStatus::source_error, command.error().message);
  if (const auto written = write_source(directory, request); !written) {
    return refuse(reply, BuildStatus::resource, written.error().message);
  }
  std::error_code ignored;
  fs::remove(directory / "kernel.co", ignored);  // an earlier candidate's
  const auto end = sim::run_program(*command, k_most_output_bytes);
  if (!end) return refuse(reply, BuildStatus::resource, end.error().message);
  reply.log = without_remarks(end->output);
  if (end->status != 0) {
    const sim::Diagnosis diagnosis = sim::diagnose_launches(end->output, k_source_name);
    return refuse(reply, diagnosis.status,
                  fmt::format("{}{}hipcc failed with status {}", diagnosis.text, diagnosis.text.empty() ? "" : "\n",
                              end->status));
  }
  auto object = RealFileSystem().read(directory / "kernel.co", k_most_object_bytes);
  if (!object) return refuse(reply, BuildStatus::resource, "hipcc wrote no code object: " + object.error().message);
  take_reports(end->output, device, request, reply);
  if (reply.status == BuildStatus::ok) reply.binary = *std::move(object);
}

}  // namespace

BuildReply build(const std::string& program, const fs::path& directory, const DeviceFacts& device,
                 const BuildRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  BuildReply reply;
  build_into(program, directory, device, request, reply);
  if (reply.log.size() > k_max_log_bytes) reply.log.resize(k_max_log_bytes);
  reply.build_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  return reply;
}

}  // namespace kw::hip
