#pragma once
// Python text to syntax tree. Whatever Python has and mods may not use is refused here by name, with what to write
// instead; what a name or a call means is the tracer's business.

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "python/ast.hpp"

namespace kw {

/// Refuses with errc::mod_syntax, mod_unsupported or mod_limit. `start` is the place of the first character.
[[nodiscard]] Result<std::vector<PyStatement>> parse_python(std::string_view text,
                                                            const SourcePlace& start = {"", 1, 1});

}  // namespace kw
