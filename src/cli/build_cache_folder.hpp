#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace kw {

/// Names the folder, or is "none", by which nothing is kept.
inline constexpr const char* k_build_cache_variable = "KERNELWRIGHT_BUILD_CACHE";

/// Where builds are kept from run to run (verify/processes/build_cache.hpp): the folder that KERNELWRIGHT_BUILD_CACHE
/// names, else kernelwright/builds in XDG_CACHE_HOME or, where that is not set or not absolute, in ~/.cache. "" keeps
/// none: where the variable says so, and where there is no home either. `variable` gives "" for one that is not set.
[[nodiscard]] std::filesystem::path build_cache_folder(const std::function<std::string(const char* name)>& variable);
/// By this process's variables.
[[nodiscard]] std::filesystem::path build_cache_folder();

}  // namespace kw
