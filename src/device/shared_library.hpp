#pragma once
// Libraries of vendors, opened at run time so that the worker starts where none is installed: the first of several
// names that loads, and the functions in it.

#include <dlfcn.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

struct SharedLibrary {
  void* handle = nullptr;
  std::string name;  ///< the one of the names that was loaded
};

/// Tries `names` in order. Never unloads: drivers leave threads behind. errc::device_unavailable, "`what` cannot be
/// loaded: " with what the system said of each name, and `hint`.
[[nodiscard]] Result<SharedLibrary> open_library(const std::vector<std::string>& names, std::string_view what,
                                                 std::string_view hint);

/// Looks up the functions of a library, and remembers the first that is missing.
struct SymbolFinder {
  void* library = nullptr;
  std::string missing = {};

  /// `function` becomes null when the library has no such symbol.
  template <typename Function>
  void operator()(const char* name, Function& function) {
    optional(name, function);
    if (function == nullptr && missing.empty()) missing = name;
  }
  /// For what an older version may lack.
  template <typename Function>
  void optional(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(::dlsym(library, name));
  }
};

}  // namespace kw
