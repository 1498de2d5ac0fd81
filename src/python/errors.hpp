#pragma once
// What is refused of Python text, whoever reads it. Everything built on the parser adds its own codes.

#include "base/result.hpp"

namespace kw::errc {
inline constexpr ErrorCode mod_syntax{"mod.syntax"};            ///< not Python, or not the part of it we read
inline constexpr ErrorCode mod_unsupported{"mod.unsupported"};  ///< Python, but outside the subset; the hint says why
inline constexpr ErrorCode mod_limit{"mod.limit"};              ///< too large or too deeply nested
}  // namespace kw::errc
