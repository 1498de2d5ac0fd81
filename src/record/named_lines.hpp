#pragma once
// The lines of a kernel's source that a tool names in what it found: "line 12", or "kernel.cu:12". The text is
// untrusted.

#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Each once, in the order they are named; from 1, of the source below the bundle's header.
[[nodiscard]] std::vector<int> named_lines(std::string_view text);

/// ", line 12", or ", line 12 and line 9", the first two; nothing where no line is named.
[[nodiscard]] std::string lines_text(std::string_view text);

}  // namespace kw
