#pragma once
// What the build process has to know about a compiled object file before it is linked: which kernels it defines, which
// dynamic shared arrays it declares, how much static shared memory it has. Bounded: a damaged file gives empty answers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw::sim {

struct ObjectFacts {
  std::vector<std::string> kernels;        ///< names as the linker sees them: `extern "C"` ones are plain
  std::vector<std::string> shared_arrays;  ///< declared `extern __shared__`
  std::int64_t static_shared_bytes = 0;
  bool runs_code_when_loaded = false;  ///< has initialisers beside the instrumentation's own
};

[[nodiscard]] ObjectFacts read_object(std::string_view bytes);

}  // namespace kw::sim
