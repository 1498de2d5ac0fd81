#include "verify/oclgrind.hpp"

#include <filesystem>
#include <system_error>

namespace kw {
namespace {

constexpr const char* k_driver = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";
constexpr std::size_t k_max_finding_chars = 300;

}  // namespace

bool have_oclgrind() {
  std::error_code error;
  return std::filesystem::is_regular_file(k_driver, error);
}

Result<std::unique_ptr<Workbench>> open_oclgrind(WorkbenchOptions options) {
  options.device_id.clear();
  // Uninitialised reads are not asked for: version 21.10 reports them for vector lanes that are written later.
  options.environment = {{"OCL_ICD_VENDORS", k_driver}, {"OCLGRIND_DATA_RACES", "1"}, {"OCLGRIND_MAX_ERRORS", "10"}};
  options.standby = false;
  return open_process_workbench(options);
}

std::optional<std::string> first_finding(const std::string& output) {
  // A finding is a line of its own followed by indented lines: "Kernel:", "Entity:", the instruction, "At line N".
  const std::size_t entity = output.find("\n\tKernel: ");
  if (entity == std::string::npos) return std::nullopt;
  const std::size_t start = entity == 0 ? 0 : output.rfind('\n', entity - 1) + 1;
  const std::size_t place = output.find("At line", entity);
  const std::size_t end = output.find('\n', place == std::string::npos ? entity + 1 : place);
  std::string finding;
  for (const char c : output.substr(start, end == std::string::npos ? end : end - start)) {
    const bool space = c == '\n' || c == '\t' || c == ' ';
    if (space && !finding.empty() && finding.back() != ' ') finding += ' ';
    if (c > ' ' && c <= '~') finding += c;
  }
  return finding.substr(0, k_max_finding_chars);
}

}  // namespace kw
