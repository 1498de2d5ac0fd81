#pragma once
// Which language a piece of code is written in, by words that one of them has and the others have not. Comments and
// string literals do not count. A guess for feedback, never a decision about safety: what it misses the compiler finds.

#include <cstdint>
#include <string_view>

#include "language/language.hpp"

namespace kw {

enum class CodeKind : std::uint8_t {
  none,      ///< no code, or none that was recognised
  kernels,   ///< one of languages()
  other,     ///< HLSL, Metal, Python, ...: known by its words, and no target's
  triton,    ///< Triton in Python
  c_family,  ///< C or C++ without a word of any of the above
};

struct CodeLanguage {
  CodeKind kind = CodeKind::none;
  std::string_view title = "text";     ///< "OpenCL C", "Triton (Python)", "C or C++"; "text" for none
  const Language* language = nullptr;  ///< of CodeKind::kernels alone
};

/// Of code that mixes several, the one that embeds the others comes first: Python before C. A language that extends
/// another is guessed only where words of its own stand in the code.
[[nodiscard]] CodeLanguage language_of(std::string_view code);
/// Whether any word of `language`, or of the one it extends, stands in the code, whatever else does.
[[nodiscard]] bool has_words_of(const Language& language, std::string_view code);
/// Holds the host side of a program: a PyTorch module or extension, a main(), a launch, an allocation.
[[nodiscard]] bool has_host_code(std::string_view code);

}  // namespace kw
