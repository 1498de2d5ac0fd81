#include "cli/environment.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <string_view>

#include "language/language.hpp"

namespace kw {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

bool changes_speed(const std::string& name) {
  const auto begins_name = [&](std::string_view prefix) { return name.starts_with(prefix); };
  constexpr auto k_of_libraries = std::to_array<std::string_view>({"OPENBLAS_", "OMP_", "GOMP_", "MKL_", "MALLOC_"});
  return std::ranges::any_of(k_of_libraries, begins_name) || std::ranges::any_of(languages(), [&](const Language* one) {
           return std::ranges::any_of(one->environment, begins_name);
         });
}

}  // namespace

std::vector<std::pair<std::string, std::string>> describe_environment() {
  std::vector<std::pair<std::string, std::string>> facts;
  facts.emplace_back("cpu", fmt::format("{} x {}", sysconf(_SC_NPROCESSORS_ONLN), cpu_model()));
  utsname names{};
  if (uname(&names) == 0) facts.emplace_back("kernel", fmt::format("{} {}", names.sysname, names.release));
  facts.emplace_back("load average", first_line("/proc/loadavg"));
  const double gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 0x1p30;
  facts.emplace_back("memory", fmt::format("{:.1f} GiB", gib));
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (changes_speed(name)) facts.emplace_back("scrubbed " + name, text.substr(equals + 1));
  }
  return facts;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, length);
}

}  // namespace kw
