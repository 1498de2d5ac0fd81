#include "verify/processes/toolchain_stamp.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "verify/processes/library_places.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

/// A file or folder as it is now; of what is not there the name alone.
std::string line_of(const fs::path& path, bool with_size) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return path.string();
  return fmt::format("{} {} {}.{:09}", path.string(), with_size ? std::int64_t{status.st_size} : 0,
                     std::int64_t{status.st_mtim.tv_sec}, std::int64_t{status.st_mtim.tv_nsec});
}

/// By its name, since asking each of ten thousand headers would take a tenth of a second.
bool may_be_loaded(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.find(".so") != std::string::npos || name.find('.') == std::string::npos;
}

void add_folder(const fs::path& folder, std::vector<std::string>& lines) {
  lines.push_back(line_of(folder, false));
  constexpr auto k_all = fs::directory_options::skip_permission_denied;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, k_all, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code none;
    if (entry->is_directory(none) && !entry->is_symlink(none)) {
      lines.push_back(line_of(entry->path(), false));
    } else if (may_be_loaded(entry->path())) {
      lines.push_back(line_of(entry->path(), true));
    }
  }
}

void add_place(const fs::path& place, std::vector<std::string>& lines) {
  std::error_code error;
  if (fs::is_directory(place, error)) {
    add_folder(place, lines);
  } else {
    lines.push_back(line_of(place, true));
  }
}

/// Compilers for this processor ask it what it can do.
void add_processor(std::vector<std::string>& lines) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && !line.empty()) {
    if (line.starts_with("model name") || line.starts_with("flags")) lines.push_back(line);
  }
}

}  // namespace

Hash toolchain_stamp(const SandboxSpec& spec) {
  std::vector<std::string> lines;
  add_processor(lines);
  for (const auto& [name, value] : spec.environment) lines.push_back(fmt::format("{}={}", name, value));
  std::vector<fs::path> places = spec.system.empty() ? library_places() : spec.system;
  places.push_back(spec.program);
  places.insert(places.end(), spec.readable.begin(), spec.readable.end());
  places.insert(places.end(), spec.executable.begin(), spec.executable.end());
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const fs::path& place : places) add_place(place, lines);
  std::ranges::sort(lines);
  Hasher hasher;
  for (const std::string& line : lines) hasher.add(line);
  return hasher.finish();
}

}  // namespace kw
