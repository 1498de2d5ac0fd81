#pragma once
// Looks up the functions of a library that was opened with dlopen, and remembers the first that is missing.

#include <dlfcn.h>

#include <string>

namespace kw {

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
