#pragma once
// Names that pass from a bundle's header into C source.

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace kw {

/// Letters, digits and underscores, not starting with a digit, at most 64 characters.
[[nodiscard]] inline bool is_c_identifier(std::string_view text) {
  constexpr std::size_t k_longest = 64;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.size() <= k_longest && !is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace kw
