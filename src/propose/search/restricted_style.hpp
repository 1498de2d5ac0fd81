#pragma once
// A part of a style's space: some of its structural choices and tunables may take only some of their values. So that a
// part can be timed completely where the whole has a million points.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "codegen/codegen.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode restricted_values{
    "search.restricted_values"};  ///< a name or a value that is not the style's
}  // namespace errc

/// By the name of a structural choice or a tunable.
using AllowedValues = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

/// The same kernels; a default that is not allowed becomes the first value that is. A tunable that only some of the
/// style's kernels have is restricted where it is.
[[nodiscard]] Style restricted_style(Style style, AllowedValues allowed);

/// errc::restricted_values names what the style does not know for this problem and device, and what it knows.
[[nodiscard]] Result<void> require_known_values(const Style& style, const Problem& problem, const DeviceFacts& device,
                                                const AllowedValues& allowed);

}  // namespace kw
