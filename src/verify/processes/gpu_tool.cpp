#include "verify/processes/gpu_tool.hpp"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "hardware/cuda_places.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_report = "tool-report";

std::vector<fs::path> folders() {
  std::vector<fs::path> found;
  for (const fs::path& folder : named_cuda_folders()) found.push_back(folder / "bin");
  const std::string path = environment_variable("PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin) found.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const std::string_view folder : k_cuda_folders) found.push_back(fs::path(folder) / "bin");
  return found;
}

/// The toolkit that the program is part of, and where packages put Nsight Compute.
std::vector<fs::path> installation_of(const fs::path& program) {
  return {program.parent_path().parent_path(), "/opt/nvidia"};
}

}  // namespace

std::optional<fs::path> find_gpu_tool(std::string_view name) {
  for (const fs::path& folder : folders()) {
    std::error_code error;
    const fs::path real = fs::canonical(folder / name, error);
    if (!error && fs::is_regular_file(real, error) && ::access(real.c_str(), X_OK) == 0) return real;
  }
  return std::nullopt;
}

GpuTool compute_sanitizer(fs::path program, std::string_view tool) {
  GpuTool started;
  // It returns its own status only when something was found, so that a kernel that prints what looks like a report
  // changes nothing. Warnings of racecheck are patterns that are often intended.
  started.arguments = {"--tool",           std::string(tool),
                       "--error-exitcode", std::to_string(k_sanitizer_found),
                       "--log-file",       k_report,
                       "--print-limit",    "3",
                       "--show-backtrace", "no",
                       "--demangle",       "no"};
  // What the driver refuses us is no finding about a kernel.
  if (tool == "memcheck") started.arguments.insert(started.arguments.end(), {"--report-api-errors", "no"});
  if (tool == "racecheck") started.arguments.insert(started.arguments.end(), {"--racecheck-detect-level", "error"});
  started.readable = installation_of(program);
  started.program = std::move(program);
  started.report_file = k_report;
  return started;
}

GpuTool nsight_compute(fs::path program, const std::vector<std::string>& metrics) {
  std::string list;
  for (const std::string& metric : metrics) list += (list.empty() ? "" : ",") + metric;
  GpuTool started;
  // The clocks belong to the user: setting them would also disturb whatever is timed next.
  started.arguments = {"--csv", "--page", "raw", "--clock-control", "none", "--log-file", k_report, "--metrics", list};
  started.readable = installation_of(program);
  started.program = std::move(program);
  started.report_file = k_report;
  started.opens_files = true;
  return started;
}

}  // namespace kw
