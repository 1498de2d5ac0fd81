#include "sandbox/processor_time.hpp"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace kw {
namespace {

namespace fs = std::filesystem;

struct ProcessStat {
  pid_t session = -1;
  std::int64_t ticks = 0;  ///< of the process and of children that it has waited for
};

/// Fields 6 and 14 to 17 of /proc/PID/stat (proc(5)). The name before them may hold blanks and parentheses.
std::optional<ProcessStat> stat_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream words(line.substr(name_end + 1));
  std::string skipped;
  ProcessStat found;
  for (int field = 3; field < 6; ++field) words >> skipped;
  words >> found.session;
  for (int field = 7; field < 14; ++field) words >> skipped;
  for (int field = 14; field <= 17; ++field) {
    std::int64_t ticks = 0;
    words >> ticks;
    found.ticks += ticks;
  }
  return words ? std::optional(found) : std::nullopt;
}

bool is_number(std::string_view name) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc{} && end == name.data() + name.size();
}

}  // namespace

std::optional<Duration> processor_time_of(pid_t leader) {
  const auto own = stat_of(std::to_string(leader));
  if (!own) return std::nullopt;
  std::int64_t ticks = own->ticks;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (!is_number(name) || name == std::to_string(leader)) continue;
    // One that ends meanwhile is counted with whoever waits for it, or not at all.
    const auto other = stat_of(name);
    if (other && other->session == own->session) ticks += other->ticks;
  }
  static const std::int64_t ticks_per_second = ::sysconf(_SC_CLK_TCK);
  return from_seconds(static_cast<double>(ticks) / static_cast<double>(ticks_per_second));
}

}  // namespace kw
