#pragma once
// The files of runtime/ as text, compiled into the worker (cmake/KwSimRuntime.cmake).

#include <span>
#include <string_view>

namespace kw::sim {

struct RuntimeFile {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::span<const RuntimeFile> runtime_files();

}  // namespace kw::sim
