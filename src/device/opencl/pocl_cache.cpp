#include "device/opencl/pocl_cache.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

namespace kw::opencl {
namespace {

namespace fs = std::filesystem;

/// The entries of a directory; none when it cannot be read.
std::vector<fs::path> children(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    paths.push_back(entry->path());
  }
  return paths;
}

void copy_variant(const fs::path& generic, const fs::path& variant) {
  std::error_code error;
  if (fs::exists(variant, error)) return;
  fs::copy(generic, variant, fs::copy_options::recursive, error);
}

}  // namespace

fs::path use_private_pocl_cache() {
  std::error_code error;
  fs::path cache = fs::temp_directory_path(error) / "pocl";
  fs::create_directories(cache, error);
  ::setenv("POCL_CACHE_DIR", cache.c_str(), 1);
  return cache;
}

void reuse_generic_variants(const fs::path& cache, std::span<const PlannedLaunch> launches) {
  for (const fs::path& prefix : children(cache)) {
    for (const fs::path& program : children(prefix)) {
      for (const PlannedLaunch& launch : launches) {
        const fs::path kernel = program / launch.kernel;
        std::error_code error;
        if (!fs::is_regular_file(kernel / "0-0-0" / (launch.kernel + ".so"), error)) continue;
        const std::string size = fmt::format("{}-{}-{}-goffs0", launch.block[0], launch.block[1], launch.block[2]);
        copy_variant(kernel / "0-0-0", kernel / size);
        copy_variant(kernel / "0-0-0", kernel / (size + "-smallgrid"));
      }
    }
  }
}

void clear_pocl_cache(const fs::path& cache) {
  for (const fs::path& entry : children(cache)) {
    std::error_code error;
    if (fs::is_directory(entry, error)) fs::remove_all(entry, error);
  }
}

}  // namespace kw::opencl
