#include "verify/processes/library_places.hpp"

#include <link.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <system_error>

namespace kw {
namespace {

namespace fs = std::filesystem;

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void add_real(const fs::path& path, std::set<fs::path>& places) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (!error) places.insert(std::move(real));
}

/// A folder of libraries, and what belongs to those in it: the compiler's own libraries, which a linker is given, and
/// PoCL's headers and built-ins. Both lie beside the folder or, where it is one of several for several processors,
/// beside the one above.
void add_folder(const fs::path& folder, std::set<fs::path>& places) {
  add_real(folder, places);
  for (const char* beside : {"gcc", "../gcc", "../lib/gcc", "../share/pocl", "../../share/pocl"}) {
    add_real(folder / beside, places);
  }
}

void add_own_libraries(std::set<fs::path>& places) {
  const auto add = [](dl_phdr_info* info, std::size_t, void* into) {
    std::error_code error;
    const fs::path real = fs::canonical(info->dlpi_name, error);  // fails for the program itself and what is no file
    if (!error) add_folder(real.parent_path(), *static_cast<std::set<fs::path>*>(into));
    return 0;
  };
  ::dl_iterate_phdr(add, &places);
}

void add_opencl_drivers(std::set<fs::path>& places) {
  std::error_code error;
  for (fs::directory_iterator entry("/etc/OpenCL/vendors", error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path library = library_in_registration(contents_of(entry->path()));
    std::error_code none;
    const fs::path real = library.is_absolute() ? fs::canonical(library, none) : fs::path();
    if (!real.empty()) add_folder(real.parent_path(), places);
  }
}

bool is_below(const fs::path& path, const std::set<fs::path>& places) {
  for (fs::path above = path; above.has_relative_path(); above = above.parent_path()) {
    if (places.contains(above)) return true;
  }
  return false;
}

std::vector<fs::path> find_places() {
  std::set<fs::path> places;
  add_own_libraries(places);
  add_opencl_drivers(places);
  for (const fs::path& library : libraries_in_cache(contents_of("/etc/ld.so.cache"))) {
    std::error_code error;
    const fs::path real = fs::canonical(library, error);
    if (!error && !is_below(real, places)) places.insert(real);
  }
  return {places.begin(), places.end()};
}

}  // namespace

std::vector<fs::path> libraries_in_cache(std::string_view cache) {
  // Numbers first, then names that end with a zero byte: of each library its bare name and its path.
  if (!cache.starts_with("glibc-ld.so.cache") && !cache.starts_with("ld.so-")) return {};
  std::vector<fs::path> libraries;
  for (std::size_t at = 0; at < cache.size();) {
    const std::string_view name = cache.substr(at, std::min(cache.find('\0', at), cache.size()) - at);
    if (name.starts_with('/') && name.find(".so") != std::string_view::npos) libraries.emplace_back(name);
    at += name.size() + 1;
  }
  return libraries;
}

fs::path library_in_registration(std::string_view text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

const std::vector<fs::path>& library_places() {
  static const std::vector<fs::path> places = find_places();
  return places;
}

}  // namespace kw
