#pragma once
// The files of prompts/ as they were compiled in. Defined by the build (cmake/KwEmbed.cmake).

#include <span>

#include "base/embedded_texts.hpp"

namespace kw {

/// prompts/*.md without the extension, in the order of their names.
[[nodiscard]] std::span<const EmbeddedText> shipped_prompt_texts();

}  // namespace kw
