#include "device/opencl/pocl_cache.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "device/device.hpp"
#include "device/opencl/kernel_loading.hpp"

namespace kw::opencl {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_generic = "0-0-0";

/// The entries of a directory; none when it cannot be read.
std::vector<fs::path> children(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    paths.push_back(entry->path());
  }
  return paths;
}

/// A link rather than a copy: it costs one system call, and needs none of those a sandbox may withhold.
void link_variant(const fs::path& kernel, const std::string& variant) {
  std::error_code error;
  fs::create_directory_symlink(k_generic, kernel / variant, error);
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
        if (!fs::is_regular_file(kernel / k_generic / (launch.kernel + ".so"), error)) continue;
        const std::string size = fmt::format("{}-{}-{}-goffs0", launch.block[0], launch.block[1], launch.block[2]);
        link_variant(kernel, size);
        link_variant(kernel, size + "-smallgrid");
      }
    }
  }
}

Result<std::vector<fs::path>> compiled_kernels(const fs::path& cache) {
  std::vector<fs::path> libraries;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(cache, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".so" && entry->is_regular_file(error)) libraries.push_back(entry->path());
  }
  if (error) return fail(errc::device_refused, "the compiled kernels cannot be listed: {}", error.message());
  return libraries;
}

Result<void> load_cached_kernels(const fs::path& cache) {
  KW_TRY(const auto libraries, compiled_kernels(cache));
  for (const fs::path& library : libraries) KW_TRY_VOID(load_kernel(library));
  return {};
}

void clear_pocl_cache(const fs::path& cache) {
  for (const fs::path& entry : children(cache)) {
    std::error_code error;
    if (fs::is_directory(entry, error)) fs::remove_all(entry, error);
  }
}

}  // namespace kw::opencl
