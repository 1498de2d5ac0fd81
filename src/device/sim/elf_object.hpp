#pragma once
// What the build process has to know about a compiled object file before it is linked: which kernels it defines, which
// dynamic shared arrays it declares, how much static shared memory each has. Bounded: a damaged file gives empty
// answers.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kw::sim {

struct ObjectFacts {
  std::vector<std::string> kernels;        ///< names as the linker sees them: `extern "C"` ones are plain
  std::vector<std::string> shared_arrays;  ///< declared `extern __shared__`
  /// Of static shared variables that stand in a kernel's own body, by kernel.
  std::map<std::string, std::int64_t, std::less<>> own_static_bytes;
  /// Of the others: outside all functions, or in functions that any kernel may call.
  std::int64_t common_static_bytes = 0;
  bool runs_code_when_loaded = false;  ///< has initialisers beside the instrumentation's own
};

[[nodiscard]] ObjectFacts read_object(std::string_view bytes);

/// The most that a block of this kernel takes of static shared memory, in bytes.
[[nodiscard]] std::int64_t static_shared_bytes(const ObjectFacts& object, std::string_view kernel);

}  // namespace kw::sim
