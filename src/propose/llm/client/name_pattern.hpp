#pragma once
// Patterns of model names in price tables and model rules.

#include <string_view>

namespace kw {

/// `*` stands for any characters, also none; letters match without regard to case; everything else stands for itself.
[[nodiscard]] bool matches_name_pattern(std::string_view pattern, std::string_view name);

}  // namespace kw
