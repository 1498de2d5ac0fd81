#include "cli/build_cache_folder.hpp"

#include "base/environment.hpp"

namespace kw {

std::filesystem::path build_cache_folder(const std::function<std::string(const char* name)>& variable) {
  if (const std::string named = variable(k_build_cache_variable); !named.empty()) {
    return named == "none" ? std::filesystem::path() : std::filesystem::absolute(named);
  }
  std::filesystem::path caches = variable("XDG_CACHE_HOME");
  // Its specification has paths that are not absolute ignored.
  if (!caches.is_absolute()) {
    const std::filesystem::path home = variable("HOME");
    if (!home.is_absolute()) return {};
    caches = home / ".cache";
  }
  return caches / "kernelwright" / "builds";
}

std::filesystem::path build_cache_folder() {
  return build_cache_folder(environment_variable);
}

}  // namespace kw
