#pragma once
// What a kernel's source may reach for. The sandbox keeps a compiler from reading the user's files; this keeps a bundle
// whole, so that it means the same on every machine.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode source_forbidden{"verify.source_forbidden"};
}  // namespace errc

/// The first directive that reaches for another file, as it is to be named to the author, or nothing. The headers that
/// a language's own types and functions need are no other files: for "cuda" and "hip" those of half and bfloat16
/// arithmetic, warp matrices and cooperative groups (and for "hip" that of the language itself), between angle
/// brackets.
[[nodiscard]] std::optional<std::string> forbidden_directive(const std::string& source, std::string_view target);

}  // namespace kw
