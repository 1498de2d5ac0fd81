#pragma once
// Text files compiled into the program by cmake/KwEmbed.cmake, so that it needs none of them at run time.

#include <span>
#include <string_view>

namespace kw {

struct EmbeddedText {
  std::string_view name;  ///< of the file, without its extension
  std::string_view text;
};

/// The files of devices/, in alphabetical order of their names.
[[nodiscard]] std::span<const EmbeddedText> embedded_texts();

}  // namespace kw
