#pragma once
// What a kernel that was compiled for this machine's own processor may hold. PoCL makes each a shared library, which
// the process that runs candidates loads: whatever the source's text was, the library must only compute. Judged are
// what the loader would do (initialisers, relocations, functions that are resolved when it is loaded), which functions
// of the process it calls, memory of its own that survives a launch, and the instructions.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kw::opencl {

/// The first thing in the bytes of a shared library that it may not hold, as the end of a sentence that begins with
/// what it is of: "calls getenv, ...". Nothing when it holds none.
[[nodiscard]] std::optional<std::string> forbidden_in_object(std::string_view library);

/// The same for all kernels in PoCL's cache, as a whole sentence with the kernel's name. A library that cannot be read
/// is refused.
[[nodiscard]] std::optional<std::string> forbidden_in_cache(const std::filesystem::path& cache);

}  // namespace kw::opencl
