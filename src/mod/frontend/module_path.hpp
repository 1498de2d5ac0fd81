#pragma once
// Dotted names of modules.

#include <string>
#include <string_view>

namespace kw {

/// "..masks.causal" as it is meant in the package "pkg.inner": "pkg.masks.causal". Where it leads above the outermost
/// package, dots stay in front of it. A path without dots in front means the same everywhere.
[[nodiscard]] inline std::string full_module_path(std::string_view path, std::string_view package) {
  if (!path.starts_with('.')) return std::string(path);
  path.remove_prefix(1);
  while (path.starts_with('.') && !package.empty()) {
    path.remove_prefix(1);
    const auto dot = package.rfind('.');
    package = dot == std::string_view::npos ? std::string_view() : package.substr(0, dot);
  }
  return package.empty() ? std::string(path) : std::string(package) + "." + std::string(path);
}

}  // namespace kw
