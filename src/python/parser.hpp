#pragma once
// Python text to syntax tree. Whatever Python has and mods may not use is refused here by name, with what to write
// instead; what a name or a call means is the tracer's business. Files with classes that tensor programs are read from
// may use more (PyDialect::module).

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "python/ast.hpp"
#include "python/token_stream.hpp"

namespace kw {

/// Refuses with errc::mod_syntax, mod_unsupported or mod_limit. `start` is the place of the first character.
[[nodiscard]] Result<std::vector<PyStatement>> parse_python(std::string_view text,
                                                            const SourcePlace& start = {"", 1, 1},
                                                            PyDialect dialect = PyDialect::mod);
/// One expression of the module dialect, such as what stands between the braces of an f-string.
[[nodiscard]] Result<PyExprPtr> parse_python_expression(std::string_view text, const SourcePlace& start);

}  // namespace kw
