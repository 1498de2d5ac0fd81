#pragma once
// Which language a piece of code is written in, by words that one of them has and the others have not. Comments and
// string literals do not count. A guess for feedback, never a decision about safety: what it misses the compiler finds.

#include <cstdint>
#include <string_view>

namespace kw {

enum class SourceLanguage : std::uint8_t {
  none,    ///< no code, or none that was recognised
  opencl,  ///< OpenCL C
  cuda,    ///< CUDA C++ device code
  hip,     ///< HIP C++ device code; guessed only where its own names stand in it
  triton,  ///< Triton in Python
  python,  ///< other Python
  hlsl,
  glsl,
  wgsl,
  metal,
  sycl,
  c_family,  ///< C or C++ without a mark of any of the above
};
/// "OpenCL C", "CUDA C++", "Triton (Python)", ...; "text" for none.
[[nodiscard]] std::string_view to_string(SourceLanguage language);

/// Of code that mixes several, the one that embeds the others comes first: Python before C.
[[nodiscard]] SourceLanguage language_of(std::string_view code);
/// Whether any word of `language` stands in the code, whatever else does.
[[nodiscard]] bool has_marks_of(SourceLanguage language, std::string_view code);
/// Holds the host side of a program: a PyTorch module or extension, a main(), a launch, an allocation.
[[nodiscard]] bool has_host_code(std::string_view code);
/// The language bundles of a target are written in; none for a target that is not known.
[[nodiscard]] SourceLanguage language_for(std::string_view target);

}  // namespace kw
