#pragma once
// Finds the name a misspelt one probably meant, for hints.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// The known name with the smallest edit distance to `written`, the first of equals; nothing when none is near enough
/// (a third of its letters, at least two, one for short names) to be a likely slip. Names longer than 64 characters are
/// never near.
[[nodiscard]] std::optional<std::string> closest_name(std::string_view written, const std::vector<std::string>& known);

}  // namespace kw
