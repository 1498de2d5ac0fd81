#pragma once
// The bytes of a Python file as the text that the lexer reads.

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kw {

/// Without a byte order mark, and with "\n" where an old editor ended lines with "\r" alone. errc::mod_syntax for
/// UTF-16 and for bytes that no text has.
[[nodiscard]] Result<std::string> python_file_text(std::string_view bytes);

}  // namespace kw
